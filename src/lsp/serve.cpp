// SPDX-License-Identifier: Apache-2.0
#include "lsp/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <system_error>

#include "base/printable.h"
#include "lsp/server.h"

namespace ww::lsp {
namespace {

constexpr std::size_t kMaxLogged = 2000;  // bytes of a message

// False when the other side has gone away.
bool write_bytes(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Lines `milliseconds since the start, direction, message`.
class MessageLog {
 public:
  static Result<MessageLog> open(const std::string& path) {
    if (path.empty()) return MessageLog(-1);
    // O_NONBLOCK: neither opening nor writing waits for who reads a pipe.
    const int descriptor = ::open(path.c_str(),  // NOLINT
                                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (descriptor >= 0) return MessageLog(descriptor);
    return fail(DiagKind::Io, "cannot write the log to `{}`: {}", printable_name(path),
                std::generic_category().message(errno));
  }
  explicit MessageLog(int descriptor) : descriptor_(descriptor) {}
  MessageLog(MessageLog&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), start_(other.start_) {}
  MessageLog(const MessageLog&) = delete;
  MessageLog& operator=(const MessageLog&) = delete;
  MessageLog& operator=(MessageLog&&) = delete;
  ~MessageLog() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  // One call of write, so that lines of two threads stay whole.
  void line(std::string_view direction, std::string_view contents) const {
    if (descriptor_ < 0) return;
    using Milliseconds = std::chrono::duration<double, std::milli>;
    const Milliseconds since = std::chrono::steady_clock::now() - start_;
    (void)write_bytes(descriptor_,
                      fmt::format("{:.1f} {} {}{}\n", since.count(), direction,
                                  printable(contents.substr(0, kMaxLogged), Breaks::Spell),
                                  contents.size() > kMaxLogged ? " …" : ""));
  }

 private:
  int descriptor_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// All whole messages that have come. False: nothing can follow.
bool receive_all(Framing& framing, Server& server, const MessageLog& log) {
  while (!server.is_done()) {
    const auto contents = framing.next();
    if (!contents) {
      log.line("!!", contents.error().text);
      const bool is_passed_over = contents.error().kind == DiagKind::TooLarge;
      server.refuse(is_passed_over ? ErrorCode::InvalidRequest : ErrorCode::ParseError,
                    contents.error().text);
      if (!is_passed_over) return false;
      continue;
    }
    if (!*contents) return true;
    log.line("->", **contents);
    server.receive(**contents);
  }
  return false;
}

}  // namespace

Result<int> serve(const ServeRequest& request) {
  const MessageLog log = WW_TRY(MessageLog::open(request.log));
  std::atomic<bool> is_gone = false;
  Server server({request.version, request.explore}, [&](const Json& message) {
    const std::string contents = message.dump();
    log.line("<-", contents);
    if (!write_bytes(request.out, framed(contents))) is_gone = true;
  });
  Framing framing;
  std::array<char, 1U << 16U> buffer{};
  while (!is_gone) {
    const ssize_t count = ::read(request.in, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    framing.feed({buffer.data(), static_cast<std::size_t>(count)});
    if (!receive_all(framing, server, log)) break;
  }
  return server.status();
}

}  // namespace ww::lsp
