// SPDX-License-Identifier: Apache-2.0
#include "base/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/leftovers.h"

namespace ww {
namespace {

namespace fs = std::filesystem;

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  // Some file systems report a failed write only here.
  bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

auto io_failure(std::string_view action, const fs::path& path, int error) {
  return fail(DiagKind::Io, "cannot {} `{}`: {}", action, path.string(),
              std::generic_category().message(error));
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// --- what a path names ---------------------------------------------------------------------------

constexpr int kMaxLinks = 40;  // as Linux has it

// The number of an open descriptor that a path stands for: `/dev/fd/1`, or where `/dev/stdout`
// leads.
std::optional<int> descriptor_number(const fs::path& path) {
  const fs::path plain = path.lexically_normal();
  const std::string name = plain.filename().string();
  if (plain.parent_path() != "/dev/fd" && plain.parent_path() != "/proc/self/fd")
    return std::nullopt;
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size() && number >= 0;
  return is_number ? std::optional(number) : std::nullopt;
}

// Where writing to a path ends up.
struct Target {
  fs::path path;                         // no symbolic link, but to an open descriptor
  std::optional<int> descriptor = {};    // an open one instead
  std::optional<struct stat> file = {};  // what is there; none: nothing yet
  int error = 0;                         // why it cannot be told
};

Target target_of(const fs::path& given) {
  Target out{.path = given};
  std::error_code error;
  for (int links = 0; links <= kMaxLinks; ++links) {
    // An open file has a position that its name does not lead to.
    out.descriptor = descriptor_number(out.path);
    struct stat found {};
    if (::stat(out.path.c_str(), &found) == 0)
      out.file = found;
    else if (errno != ENOENT)
      out.error = errno;
    if (out.descriptor || out.error != 0 || !fs::is_symlink(out.path, error)) return out;
    out.path = out.path.parent_path() / fs::read_symlink(out.path, error);
  }
  out.error = ELOOP;
  return out;
}

bool is_regular(const Target& target) {
  return !target.descriptor && target.file && S_ISREG(target.file->st_mode);
}

// A file without any write permission is meant to stay, and root is asked as everybody else is.
bool is_read_only(const Target& target) {
  const bool nobody_writes = (target.file->st_mode & 0222U) == 0;
  return nobody_writes || (::access(target.path.c_str(), W_OK) != 0 && errno == EACCES);
}

auto read_only(const fs::path& path) {
  return fail(diag(DiagKind::Io, "cannot write `{}`: the file is read-only", path.string())
                  .with_note("`chmod u+w` makes it writable; or name another file"));
}

// What can be neither read nor written like a file; empty for all else.
std::string_view special_kind(const Target& target) {
  if (target.descriptor || !target.file) return "";
  const mode_t mode = target.file->st_mode;
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "";
}

// What can be told before writing: nothing when it looks good.
Result<void> check_target(const fs::path& path, const Target& target) {
  if (target.error != 0) return io_failure("write", path, target.error);
  if (target.descriptor) return {};
  if (target.file && S_ISDIR(target.file->st_mode)) return io_failure("write", path, EISDIR);
  if (is_regular(target) && is_read_only(target)) return read_only(path);
  if (target.file && S_ISSOCK(target.file->st_mode))
    return fail(DiagKind::Io, "cannot write `{}`: it is a socket, expected a file", path.string());
  if (!target.file && !target.path.has_filename()) return io_failure("write", path, EISDIR);
  return {};
}

// --- writing -------------------------------------------------------------------------------------

// A device or a named pipe, without waiting for long: who reads a pipe may start beside us.
int open_special(const fs::path& path) {
  constexpr int kAttempts = 100;
  constexpr auto kPause = std::chrono::milliseconds(10);
  int fd = -1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 || errno != ENXIO) break;  // ENXIO: nobody reads it
    std::this_thread::sleep_for(kPause);
  }
  if (fd >= 0) (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

Result<void> write_directly(const fs::path& path, const Target& target, std::string_view bytes) {
  Descriptor file(target.descriptor ? ::fcntl(*target.descriptor, F_DUPFD_CLOEXEC, 0)
                                    : open_special(path));
  if (!file.is_open() && errno == ENXIO && S_ISFIFO(target.file->st_mode))
    return fail(DiagKind::Io, "cannot write `{}`: it is a named pipe, and nothing reads it",
                path.string());
  if (!file.is_open() || !write_all(file.get(), bytes) || !file.close()) {
    return io_failure("write", path, errno);
  }
  return {};
}

struct NewFile {
  Descriptor descriptor;
  fs::path path;
};

// A file with an unused name beside `path`. open() rather than mkstemp(), so that the user's
// umask decides the mode as it does for every other file. Short, because `path` may have the
// longest name there is.
NewFile create_beside(const fs::path& path) {
  for (int attempt = 0;; ++attempt) {
    fs::path name = path.parent_path() / fmt::format(".ww-{}-{}.tmp", ::getpid(), attempt);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST || attempt == 100) return {Descriptor(fd), std::move(name)};
  }
}

Result<void> replace(const fs::path& path, const Target& target, std::string_view bytes) {
  std::optional<LeftoverPause> pause(std::in_place);
  NewFile file = create_beside(target.path);
  if (!file.descriptor.is_open()) return io_failure("write", path, errno);
  const Leftover leftover = Leftover::file(file.path.string());
  pause.reset();
  const int fd = file.descriptor.get();
  const bool done = (!target.file || ::fchmod(fd, target.file->st_mode & 07777U) == 0) &&
                    write_all(fd, bytes) && file.descriptor.close() &&
                    ::rename(file.path.c_str(), target.path.c_str()) == 0;
  if (done) return {};
  const int error = errno;
  ::unlink(file.path.c_str());
  return io_failure("write", path, error);
}

}  // namespace

Result<std::string> read_file(const fs::path& path, std::size_t max_bytes) {
  if (const std::string_view kind = special_kind(target_of(path)); !kind.empty())
    return fail(
        diag(DiagKind::Io, "cannot read `{}`: it is {}, expected a file", path.string(), kind)
            .with_note("`/dev/stdin` reads what is piped to this program"));
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return io_failure("read", path, errno);
  std::string text;
  for (;;) {
    // One byte more than allowed tells "exactly the limit" from "too much".
    const std::size_t room = std::min<std::size_t>(max_bytes - text.size(), 1U << 16U) + 1;
    const std::size_t used = text.size();
    text.resize(used + room);
    const ssize_t count = ::read(file.get(), text.data() + used, room);
    if (count < 0 && errno != EINTR) return io_failure("read", path, errno);
    text.resize(used + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return text;
    if (text.size() > max_bytes) {
      return fail(DiagKind::TooLarge, "`{}` holds more than {} bytes", path.string(), max_bytes);
    }
  }
}

Result<void> write_file_atomically(const fs::path& path, std::string_view bytes) {
  const Target target = target_of(path);
  WW_TRY_VOID(check_target(path, target));
  if (target.descriptor || (target.file && !is_regular(target)))
    return write_directly(path, target, bytes);
  return replace(path, target, bytes);
}

Result<void> check_writable(const fs::path& path) {
  const Target target = target_of(path);
  WW_TRY_VOID(check_target(path, target));
  if (target.descriptor) {
    const int mode = ::fcntl(*target.descriptor, F_GETFL);
    if (mode < 0 || (mode & O_ACCMODE) == O_RDONLY) return io_failure("write", path, EBADF);
  } else if (target.file && !is_regular(target)) {
    if (::access(target.path.c_str(), W_OK) != 0) return io_failure("write", path, errno);
  } else {
    const fs::path folder = target.path.parent_path();
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
      return io_failure("write", path, errno);
  }
  return {};
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  const Target first = target_of(a);
  const Target second = target_of(b);
  if (first.file.has_value() != second.file.has_value()) return false;
  if (first.file)
    return is_regular(first) && is_regular(second) && first.file->st_dev == second.file->st_dev &&
           first.file->st_ino == second.file->st_ino;
  std::error_code error;
  const auto folder = [&](const Target& target) {
    const fs::path parent = target.path.parent_path();
    return fs::weakly_canonical(parent.empty() ? "." : parent, error);
  };
  return first.path.filename() == second.path.filename() && folder(first) == folder(second);
}

}  // namespace ww
