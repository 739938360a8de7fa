// SPDX-License-Identifier: Apache-2.0
// Strings: neighbours become one, and f-strings are taken apart into texts and fields.
#include <optional>
#include <utility>

#include "script/syntax/expr_parser.h"
#include "script/syntax/literals.h"

namespace ww::script {

// A string while its pieces are read. Text between two fields is one part, however many literals it
// comes from.
struct ExprParser::StringParts {
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
Result<void> ExprParser::flush(StringParts& parts) {
  if (!parts.text.empty()) {
    Expr out{.kind = ExprKind::String, .place = *parts.text_place};
    out.text = cursor_.add_string(std::exchange(parts.text, {}));
    parts.items.add(WW_TRY(cursor_.add(out)));
  }
  parts.text_place.reset();
  return {};
}

Result<ExprId> ExprParser::strings() {
  const Token first = cursor_.here();
  const bool is_bytes = quotes_of(cursor_.text_of(first)).bytes;
  bool is_format = false;
  auto items = cursor_.expr_list();
  StringParts parts(items);
  while (cursor_.at(TokenKind::String) || cursor_.at(TokenKind::FStringBegin)) {
    if (quotes_of(cursor_.text_of(cursor_.here())).bytes != is_bytes)
      return fail(diag(DiagKind::Syntax, "found bytes and text strings side by side")
                      .with_span(cursor_.here().span()));
    if (cursor_.at(TokenKind::String)) {
      WW_TRY_VOID(plain_string(parts));
    } else {
      is_format = true;
      WW_TRY_VOID(format_string(parts));
    }
  }
  Expr out{.kind = ExprKind::String, .place = cursor_.place_from(first.begin)};
  if (is_format) {
    WW_TRY_VOID(flush(parts));
    out.kind = ExprKind::FString;
    out.items = items.finish();
  } else {
    out.text = cursor_.add_string(std::move(parts.text));
  }
  return cursor_.add(out);
}

Result<void> ExprParser::plain_string(StringParts& parts) {
  const Token token = cursor_.take();
  const std::string_view whole = cursor_.text_of(token);
  const Quotes quotes = quotes_of(whole);
  const std::string_view inner =
      whole.substr(quotes.length, whole.size() - quotes.length - quotes.closing());
  parts.extend(ParseCursor::place_of(token));
  return append_string(parts.text, inner, quotes, token.begin + quotes.length);
}

Result<void> ExprParser::format_string(StringParts& parts) {
  const Quotes quotes = quotes_of(cursor_.text_of(cursor_.here()));
  cursor_.take();
  while (!cursor_.at(TokenKind::FStringEnd)) WW_TRY_VOID(text_or_field(parts, quotes));
  cursor_.take();
  return {};
}

Result<void> ExprParser::text_or_field(StringParts& parts, const Quotes& quotes) {
  if (cursor_.at(TokenKind::LBrace)) return field(parts, quotes);
  const Token text = WW_TRY(cursor_.expect(TokenKind::FStringText, "the text of a string"));
  parts.extend(ParseCursor::place_of(text));
  return append_string(parts.text, cursor_.text_of(text), quotes, text.begin);
}

// `{value = !r :format}`; a `=` keeps the text before it.
Result<void> ExprParser::field(StringParts& parts, const Quotes& quotes) {
  WW_TRY_VOID(cursor_.check_depth());
  const auto level = cursor_.deeper();
  const Token opener = cursor_.take();
  Expr out{.kind = ExprKind::Formatted};
  out.a = WW_TRY(value());
  const bool shows_text = cursor_.accept(TokenKind::Assign);
  if (shows_text) {
    const Place shown{opener.end, cursor_.here().begin};
    parts.extend(shown);
    parts.text += cursor_.text_between(shown.begin, shown.end);
  }
  WW_TRY_VOID(flush(parts));
  if (cursor_.at(TokenKind::Bang)) out.conversion = WW_TRY(conversion());
  if (cursor_.accept(TokenKind::Colon)) out.b = WW_TRY(format_spec(quotes));
  if (!cursor_.at(TokenKind::RBrace)) return fail(cursor_.unexpected_in("`!`, `:` or `}`", opener));
  cursor_.take();
  if (shows_text && out.conversion == 0 && !out.b.valid()) out.conversion = 'r';
  out.place = cursor_.place_from(opener.begin);
  parts.items.add(WW_TRY(cursor_.add(out)));
  return {};
}

Result<char> ExprParser::conversion() {
  cursor_.take();
  const std::string_view text = cursor_.text_of(cursor_.here());
  if (text != "r" && text != "s" && text != "a")
    return fail(cursor_.unexpected("`r`, `s` or `a` after `!`"));
  cursor_.take();
  return text[0];
}

Result<ExprId> ExprParser::format_spec(const Quotes& quotes) {
  const std::uint32_t begin = cursor_.back(1).end;
  auto items = cursor_.expr_list();
  StringParts parts(items);
  while (cursor_.at(TokenKind::FStringText) || cursor_.at(TokenKind::LBrace))
    WW_TRY_VOID(text_or_field(parts, quotes));
  WW_TRY_VOID(flush(parts));
  Expr out{.kind = ExprKind::FString, .place = cursor_.place_from(begin)};
  out.items = items.finish();
  return cursor_.add(out);
}

}  // namespace ww::script
