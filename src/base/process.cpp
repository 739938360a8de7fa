// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

extern char** environ;  // NOLINT: what POSIX calls it

namespace ww {
namespace {

namespace fs = std::filesystem;

std::string system_reason(int error) { return std::generic_category().message(error); }

std::string read_all(int fd) {
  std::string out;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return out;
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

bool is_program(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::string find_program(std::string_view name, std::string_view folders) {
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string path = fmt::format("{}/{}", folders.substr(0, end), name);
    if (end > 0 && is_program(path)) return path;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

Result<int> start_program(std::vector<std::string> words, const Streams& streams,
                          const std::string& folder) {
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
  pid_t child = 0;
  const int error = ::posix_spawn(&child, argv.front(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return child;
  return fail(DiagKind::Io, "cannot run `{}`: {}", words.front(), system_reason(error));
}

Result<Finished> run_program(std::vector<std::string> words, const std::string& folder) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(DiagKind::Io, "cannot make a pipe: {}", system_reason(errno));
  const auto child = start_program(std::move(words), {.out = ends[1], .err = ends[1]}, folder);
  ::close(ends[1]);
  Finished out;
  if (child) out.output = read_all(ends[0]);
  ::close(ends[0]);
  if (!child) return fail(child.error());
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
  }
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  out.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return out;
}

Result<ScratchFolder> ScratchFolder::make() {
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "warpwright-XXXXXX").string();
  if (error || ::mkdtemp(path.data()) == nullptr)
    return fail(DiagKind::Io, "cannot make a temporary folder `{}`: {}", path,
                error ? error.message() : system_reason(errno));
  return ScratchFolder(std::move(path));
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::string ScratchFolder::file(std::string_view name) const {
  return fmt::format("{}/{}", path_, name);
}

}  // namespace ww
