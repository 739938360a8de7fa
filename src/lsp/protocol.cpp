// SPDX-License-Identifier: Apache-2.0
#include "lsp/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "base/printable.h"
#include "json/json.h"

namespace ww::lsp {

// --- json ----------------------------------------------------------------------------------------

const Json* find(const Json& json, std::string_view path) {
  const Json* at = &json;
  while (!path.empty()) {
    const std::string_view key = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), key.size() + 1));
    at = at->find(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

Result<std::string> text_at(const Json& json, std::string_view path) {
  const Json* const found = find(json, path);
  if (found == nullptr)
    return fail(DiagKind::BadArgument, "`{}` is missing, expected a text", path);
  return text_in(*found, path);
}

Result<std::int64_t> integer_at(const Json& json, std::string_view path) {
  const Json* const found = find(json, path);
  if (found == nullptr)
    return fail(DiagKind::BadArgument, "`{}` is missing, expected a whole number", path);
  return integer_in(*found, path);
}

bool is_true_at(const Json& json, std::string_view path) {
  const Json* const found = find(json, path);
  return found != nullptr && found->type() == JsonType::Boolean && found->get<bool>();
}

namespace {

constexpr std::string_view kEndOfLine = "\r\n";

bool is_same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return to_lower(x) == to_lower(y); });
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// The number behind `Content-Length:`; other lines say nothing that is needed.
Result<std::optional<std::size_t>> length_in(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos)
    return fail(DiagKind::Syntax, "header line `{}` has no `:`", printable(line, Breaks::Spell));
  if (!is_same_word(without_blanks(line.substr(0, colon)), "Content-Length")) return std::nullopt;
  const std::string_view digits = without_blanks(line.substr(colon + 1));
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc() || end != digits.data() + digits.size())
    return fail(DiagKind::Syntax, "`Content-Length` is `{}`, expected a number of bytes",
                printable(digits, Breaks::Spell));
  return length;
}

bool is_id(const Json& json) { return json.is_integer() || json.type() == JsonType::String; }

}  // namespace

Result<bool> Framing::read_header() {
  const std::size_t end = pending_.find("\r\n\r\n");
  const std::size_t size = end == std::string::npos ? pending_.size() : end;
  if (size > kMaxHeaderBytes)
    return fail(DiagKind::TooLarge, "a header of more than {} bytes", kMaxHeaderBytes);
  if (end == std::string::npos) return false;
  std::string_view header = std::string_view(pending_).substr(0, end);
  while (!header.empty()) {
    const std::string_view line = header.substr(0, header.find(kEndOfLine));
    header.remove_prefix(std::min(header.size(), line.size() + kEndOfLine.size()));
    if (const auto length = WW_TRY(length_in(line))) length_ = length;
  }
  if (!length_) return fail(DiagKind::Syntax, "a header without `Content-Length`");
  pending_.erase(0, end + 2 * kEndOfLine.size());
  return true;
}

Result<std::optional<std::string>> Framing::next() {
  if (is_broken_) return std::nullopt;
  const std::size_t skipped = std::min(to_skip_, pending_.size());
  pending_.erase(0, skipped);
  to_skip_ -= skipped;
  if (to_skip_ > 0) return std::nullopt;
  if (!length_) {
    Result<bool> read = read_header();
    if (!read) {
      is_broken_ = true;
      return fail(DiagKind::Syntax, "{}", read.error().text);
    }
    if (!*read) return std::nullopt;
  }
  if (*length_ > kMaxMessageBytes) {
    to_skip_ = *std::exchange(length_, std::nullopt);
    return fail(DiagKind::TooLarge, "a message of {} bytes, expected at most {}", to_skip_,
                kMaxMessageBytes);
  }
  if (pending_.size() < *length_) return std::nullopt;
  std::string contents = pending_.substr(0, *length_);
  pending_.erase(0, *length_);
  length_.reset();
  return contents;
}

std::string framed(std::string_view contents) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", contents.size(), contents);
}

Expected<Message, MessageError> parse_message(std::string_view contents) {
  const auto refuse = [](ErrorCode code, std::string text, Json id = nullptr) {
    return Unexpected(MessageError{code, std::move(text), std::move(id)});
  };
  Result<Json> parsed = Json::parse(contents);
  if (!parsed) return refuse(ErrorCode::ParseError, "the message is " + parsed.error().text);
  Json& json = *parsed;
  if (json.type() != JsonType::Object)
    return refuse(
        ErrorCode::InvalidRequest,
        fmt::format("the message is a JSON {}, expected an object", name_of(json.type())));
  Message out;
  if (const Json* const id = find(json, "id"); id != nullptr && !id->is_null()) {
    if (!is_id(*id))
      return refuse(ErrorCode::InvalidRequest, "`id` is neither a number nor a text");
    out.id = *id;
  }
  const Json id = out.id.value_or(nullptr);
  if (const Json* const version = find(json, "jsonrpc"); version == nullptr || *version != "2.0")
    return refuse(ErrorCode::InvalidRequest, "`jsonrpc` is not \"2.0\"", id);
  if (const Json* const method = find(json, "method")) {
    if (method->type() != JsonType::String || method->get<std::string>().empty())
      return refuse(ErrorCode::InvalidRequest, "`method` is not the name of a method", id);
    out.method = method->get<std::string>();
  } else if (!json.contains("result") && !json.contains("error")) {
    return refuse(ErrorCode::InvalidRequest, "neither `method` nor `result` nor `error`", id);
  }
  if (json.contains("params")) out.params = std::move(json["params"]);
  return out;
}

Json response(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json error_response(const Json& id, ErrorCode code, std::string_view text) {
  return {{"jsonrpc", "2.0"},
          {"id", id},
          {"error", {{"code", std::to_underlying(code)}, {"message", text}}}};
}

Json notification(std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

Json request(std::string_view id, std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

}  // namespace ww::lsp
