// SPDX-License-Identifier: Apache-2.0
// The base protocol: JSON-RPC 2.0 in messages with a header, as they come from any program. All
// sizes are bounded, and nothing that arrives can end the reader except a header without a length,
// behind which the next message cannot be found.
//
//     Content-Length: 52\r\n
//     \r\n
//     {"jsonrpc":"2.0","id":1,"method":"shutdown"}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace ww::lsp {

// --- json ----------------------------------------------------------------------------------------
//
// JSON as messages carry it, and reading fields that another program was to send: what is missing
// or of another type is a Diag that names the field.

/// The value at a dotted path of keys ("textDocument.uri"); null when there is none.
const Json* find(const Json& json, std::string_view path);
/// A text or a whole number there; BadArgument otherwise.
Result<std::string> text_at(const Json& json, std::string_view path);
Result<std::int64_t> integer_at(const Json& json, std::string_view path);
/// Whether there is `true`.
bool is_true_at(const Json& json, std::string_view path);

inline constexpr std::size_t kMaxHeaderBytes = std::size_t{8} << 10U;
inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20U;

/// The error codes of JSON-RPC and of the protocol that are used here.
enum class ErrorCode : std::int32_t {
  ParseError = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  InternalError = -32603,
  ServerNotInitialized = -32002,
  RequestCancelled = -32800,
  ContentModified = -32801,
  RequestFailed = -32803,
};

/// Cuts bytes into the contents of messages, however they arrive.
class Framing {
 public:
  void feed(std::string_view bytes) { pending_ += bytes; }
  /// The contents of the next message; nothing when more bytes are needed. A message beyond
  /// kMaxMessageBytes is TooLarge and passed over. Syntax is a header that cannot be read: nothing
  /// comes after it.
  Result<std::optional<std::string>> next();

 private:
  Result<bool> read_header();

  std::string pending_;
  std::optional<std::size_t> length_;  // of the message whose header has been read
  std::size_t to_skip_ = 0;            // bytes left of a message that is too large
  bool is_broken_ = false;
};

/// Contents with their header.
std::string framed(std::string_view contents);

/// A request (with id and method), a notification (without id), or a response (without method).
struct Message {
  std::optional<Json> id = {};  // a number or a text
  std::string method = {};
  Json params = nullptr;
  [[nodiscard]] bool is_request() const { return id.has_value() && !method.empty(); }
  [[nodiscard]] bool is_response() const { return method.empty(); }
};

/// What is wrong with the contents of a message, and what to answer.
struct MessageError {
  ErrorCode code = ErrorCode::ParseError;
  std::string text;
  Json id = nullptr;  // of the message, as far as it can be read
};
Expected<Message, MessageError> parse_message(std::string_view contents);

Json response(const Json& id, Json result);
Json error_response(const Json& id, ErrorCode code, std::string_view text);
Json notification(std::string_view method, Json params);
Json request(std::string_view id, std::string_view method, Json params);

}  // namespace ww::lsp
