// SPDX-License-Identifier: Apache-2.0
#include "lsp/server.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/printable.h"
#include "lsp/features.h"

namespace ww::lsp {
namespace {

Json capabilities_json(Encoding encoding) {
  return {
      {"positionEncoding", name_of(encoding)},
      {"textDocumentSync", {{"openClose", true}, {"change", 2}}},
      {"hoverProvider", true},
      {"inlayHintProvider", true},
      {"codeLensProvider", Json::object()},
      {"documentSymbolProvider", true},
      {"definitionProvider", true},
      {"codeActionProvider", {{"codeActionKinds", Json::array({"quickfix", "refactor.rewrite"})}}},
      {"completionProvider", {{"triggerCharacters", Json::array({".", "\"", "'", "("})}}},
      {"signatureHelpProvider", {{"triggerCharacters", Json::array({"(", ","})}}},
      {"executeCommandProvider", {{"commands", Json::array({kRunCommand, kExploreCommand})}}}};
}

}  // namespace

Server::Server(ServerOptions options, Connection::Send send)
    : version_(std::move(options.version)),
      connection_(version_, std::move(send)),
      analyst_(connection_),
      commands_(connection_, analyst_, std::move(options.explore)) {}

void Server::wait_until_idle() {
  analyst_.wait_until_idle();
  commands_.wait_until_idle();
}

void Server::receive(std::string_view contents) {
  const auto message = parse_message(contents);
  const auto lock = connection_.lock();
  if (!message)
    return connection_.refuse(message.error().id, message.error().code, message.error().text);
  if (message->is_response()) return;  // to window/showDocument, which needs no more
  message->is_request() ? handle_request(*message) : handle_notification(*message);
}

void Server::refuse(ErrorCode code, std::string_view text) {
  const auto lock = connection_.lock();
  connection_.refuse(nullptr, code, text);
}

void Server::handle_request(const Message& message) {
  const auto refuse = [&](ErrorCode code, std::string_view text) {
    connection_.refuse(*message.id, code, text);
  };
  if (message.method == "initialize") return initialize(message);
  if (!is_initialized_)
    return refuse(ErrorCode::ServerNotInitialized,
                  fmt::format("`{}` before `initialize`", message.method));
  if (is_shut_down_)
    return refuse(ErrorCode::InvalidRequest, fmt::format("`{}` after `shutdown`", message.method));
  if (message.method == "shutdown") {
    is_shut_down_ = true;
    return connection_.respond(*message.id, nullptr);
  }
  if (message.method == "workspace/executeCommand") return commands_.execute(message);
  const RequestMethod* const method = find_request_method(message.method);
  if (method == nullptr)
    return refuse(ErrorCode::MethodNotFound,
                  fmt::format("no method `{}`", printable_name(message.method)));
  analyst_.answer(*method, message);
}

void Server::initialize(const Message& message) {
  const Json& id = *message.id;
  if (is_initialized_)
    return connection_.refuse(id, ErrorCode::InvalidRequest, "`initialize` for the second time");
  if (message.params.type() != JsonType::Object)
    return connection_.refuse(id, ErrorCode::InvalidParams, "`params` is no object");
  connection_.set_client(ClientFeatures::of(message.params));
  is_initialized_ = true;
  connection_.respond(id, {{"capabilities", capabilities_json(connection_.client().encoding)},
                           {"serverInfo", {{"name", "warpwright"}, {"version", version_}}}});
}

void Server::handle_notification(const Message& message) {
  if (message.method == "exit") {
    is_done_ = true;
  } else if (!is_initialized_ || is_shut_down_) {
    return;  // the protocol drops them
  } else if (message.method == "textDocument/didOpen") {
    analyst_.open(message.params);
  } else if (message.method == "textDocument/didChange") {
    analyst_.change(message.params);
  } else if (message.method == "textDocument/didClose") {
    analyst_.close(message.params);
  } else if (message.method == "$/cancelRequest") {
    const Json* const id = find(message.params, "id");
    if (id != nullptr && !analyst_.cancel(*id)) commands_.cancel(*id);
  }
}

// --- messages from a file descriptor -------------------------------------------------------------

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
