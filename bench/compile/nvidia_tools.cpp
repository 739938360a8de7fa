// SPDX-License-Identifier: Apache-2.0
#include "nvidia_tools.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file_io.h"

namespace ww::bench {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<fs::path> folders() {
  std::vector<fs::path> out;
  const std::string path = environment("PATH");
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  out.emplace_back("/usr/local/cuda/bin");
  if (const std::string home = environment("CUDA_HOME"); !home.empty())
    out.push_back(fs::path(home) / "bin");
  return out;
}

// Starts the program with everything that it writes going to a file. The status as waitpid gives
// it, or none when it did not start.
std::optional<int> status_of(std::vector<std::string>& words, const std::string& output) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, argv.front(), &actions, nullptr, argv.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return std::nullopt;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

Result<std::string> find_tool(const std::string& name) {
  for (const fs::path& folder : folders()) {
    const fs::path file = folder / name;
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0)
      return file.string();
  }
  return fail(DiagKind::Io, "`{}` is not on this machine", name);
}

Result<void> run_tool(std::vector<std::string> words) {
  constexpr std::size_t kMostOutput = 1U << 20U;
  const ScratchFolder scratch = WW_TRY(ScratchFolder::make());
  const std::string output = scratch.file("output");
  const auto status = status_of(words, output);
  if (!status) return fail(DiagKind::Io, "`{}` cannot be started", words[0]);
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return {};
  const auto said = read_file(output, kMostOutput);
  return fail(DiagKind::DeviceError, "`{}` failed: {}", words[0], said ? last_line(*said) : "");
}

ScratchFolder::ScratchFolder(std::string path) : path_(std::move(path)) {}
ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

Result<ScratchFolder> ScratchFolder::make() {
  std::string path = (fs::temp_directory_path() / "warpwright-bench-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr)
    return fail(DiagKind::Io, "cannot make a folder `{}`", path);
  return ScratchFolder(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace ww::bench
