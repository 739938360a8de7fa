// SPDX-License-Identifier: Apache-2.0
#include "runtime/assembler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/file_io.h"

extern char** environ;  // NOLINT: what POSIX calls it

namespace ww::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUsualPlace = "/usr/local/cuda/bin";
constexpr std::size_t kMostCubinBytes = std::size_t{1} << 30U;
constexpr std::size_t kMostNotes = 12;

std::string system_reason(int error) { return std::generic_category().message(error); }

// A folder of our own, gone at the end with all that is in it.
class Folder {
 public:
  static Result<Folder> make() {
    std::error_code error;
    std::string path = (fs::temp_directory_path(error) / "warpwright-XXXXXX").string();
    if (error || ::mkdtemp(path.data()) == nullptr)
      return fail(DiagKind::Io, "cannot make a temporary folder `{}`: {}", path,
                  error ? error.message() : system_reason(errno));
    return Folder(std::move(path));
  }
  Folder(Folder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(std::string_view name) const {
    return fmt::format("{}/{}", path_, name);
  }

 private:
  explicit Folder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

struct Finished {
  int status = 0;  // as of wait
  std::string output;
};

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

int spawn(std::vector<std::string> command, int write_end, pid_t& child) {
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, write_end, STDERR_FILENO);
  const int error = ::posix_spawn(&child, argv.front(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// No shell takes part. What the program says on stdout and stderr comes back.
Result<Finished> run(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(DiagKind::Io, "cannot make a pipe: {}", system_reason(errno));
  pid_t child = 0;
  const int error = spawn(command, ends[1], child);
  ::close(ends[1]);
  Finished out;
  if (error == 0) out.output = read_all(ends[0]);
  ::close(ends[0]);
  if (error != 0)
    return fail(DiagKind::Io, "cannot run `{}`: {}", command.front(), system_reason(error));
  while (::waitpid(child, &out.status, 0) < 0 && errno == EINTR) {
  }
  return out;
}

Diag refused(const std::string& ptxas, target::Arch arch, const Finished& finished) {
  const bool has_exited = WIFEXITED(finished.status);
  Diag out = diag(DiagKind::DeviceError, "`{}` refused the PTX for `{}`: {} {}", ptxas,
                  target::info(arch).name, has_exited ? "exit status" : "signal",
                  has_exited ? WEXITSTATUS(finished.status) : WTERMSIG(finished.status));
  std::string_view rest = finished.output;
  while (!rest.empty() && out.notes.size() < kMostNotes) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) out.notes.push_back({std::string(rest.substr(0, end)), {}});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

bool is_program(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<std::string> find_ptxas(const ToolSearch& search) {
  if (!search.given.empty()) {
    if (is_program(search.given)) return search.given;
    return fail(DiagKind::Io, "`{}`, given as `ptxas`, is no program", search.given);
  }
  const std::string folders = fmt::format("{}:{}", search.path, kUsualPlace);
  std::string_view rest = folders;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string path = fmt::format("{}/ptxas", rest.substr(0, end));
    if (end > 0 && is_program(path)) return path;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fail(
      diag(DiagKind::Io, "`ptxas` is not here: it is in no folder of PATH and not in `{}`",
           kUsualPlace)
          .with_note("it comes with NVIDIA's CUDA toolkit; PTXAS=/path/to/ptxas names one"));
}

Result<std::string> assemble(const std::string& ptxas, std::string_view ptx, target::Arch arch) {
  const Folder folder = WW_TRY(Folder::make());
  const std::string source = folder.file("kernel.ptx");
  const std::string cubin = folder.file("kernel.cubin");
  WW_TRY_VOID(write_file_atomically(source, ptx));
  const Finished finished =
      WW_TRY(run({ptxas, fmt::format("-arch={}", target::info(arch).name), source, "-o", cubin}));
  if (!WIFEXITED(finished.status) || WEXITSTATUS(finished.status) != 0)
    return fail(refused(ptxas, arch, finished));
  return read_file(cubin, kMostCubinBytes);
}

}  // namespace ww::runtime
