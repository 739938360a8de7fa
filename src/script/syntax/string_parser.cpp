// SPDX-License-Identifier: Apache-2.0
// Strings: neighbours become one, and f-strings are taken apart into texts and fields.
#include <optional>
#include <utility>

#include "script/syntax/errors.h"
#include "script/syntax/expr_parser.h"
#include "script/syntax/literals.h"

namespace ww::script {
namespace {

// A string while its pieces are read. Text between two fields is one part, however many literals it
// comes from.
struct StringParts {
  explicit StringParts(ListBuilder<ExprId>& list) : items(list) {}

  void extend(Place piece) {
    if (!text_place) text_place = piece;
    text_place->end = piece.end;
  }

  ListBuilder<ExprId>& items;
  std::string text;                 // since the last field
  std::optional<Place> text_place;  // where it comes from
};

// Makes a part of the text collected.
Result<void> flush_text(ParseCursor& cursor, StringParts& parts) {
  if (!parts.text.empty()) {
    Expr out{.kind = ExprKind::String, .place = *parts.text_place};
    out.text = cursor.add_string(std::exchange(parts.text, {}));
    parts.items.add(WW_TRY(cursor.add(out)));
  }
  parts.text_place.reset();
  return {};
}

Result<void> parse_plain_string(ParseCursor& cursor, StringParts& parts) {
  const Token token = cursor.take();
  const std::string_view whole = cursor.text_of(token);
  const Quotes quotes = quotes_of(whole);
  const std::string_view inner =
      whole.substr(quotes.length, whole.size() - quotes.length - quotes.closing());
  parts.extend(place_of(token));
  return append_string(parts.text, inner, quotes, token.begin + quotes.length);
}

Result<char> parse_conversion(ParseCursor& cursor) {
  cursor.take();
  const std::string_view text = cursor.text_of(cursor.here());
  if (text != "r" && text != "s" && text != "a")
    return fail(cursor.unexpected("`r`, `s` or `a` after `!`"));
  cursor.take();
  return text[0];
}

Result<void> parse_text_or_field(ParseCursor& cursor, StringParts& parts, const Quotes& quotes);

Result<ExprId> parse_format_spec(ParseCursor& cursor, const Quotes& quotes) {
  const std::uint32_t begin = cursor.back(1).end;
  auto items = cursor.list<ExprId>();
  StringParts parts(items);
  while (cursor.at(TokenKind::FStringText) || cursor.at(TokenKind::LBrace))
    WW_TRY_VOID(parse_text_or_field(cursor, parts, quotes));
  WW_TRY_VOID(flush_text(cursor, parts));
  Expr out{.kind = ExprKind::FString, .place = cursor.place_from(begin)};
  out.items = items.finish();
  return cursor.add(out);
}

// `{value = !r :format}`; a `=` keeps the text before it.
Result<void> parse_field(ParseCursor& cursor, StringParts& parts, const Quotes& quotes) {
  WW_TRY_VOID(cursor.check_depth());
  const auto level = cursor.deeper();
  const Token opener = cursor.take();
  Expr out{.kind = ExprKind::Formatted};
  out.a = WW_TRY(parse_value(cursor));
  const bool shows_text = cursor.accept(TokenKind::Assign);
  if (shows_text) {
    const Place shown{opener.end, cursor.here().begin};
    parts.extend(shown);
    parts.text += cursor.text_between(shown.begin, shown.end);
  }
  WW_TRY_VOID(flush_text(cursor, parts));
  if (cursor.at(TokenKind::Bang)) out.conversion = WW_TRY(parse_conversion(cursor));
  if (cursor.accept(TokenKind::Colon)) out.b = WW_TRY(parse_format_spec(cursor, quotes));
  if (!cursor.at(TokenKind::RBrace)) return fail(cursor.unexpected_in("`!`, `:` or `}`", opener));
  cursor.take();
  if (shows_text && out.conversion == 0 && !out.b.valid()) out.conversion = 'r';
  out.place = cursor.place_from(opener.begin);
  parts.items.add(WW_TRY(cursor.add(out)));
  return {};
}

Result<void> parse_text_or_field(ParseCursor& cursor, StringParts& parts, const Quotes& quotes) {
  if (cursor.at(TokenKind::LBrace)) return parse_field(cursor, parts, quotes);
  const Token text = WW_TRY(cursor.expect(TokenKind::FStringText, "the text of a string"));
  parts.extend(place_of(text));
  return append_string(parts.text, cursor.text_of(text), quotes, text.begin);
}

Result<void> parse_format_string(ParseCursor& cursor, StringParts& parts) {
  const Quotes quotes = quotes_of(cursor.text_of(cursor.here()));
  cursor.take();
  while (!cursor.at(TokenKind::FStringEnd)) WW_TRY_VOID(parse_text_or_field(cursor, parts, quotes));
  cursor.take();
  return {};
}

}  // namespace

Result<ExprId> parse_strings(ParseCursor& cursor) {
  const Token first = cursor.here();
  const bool is_bytes = quotes_of(cursor.text_of(first)).bytes;
  bool is_format = false;
  auto items = cursor.list<ExprId>();
  StringParts parts(items);
  while (cursor.at(TokenKind::String) || cursor.at(TokenKind::FStringBegin)) {
    if (quotes_of(cursor.text_of(cursor.here())).bytes != is_bytes)
      return fail_at(cursor.here().span(), DiagKind::Syntax,
                     "found bytes and text strings side by side");
    if (cursor.at(TokenKind::String)) {
      WW_TRY_VOID(parse_plain_string(cursor, parts));
    } else {
      is_format = true;
      WW_TRY_VOID(parse_format_string(cursor, parts));
    }
  }
  Expr out{.kind = ExprKind::String, .place = cursor.place_from(first.begin)};
  if (is_format) {
    WW_TRY_VOID(flush_text(cursor, parts));
    out.kind = ExprKind::FString;
    out.items = items.finish();
  } else {
    out.text = cursor.add_string(std::move(parts.text));
  }
  return cursor.add(out);
}

}  // namespace ww::script
