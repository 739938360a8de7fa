// SPDX-License-Identifier: Apache-2.0
#include "base/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

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

// Replaces a link by what it names, there or not, as the system would on opening it. A chain that
// does not end is left for the system to refuse.
void follow_links(fs::path& path) {
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links) {
    path = path.parent_path() / fs::read_symlink(path, error);
  }
}

Result<void> write_directly(const fs::path& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open() || !write_all(file.get(), bytes) || !file.close()) {
    return io_failure("write", path, errno);
  }
  return {};
}

struct NewFile {
  Descriptor descriptor;
  fs::path path;
};

// A file of a name nobody has yet, beside `path`. open() rather than mkstemp(), so that the user's
// umask decides the mode as it does for every other file.
NewFile create_beside(const fs::path& path) {
  for (int attempt = 0;; ++attempt) {
    fs::path name = path.parent_path() /
                    fmt::format(".{}.{}-{}.tmp", path.filename().string(), ::getpid(), attempt);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST || attempt == 100) return {Descriptor(fd), std::move(name)};
  }
}

Result<void> replace(const fs::path& path, std::string_view bytes, const struct stat* old) {
  NewFile file = create_beside(path);
  if (!file.descriptor.is_open()) return io_failure("write", path, errno);
  const int fd = file.descriptor.get();
  const bool done = (old == nullptr || ::fchmod(fd, old->st_mode & 07777U) == 0) &&
                    write_all(fd, bytes) && file.descriptor.close() &&
                    ::rename(file.path.c_str(), path.c_str()) == 0;
  if (done) return {};
  const int error = errno;
  ::unlink(file.path.c_str());
  return io_failure("write", path, error);
}

}  // namespace

Result<std::string> read_file(const fs::path& path, std::size_t max_bytes) {
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
  fs::path target = path;
  follow_links(target);
  struct stat old {};
  // What stat cannot tell, the attempt itself reports.
  if (::stat(target.c_str(), &old) != 0) return replace(target, bytes, nullptr);
  if (S_ISDIR(old.st_mode)) return io_failure("write", path, EISDIR);
  if (!S_ISREG(old.st_mode)) return write_directly(path, bytes);
  return replace(target, bytes, &old);
}

Result<void> check_writable(const fs::path& path) {
  fs::path target = path;
  follow_links(target);
  struct stat old {};
  const bool is_there = ::stat(target.c_str(), &old) == 0;
  if (is_there && S_ISDIR(old.st_mode)) return io_failure("write", path, EISDIR);
  if (is_there && !S_ISREG(old.st_mode)) {
    if (::access(path.c_str(), W_OK) != 0) return io_failure("write", path, errno);
    return {};
  }
  const NewFile file = create_beside(target);
  if (!file.descriptor.is_open()) return io_failure("write", target, errno);
  ::unlink(file.path.c_str());
  return {};
}

}  // namespace ww
