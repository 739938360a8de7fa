// SPDX-License-Identifier: Apache-2.0
// A handler may call next to nothing, and removing a folder takes a lot. So the handler only writes
// the signal's number into a pipe, and a thread of its own does the work. The thread starts with
// the first registration, or the pause before it: until then there is nothing to do, and a program
// with one thread is a bit faster.
#include "base/leftovers.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace ww {
namespace {

constexpr std::array kSignals = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
// How long programs may take to end by themselves, and then to be gone.
constexpr std::chrono::milliseconds kGrace{300};
constexpr std::chrono::milliseconds kPoll{2};

std::atomic<bool> cleans_up{false};
std::atomic<int> pipe_end{-1};  // that the handler writes to; -1: no thread listens
std::atomic<int> listener{0};   // the process that the thread is in
static_assert(std::atomic<int>::is_always_lock_free);

// Ends the process as the signal does where nothing handles it.
void die_of(int signal) {
  (void)std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  (void)std::raise(signal);
}

void on_signal(int signal) {
  const int kept = errno;
  const int to = pipe_end.load();
  const auto number = static_cast<unsigned char>(signal);
  const bool is_heard = to >= 0 && listener == ::getpid();
  if (!is_heard || ::write(to, &number, 1) != 1) die_of(signal);
  errno = kept;
}

bool has_ended(int process) {
  siginfo_t info{};
  const int result =
      ::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT);
  return result != 0 || info.si_pid == process;
}

void wait_for(int process) {
  const auto end = std::chrono::steady_clock::now() + kGrace;
  while (!has_ended(process) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kPoll);
}

}  // namespace

/// All of them. Never destroyed: the thread may still look at it when the process ends.
class Leftovers {
 public:
  static Leftovers& all() {
    static auto* const kAll = new Leftovers;
    return *kAll;
  }

  void pause() {
    mutex_.lock();
    if (cleans_up && pipe_end < 0) listen();  // else a signal now would end the process at once
  }
  void go_on() { mutex_.unlock(); }

  Leftover::Place add(Leftover::Entry entry) {
    const std::scoped_lock lock(mutex_);
    entry.owner = ::getpid();
    entries_.push_back(std::move(entry));
    if (cleans_up && pipe_end < 0) listen();
    return std::prev(entries_.end());
  }

  void forget(Leftover::Place place) {
    const std::scoped_lock lock(mutex_);
    entries_.erase(place);
  }

 private:
  // Without a pipe or a thread a signal ends the process at once.
  void listen() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    try {
      std::thread([this, from = ends[0]] { wait_for_signal(from); }).detach();
      listener = ::getpid();
      pipe_end = ends[1];
    } catch (const std::system_error&) {
      ::close(ends[0]);
      ::close(ends[1]);
    }
  }

  // The lock is never given back: what other threads do after this would be lost anyway, and they
  // must not leave anything new.
  void wait_for_signal(int from) {
    unsigned char signal = 0;
    while (::read(from, &signal, 1) != 1) {
    }
    mutex_.lock();
    remove_all();
    die_of(signal);
  }

  // Programs first, because they write into the folders.
  void remove_all() {
    using Kind = Leftover::Entry::Kind;
    entries_.remove_if([](const auto& entry) { return entry.owner != ::getpid(); });
    for (const Leftover::Entry& entry : entries_)
      if (entry.kind == Kind::ProcessGroup) ::kill(-entry.process, SIGTERM);
    for (const Leftover::Entry& entry : entries_) {
      if (entry.kind != Kind::ProcessGroup) continue;
      wait_for(entry.process);
      ::kill(-entry.process, SIGKILL);
      wait_for(entry.process);
    }
    std::error_code ignored;
    for (const Leftover::Entry& entry : entries_) {
      if (entry.kind == Kind::File) ::unlink(entry.path.c_str());
      if (entry.kind == Kind::Folder) std::filesystem::remove_all(entry.path, ignored);
    }
  }

  std::recursive_mutex mutex_;
  std::list<Leftover::Entry> entries_;
};

Leftover::Leftover(Entry entry) : place_(Leftovers::all().add(std::move(entry))) {}
Leftover::Leftover(Leftover&& other) noexcept
    : place_(other.place_), is_mine_(std::exchange(other.is_mine_, false)) {}
Leftover::~Leftover() {
  if (is_mine_) Leftovers::all().forget(place_);
}

Leftover Leftover::file(std::string path) {
  return Leftover({.kind = Entry::Kind::File, .path = std::move(path)});
}
Leftover Leftover::folder(std::string path) {
  return Leftover({.kind = Entry::Kind::Folder, .path = std::move(path)});
}
Leftover Leftover::process_group(int id) {
  return Leftover({.kind = Entry::Kind::ProcessGroup, .path = {}, .process = id});
}

LeftoverPause::LeftoverPause() { Leftovers::all().pause(); }
LeftoverPause::~LeftoverPause() { Leftovers::all().go_on(); }

void clean_up_on_signals() {
  cleans_up = true;
  for (const int signal : kSignals) {
    struct sigaction old {};
    if (::sigaction(signal, nullptr, &old) != 0 || old.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = on_signal;
    // The second signal of a kind ends the process at once.
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

bool cleans_up_on_signals() { return cleans_up; }

}  // namespace ww
