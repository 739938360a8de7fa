// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/cancel.h"
#include "base/split.h"

extern char** environ;  // NOLINT: what POSIX calls it

namespace ww {
namespace {

namespace fs = std::filesystem;

std::string system_reason(int error) { return std::generic_category().message(error); }

constexpr int kLookEvery = 20;  // milliseconds between looks at whether the work is cancelled

bool is_cancellable() { return detail::cancel_flag != nullptr; }
bool is_cancelled() { return is_cancellable() && *detail::cancel_flag; }

// Waits until there is something to read, or the other end is closed. False: the work is cancelled.
bool wait_for_output(int fd) {
  if (!is_cancellable()) return true;  // the read itself waits
  pollfd wanted{.fd = fd, .events = POLLIN, .revents = 0};
  for (;;) {
    if (is_cancelled()) return false;
    const int ready = ::poll(&wanted, 1, kLookEvery);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
  }
}

// All that comes, up to the end or until the work is cancelled.
std::string read_all(int fd) {
  std::string out;
  std::array<char, 4096> buffer{};
  for (;;) {
    if (!wait_for_output(fd)) return out;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return out;
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

// Settings of posix_spawn.
class Attributes {
 public:
  explicit Attributes(Group group) {
    posix_spawnattr_init(&value_);
    sigset_t ignored;
    sigemptyset(&ignored);
    for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&ignored, signal);
    posix_spawnattr_setsigdefault(&value_, &ignored);
    int flags = POSIX_SPAWN_SETSIGDEF;
    if (group == Group::Own) flags |= POSIX_SPAWN_SETPGROUP;  // 0, the default: its own
    posix_spawnattr_setflags(&value_, static_cast<short>(flags));
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { posix_spawnattr_destroy(&value_); }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &value_; }

 private:
  posix_spawnattr_t value_{};
};

// Waits until the program has ended, without reaping it: its id stays its own so long.
void wait_for_end(int child) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
}

// The same, but a program whose work is cancelled is killed, with its group if it has its own.
void wait_or_kill(int child, Group group) {
  siginfo_t info{};
  int pause = 1;  // it closes its output when it ends, as a rule
  while (is_cancellable() && !is_cancelled()) {
    const int got = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT | WNOHANG);
    if (got == 0 && info.si_pid != 0) return;
    ::poll(nullptr, 0, pause);
    pause = std::min(2 * pause, kLookEvery);
  }
  if (is_cancelled()) ::kill(group == Group::Own ? -child : child, SIGKILL);
  wait_for_end(child);
}

}  // namespace

bool is_program(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::string find_program(std::string_view name, std::string_view folders) {
  for (const std::string_view folder : split_words(folders, ':'))
    if (std::string path = fmt::format("{}/{}", folder, name); is_program(path)) return path;
  return {};
}

Result<std::string> find_part(const ProgramPart& part) {
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const fs::path places[] = {here / part.file,
                             here.parent_path() / "libexec" / "warpwright" / part.file};
  for (const fs::path& place : places)
    if (fs::is_regular_file(place, ignored)) return place.string();
  return fail(diag(DiagKind::Io, "{} `{}` is not here", part.what, part.file)
                  .with_note(fmt::format("looked for `{}`", places[0].string()))
                  .with_note(fmt::format("looked for `{}`", places[1].string()))
                  .with_note(fmt::format(
                      "build the target `{}`, or install the whole of Warpwright", part.target)));
}

Result<int> start_program(std::vector<std::string> words, const Streams& streams,
                          const std::string& folder, Group group) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const auto connect = [&](int from, int to) {
    if (from >= 0)
      posix_spawn_file_actions_adddup2(&actions, from, to);
    else
      posix_spawn_file_actions_addopen(&actions, to, "/dev/null",
                                       to == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
  };
  connect(streams.in, STDIN_FILENO);
  connect(streams.out, STDOUT_FILENO);
  connect(streams.err, STDERR_FILENO);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  const Attributes attributes(group);
  pid_t child = 0;
  const int error =
      ::posix_spawn(&child, argv.front(), &actions, attributes.get(), argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return child;
  return fail(DiagKind::Io, "cannot run `{}`: {}", words.front(), system_reason(error));
}

Result<Finished> run_program(std::vector<std::string> words, const std::string& folder) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(DiagKind::Io, "cannot make a pipe: {}", system_reason(errno));
  // Where nothing would end it, it stays with us.
  const Group group = cleans_up_on_signals() ? Group::Own : Group::Ours;
  std::optional<LeftoverPause> pause(std::in_place);
  const auto child =
      start_program(std::move(words), {.out = ends[1], .err = ends[1]}, folder, group);
  std::optional<Leftover> leftover;
  if (child && group == Group::Own) leftover.emplace(Leftover::process_group(*child));
  pause.reset();
  ::close(ends[1]);
  Finished out;
  if (child) out.output = read_all(ends[0]);
  ::close(ends[0]);
  if (!child) return fail(child.error());
  wait_or_kill(*child, group);
  leftover.reset();
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
  }
  stop_if_cancelled();
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  out.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return out;
}

Result<ScratchFolder> ScratchFolder::make() {
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "warpwright-XXXXXX").string();
  const LeftoverPause pause;
  if (error || ::mkdtemp(path.data()) == nullptr)
    return fail(DiagKind::Io, "cannot make a temporary folder `{}`: {}", path,
                error ? error.message() : system_reason(errno));
  return ScratchFolder(path);
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), leftover_(std::move(other.leftover_)) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::string ScratchFolder::file(std::string_view name) const {
  return fmt::format("{}/{}", path_, name);
}

}  // namespace ww
