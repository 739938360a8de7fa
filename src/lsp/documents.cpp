// SPDX-License-Identifier: Apache-2.0
#include "lsp/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "base/utf8.h"
#include "script/syntax/parser.h"

namespace ww::lsp {

// --- text ----------------------------------------------------------------------------------------

namespace {

struct CharacterSize {
  std::size_t bytes = 1;
  std::int64_t units = 1;
};

// Of the character at the begin of a text that is not empty. A byte that is no UTF-8 is one unit.
CharacterSize character_size(std::string_view text, Encoding encoding) {
  const CodePoint read = decode_utf8(text);
  if (read.bytes == 0) return {};
  const auto bytes = static_cast<std::int64_t>(read.bytes);
  return {read.bytes, encoding == Encoding::Utf8 ? bytes : read.value > 0xFFFF ? 2 : 1};
}

}  // namespace

std::string_view name_of(Encoding encoding) {
  return encoding == Encoding::Utf8 ? "utf-8" : "utf-16";
}

Text::Text(std::string bytes) : bytes_(std::move(bytes)), starts_{0} {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const bool is_pair = bytes_[i] == '\r' && i + 1 < bytes_.size() && bytes_[i + 1] == '\n';
    if (bytes_[i] == '\n' || (bytes_[i] == '\r' && !is_pair)) starts_.push_back(i + 1);
  }
}

std::string_view Text::line(std::size_t number) const {
  if (number >= starts_.size()) return {};
  const std::size_t end = number + 1 < starts_.size() ? starts_[number + 1] : bytes_.size();
  std::string_view out = std::string_view(bytes_).substr(starts_[number], end - starts_[number]);
  while (!out.empty() && (out.back() == '\n' || out.back() == '\r')) out.remove_suffix(1);
  return out;
}

std::size_t Text::line_of(std::size_t offset) const {
  const auto after = std::ranges::upper_bound(starts_, std::min(offset, bytes_.size()));
  return static_cast<std::size_t>(after - starts_.begin()) - 1;
}

std::size_t Text::offset(Position position, Encoding encoding) const {
  if (position.line < 0) return 0;
  const auto number = static_cast<std::size_t>(position.line);
  if (number >= starts_.size()) return bytes_.size();
  std::string_view rest = line(number);
  std::size_t out = starts_[number];
  for (std::int64_t units = 0; !rest.empty();) {
    const CharacterSize size = character_size(rest, encoding);
    units += size.units;
    if (units > position.character) break;
    out += size.bytes;
    rest.remove_prefix(size.bytes);
  }
  return out;
}

Position Text::position(std::size_t offset, Encoding encoding) const {
  const std::size_t number = line_of(offset);
  std::string_view rest = line(number);
  rest = rest.substr(0, std::min(offset, bytes_.size()) - starts_[number]);
  Position out{.line = static_cast<std::int64_t>(number)};
  while (!rest.empty()) {
    const CharacterSize size = character_size(rest, encoding);
    out.character += size.units;
    rest.remove_prefix(size.bytes);
  }
  return out;
}

namespace {

constexpr std::string_view kFileScheme = "file://";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_plain_in_uri(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("/-._~").find(c) != std::string_view::npos;
}

Result<std::shared_ptr<const Text>> text_of(std::string bytes, std::string_view uri) {
  if (bytes.size() > script::kMaxSourceBytes)
    return fail(DiagKind::TooLarge, "`{}` has {} bytes, expected at most {}",
                printable(uri, Breaks::Spell), bytes.size(), script::kMaxSourceBytes);
  return std::make_shared<const Text>(std::move(bytes));
}

// One entry of `contentChanges`: a range and what stands there now, or the whole text.
Result<std::shared_ptr<const Text>> changed(const std::shared_ptr<const Text>& text,
                                            const Json& change, Encoding encoding,
                                            std::string_view uri) {
  std::string now = WW_TRY(text_at(change, "text"));
  if (find(change, "range") == nullptr) return text_of(std::move(now), uri);
  const std::size_t begin = text->offset(WW_TRY(read_position(change, "range.start")), encoding);
  const std::size_t end = text->offset(WW_TRY(read_position(change, "range.end")), encoding);
  if (end < begin)
    return fail(DiagKind::BadArgument, "`range` ends before it begins: byte {} to {}", begin, end);
  std::string bytes = text->bytes();
  bytes.replace(begin, end - begin, now);
  return text_of(std::move(bytes), uri);
}

Diag not_open(std::string_view uri) {
  return diag(DiagKind::BadArgument, "`{}` is not open", printable(uri, Breaks::Spell));
}

}  // namespace

std::string path_of(std::string_view uri) {
  if (!uri.starts_with(kFileScheme)) return std::string(uri);
  uri.remove_prefix(kFileScheme.size());
  if (!uri.starts_with('/')) uri.remove_prefix(std::min(uri.size(), uri.find('/')));  // host
  std::string out;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    const bool is_code = uri[i] == '%' && i + 2 < uri.size() && hex_digit(uri[i + 1]) >= 0 &&
                         hex_digit(uri[i + 2]) >= 0;
    if (!is_code) {
      out += uri[i];
      continue;
    }
    out += static_cast<char>(hex_digit(uri[i + 1]) * 16 + hex_digit(uri[i + 2]));
    i += 2;
  }
  return out;
}

std::string uri_of(std::string_view path) {
  std::string out(kFileScheme);
  for (const char c : path)
    out += is_plain_in_uri(c) ? std::string(1, c)
                              : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

Result<Position> read_position(const Json& json, std::string_view path) {
  return Position{.line = WW_TRY(integer_at(json, fmt::format("{}.line", path))),
                  .character = WW_TRY(integer_at(json, fmt::format("{}.character", path)))};
}

Json position_json(Position position) {
  return {{"line", position.line}, {"character", position.character}};
}

Json range_json(const Text& text, Span span, Encoding encoding) {
  return {{"start", position_json(text.position(span.begin, encoding))},
          {"end", position_json(text.position(std::max(span.begin, span.end), encoding))}};
}

Result<std::string> Documents::open(const Json& params) {
  std::string uri = WW_TRY(text_at(params, "textDocument.uri"));
  const std::int64_t version = WW_TRY(integer_at(params, "textDocument.version"));
  auto text = WW_TRY(text_of(WW_TRY(text_at(params, "textDocument.text")), uri));
  if (open_.size() >= kMaxDocuments)
    return fail(DiagKind::TooLarge, "{} documents are open, which is all there may be",
                kMaxDocuments);
  if (open_.contains(uri))
    return fail(DiagKind::BadArgument, "`{}` is open already", printable(uri, Breaks::Spell));
  open_[uri] = {.uri = uri, .path = path_of(uri), .version = version, .text = std::move(text)};
  return uri;
}

Result<std::string> Documents::change(const Json& params, Encoding encoding) {
  std::string uri = WW_TRY(text_at(params, "textDocument.uri"));
  const std::int64_t version = WW_TRY(integer_at(params, "textDocument.version"));
  const auto document = open_.find(uri);
  if (document == open_.end()) return fail(not_open(uri));
  const Json* const changes = lsp::find(params, "contentChanges");
  if (changes == nullptr || changes->type() != JsonType::Array)
    return fail(DiagKind::BadArgument, "`contentChanges` is no list");
  std::shared_ptr<const Text> text = document->second.text;
  for (const Json& each : *changes) text = WW_TRY(changed(text, each, encoding, uri));
  document->second.text = std::move(text);
  document->second.version = version;
  return uri;
}

Result<std::string> Documents::close(const Json& params) {
  std::string uri = WW_TRY(text_at(params, "textDocument.uri"));
  if (open_.erase(uri) == 0) return fail(not_open(uri));
  return uri;
}

const Document* Documents::find(std::string_view uri) const {
  const auto found = open_.find(uri);
  return found == open_.end() ? nullptr : &found->second;
}

const Document* Documents::find_path(std::string_view path) const {
  for (const auto& [uri, document] : open_)
    if (document.path == path) return &document;
  return nullptr;
}

}  // namespace ww::lsp
