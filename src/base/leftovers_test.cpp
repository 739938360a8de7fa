// SPDX-License-Identifier: Apache-2.0
#include "base/leftovers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "base/file_io.h"
#include "base/process.h"

namespace ww::leftovers_test {
namespace {

namespace fs = std::filesystem;

// A process of its own, which calls `work` with a descriptor to say on that it is ready, and then
// waits for its end.
class Victim {
 public:
  explicit Victim(const std::function<void(int ready)>& work) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return;
    child_ = ::fork();
    if (child_ == 0) {
      ::close(ends[0]);
      ::alarm(60);  // whatever happens
      work(ends[1]);
      ::_exit(0);
    }
    ::close(ends[1]);
    from_ = ends[0];
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;
  ~Victim() { ::close(from_); }

  // What it said up to a line break.
  std::string line() const {
    std::string out;
    for (char c = 0; ::read(from_, &c, 1) == 1 && c != '\n';) out += c;
    return out;
  }
  void send(int signal) const { ::kill(child_, signal); }
  // The signal that ended it; 0 for an exit.
  int end() const {
    int status = 0;
    ::waitpid(child_, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  // True once everyone who could say something has gone.
  bool is_silent() const {
    char c = 0;
    return ::read(from_, &c, 1) == 0;
  }

 private:
  pid_t child_ = -1;
  int from_ = -1;
};

void say(int to, const std::string& text) {
  [[maybe_unused]] const auto count = ::write(to, text.data(), text.size());
}

[[noreturn]] void wait_forever() {
  for (;;) ::pause();
}

class Leftovers : public testing::TestWithParam<int> {};

TEST_P(Leftovers, GoBeforeTheProcess) {
  const ScratchFolder here = ScratchFolder::make().value();
  const Victim victim([&](int ready) {
    clean_up_on_signals();
    ASSERT_TRUE(write_file_atomically(here.file("kept"), "text"));
    ASSERT_TRUE(write_file_atomically(here.file("file"), "text"));
    fs::create_directories(here.file("folder/sub"));
    ASSERT_TRUE(write_file_atomically(here.file("folder/sub/x"), "text"));
    const Leftover file = Leftover::file(here.file("file"));
    const Leftover folder = Leftover::folder(here.file("folder"));
    { const Leftover gone = Leftover::file(here.file("kept")); }
    say(ready, "ready\n");
    wait_forever();
  });
  ASSERT_EQ(victim.line(), "ready");
  victim.send(GetParam());
  EXPECT_EQ(victim.end(), GetParam());
  EXPECT_TRUE(fs::exists(here.file("kept")));
  EXPECT_FALSE(fs::exists(here.file("file")));
  EXPECT_FALSE(fs::exists(here.file("folder")));
}

INSTANTIATE_TEST_SUITE_P(Signals, Leftovers,
                         testing::Values(SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU));

// One program, and one that it started itself: both keep the descriptor open until they end.
TEST(LeftoverPrograms, EndWithTheProcess) {
  const Victim victim([](int ready) {
    clean_up_on_signals();
    const std::string script = "trap '' TERM; sleep 50 & echo $$ >&3; wait";
    const std::string words = "exec 3>&" + std::to_string(ready) + "; " + script;
    (void)run_program({"/bin/sh", "-c", words});
    say(ready, "went on\n");
  });
  EXPECT_NE(victim.line(), "");
  victim.send(SIGTERM);
  EXPECT_EQ(victim.end(), SIGTERM);
  EXPECT_TRUE(victim.is_silent());
}

// A signal between the start of the first program and its registration waits for the registration.
TEST(LeftoverPrograms, EndEvenIfTheSignalIsEarly) {
  const ScratchFolder here = ScratchFolder::make().value();
  const Victim victim([&](int) {
    clean_up_on_signals();
    std::optional<LeftoverPause> pause(std::in_place);
    std::ofstream(here.file("file")) << "text";  // registers nothing
    (void)std::raise(SIGTERM);
    const Leftover file = Leftover::file(here.file("file"));
    pause.reset();
    wait_forever();
  });
  EXPECT_EQ(victim.end(), SIGTERM);
  EXPECT_FALSE(fs::exists(here.file("file")));
}

TEST(LeftoverPrograms, NothingToCleanUpIsNoReasonToLive) {
  const Victim victim([](int ready) {
    clean_up_on_signals();
    say(ready, "ready\n");
    wait_forever();
  });
  EXPECT_EQ(victim.line(), "ready");
  victim.send(SIGTERM);
  EXPECT_EQ(victim.end(), SIGTERM);
}

// `nohup` says that SIGHUP is to be ignored.
TEST(LeftoverPrograms, IgnoredSignalsStayIgnored) {
  const Victim victim([](int ready) {
    (void)std::signal(SIGHUP, SIG_IGN);
    clean_up_on_signals();
    const Leftover leftover = Leftover::file("/nowhere/file");
    (void)std::raise(SIGHUP);
    say(ready, "still here\n");
  });
  EXPECT_EQ(victim.line(), "still here");
  EXPECT_EQ(victim.end(), 0);
}

// A program that we start must not ignore what we ignore.
TEST(LeftoverPrograms, HaveTheUsualSignals) {
  (void)std::signal(SIGPIPE, SIG_IGN);
  const Finished finished = run_program({"/bin/sh", "-c", "kill -PIPE $$"}).value();
  (void)std::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(finished.signal, SIGPIPE);
}

}  // namespace
}  // namespace ww::leftovers_test
