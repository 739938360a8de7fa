// SPDX-License-Identifier: Apache-2.0
#include "script/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/ascii.h"
#include "base/printable.h"
#include "base/result.h"
#include "script/syntax/literals.h"
#include "script/syntax/parser.h"

namespace ww::script {

// --- tokens --------------------------------------------------------------------------------------

namespace {

constexpr FixedToken kOperators[] = {
#define WW_OPERATOR(name, text) {TokenKind::name, text},
#include "script/syntax/tokens.def"
};
constexpr FixedToken kKeywords[] = {
#define WW_KEYWORD(name, text) {TokenKind::name, text},
#include "script/syntax/tokens.def"
};

// For each character, where in a table the rows begin that start with it.
template <std::size_t N>
constexpr std::array<std::uint8_t, 128> first_rows(const FixedToken (&table)[N]) {
  std::array<std::uint8_t, 128> rows{};
  rows.fill(N);
  for (std::size_t i = N; i-- > 0;)
    rows[static_cast<std::size_t>(table[i].text[0])] = static_cast<std::uint8_t>(i);
  return rows;
}
constexpr auto kFirstOperators = first_rows(kOperators);
constexpr auto kFirstKeywords = first_rows(kKeywords);

}  // namespace

TokenKind kind_of_word(std::string_view word) {
  const auto first = static_cast<unsigned char>(word[0]);
  if (first >= 128) return TokenKind::Name;
  for (std::size_t i = kFirstKeywords[first]; i < std::size(kKeywords); ++i) {
    if (kKeywords[i].text[0] != word[0]) break;
    if (kKeywords[i].text == word) return kKeywords[i].kind;
  }
  return TokenKind::Name;
}

const FixedToken* operator_at(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first >= 128) return nullptr;
  for (std::size_t i = kFirstOperators[first]; i < std::size(kOperators); ++i) {
    if (kOperators[i].text[0] != text[0]) break;
    if (text.starts_with(kOperators[i].text)) return &kOperators[i];
  }
  return nullptr;
}

std::string_view fixed_text_of(TokenKind kind) {
  for (const FixedToken& fixed : kOperators)
    if (fixed.kind == kind) return fixed.text;
  for (const FixedToken& fixed : kKeywords)
    if (fixed.kind == kind) return fixed.text;
  return "";
}

std::string describe(const Token& token, std::string_view text) {
  switch (token.kind) {
    case TokenKind::End:
      return "the end of the text";
    case TokenKind::Newline:
      return "the end of the line";
    case TokenKind::Indent:
      return "an indented line";
    case TokenKind::Dedent:
      return "the end of the block";
    case TokenKind::FStringEnd:
      return "the end of the string";
    default:
      return fmt::format("`{}`",
                         printable_excerpt(text.substr(token.begin, token.end - token.begin)));
  }
}

// --- a text as tokens ----------------------------------------------------------------------------

namespace {

bool is_line_break(char c) { return c == '\n' || c == '\r'; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_wide(char c) { return static_cast<unsigned char>(c) >= 0x80; }

// Something open: a bracket, the text of an f-string, one of its fields or that field's format.
struct Frame {
  enum class Kind : std::uint8_t { Bracket, Text, Field, Spec };
  Kind kind = Kind::Bracket;
  char closer = ')';
  Quotes quotes = {};  // of the f-string, unless Bracket
  Token opener = {};
};

class Lexer {
 public:
  Lexer(std::string_view text, Layout layout) : text_(text), layout_(layout) {
    out_.tokens.reserve(text.size() / 4 + 16);
  }

  TokenList run();

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] std::string_view since(std::size_t begin) const {
    return text_.substr(begin, at_ - begin);
  }
  [[nodiscard]] static Token token(TokenKind kind, std::size_t begin, std::size_t end) {
    return {kind, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  }
  void emit(TokenKind kind, std::size_t begin) { out_.tokens.push_back(token(kind, begin, at_)); }
  // Ends everything. Always false.
  bool error(std::size_t begin, std::size_t end, Diag diag);
  bool error_here(Diag diag) { return error(at_, at_end() ? at_ : at_ + 1, std::move(diag)); }

  // Each of these returns whether to go on.
  bool step();
  bool line_start();
  bool indentation(std::size_t begin, unsigned columns, unsigned narrow);
  bool line_break();
  bool continuation();
  bool word();
  bool number();
  bool string(std::size_t begin, Quotes quotes);
  bool begin_fstring(std::size_t begin, Quotes quotes);
  bool fstring_text();
  bool fstring_brace();
  bool fstring_escape(bool raw);
  bool punctuation();
  bool open(Frame frame);
  bool close();
  bool no_token();

  // Past one character; a line end of two counts as one.
  void skip_character() { at_ += peek() == '\r' && peek(1) == '\n' ? 2U : 1U; }
  void skip_comment() {
    while (!at_end() && !is_line_break(peek())) ++at_;
  }
  [[nodiscard]] bool at_closing(const Quotes& quotes) const;
  bool unclosed(const Quotes& quotes, Span opener);
  bool unclosed_fstring();
  void end_of_text();

  std::string_view text_;
  Layout layout_;
  std::size_t at_ = 0;
  struct Indentation {
    unsigned columns = 0;
    unsigned narrow = 0;  // the same with tabs as one column
  };
  std::vector<Indentation> indents_ = {{}};
  std::vector<Frame> frames_;
  unsigned short_strings_ = 0;  // f-strings open that must end on their line
  TokenList out_;
};

bool Lexer::error(std::size_t begin, std::size_t end, Diag diag) {
  diag.span = Span::at(begin, end);
  out_.tokens.push_back(token(TokenKind::Error, begin, end));
  out_.error = std::move(diag);
  return false;
}

TokenList Lexer::run() {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  const std::size_t bad = find_bad_byte(text_);
  if (bad != std::string_view::npos) {
    error(bad, bad + 1,
          diag(DiagKind::Syntax, "found the byte `\\x{:02x}`, expected UTF-8 text without NUL",
               static_cast<unsigned char>(text_[bad])));
    return std::move(out_);
  }
  bool going = layout_ == Layout::Free || line_start();
  while (going && !at_end()) going = step();
  if (going) end_of_text();
  return std::move(out_);
}

bool Lexer::step() {
  if (!frames_.empty()) {
    const Frame::Kind kind = frames_.back().kind;
    if (kind == Frame::Kind::Text || kind == Frame::Kind::Spec) return fstring_text();
  }
  const char c = peek();
  if (c == ' ' || c == '\t' || c == '\f') {
    ++at_;
    return true;
  }
  if (is_letter(c) || is_wide(c)) return word();
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
  if (is_quote(c)) return string(at_, quotes_of(text_.substr(at_)));
  if (is_line_break(c)) return line_break();
  if (c == '#') {
    skip_comment();
    return true;
  }
  return c == '\\' ? continuation() : punctuation();
}

// --- lines --------------------------------------------------------------------------------------

// Skips lines without tokens and compares the indentation of the next one with that of its block.
bool Lexer::line_start() {
  for (;;) {
    const std::size_t begin = at_;
    unsigned columns = 0;
    unsigned narrow = 0;
    for (; peek() == ' ' || peek() == '\t' || peek() == '\f'; ++at_) {
      const bool is_feed = peek() == '\f';
      columns = is_feed ? 0 : peek() == '\t' ? (columns / 8 + 1) * 8 : columns + 1;
      narrow = is_feed ? 0 : narrow + 1;
    }
    if (peek() == '#') skip_comment();
    if (at_end()) return true;
    if (!is_line_break(peek())) return indentation(begin, columns, narrow);
    skip_character();
  }
}

bool Lexer::indentation(std::size_t begin, unsigned columns, unsigned narrow) {
  const auto mixed = [&] {
    return error(begin, at_,
                 diag(DiagKind::Syntax,
                      "found tabs and spaces mixed in a way that makes the indentation depend on "
                      "the width of a tab"));
  };
  if (columns > indents_.back().columns) {
    if (narrow <= indents_.back().narrow) return mixed();
    if (indents_.size() > kMaxNesting)
      return error(
          begin, at_,
          diag(DiagKind::TooLarge, "blocks are nested deeper than {} levels", kMaxNesting));
    indents_.push_back({columns, narrow});
    emit(TokenKind::Indent, begin);
    return true;
  }
  const unsigned inner = indents_.back().columns;
  while (columns < indents_.back().columns) {
    indents_.pop_back();
    emit(TokenKind::Dedent, begin);
  }
  if (columns != indents_.back().columns)
    return error(begin, at_,
                 diag(DiagKind::Syntax, "found an indentation of {} columns, expected {} or {}",
                      columns, indents_.back().columns, inner));
  return narrow == indents_.back().narrow || mixed();
}

bool Lexer::line_break() {
  if (short_strings_ > 0) return unclosed_fstring();
  const std::size_t begin = at_;
  skip_character();
  if (layout_ == Layout::Free || !frames_.empty()) return true;
  out_.tokens.push_back(token(TokenKind::Newline, begin, at_));
  return line_start();
}

bool Lexer::continuation() {
  const std::size_t begin = at_++;
  if (at_end())
    return error(begin, at_,
                 diag(DiagKind::Syntax, "found the end of the text, expected a line after `\\`"));
  if (!is_line_break(peek()))
    return error(begin, at_,
                 diag(DiagKind::Syntax, "found text after `\\`, expected the end of the line"));
  skip_character();
  return true;
}

void Lexer::end_of_text() {
  if (!frames_.empty()) {
    const Frame& inner = frames_.back();
    if (inner.kind == Frame::Kind::Text || inner.kind == Frame::Kind::Spec) {
      unclosed_fstring();
      return;
    }
    Diag unclosed_bracket =
        diag(DiagKind::Syntax, "found the end of the text, expected `{}`", inner.closer);
    error(at_, at_,
          std::move(unclosed_bracket)
              .with_note(
                  fmt::format("{} is opened here and never closed", describe(inner.opener, text_)),
                  inner.opener.span()));
    return;
  }
  if (layout_ == Layout::Lines) {
    if (!out_.tokens.empty() && !is_layout(out_.tokens.back().kind)) emit(TokenKind::Newline, at_);
    for (std::size_t i = indents_.size(); i > 1; --i) emit(TokenKind::Dedent, at_);
  }
  emit(TokenKind::End, at_);
}

// --- words and numbers --------------------------------------------------------------------------

bool Lexer::word() {
  const std::size_t begin = at_;
  while (!at_end()) {
    if (is_name_char(peek())) {
      ++at_;
    } else if (is_wide(peek())) {
      const CodePoint point = decode_utf8(text_.substr(at_, 4));
      if (!is_wide_letter(point.value)) break;
      at_ += point.bytes;
    } else {
      break;
    }
  }
  if (at_ == begin) return no_token();
  if (is_quote(peek()) && at_ - begin <= 2) {
    const Quotes quotes = quotes_of(text_.substr(begin));
    if (quotes.valid()) return string(begin, quotes);
  }
  emit(kind_of_word(since(begin)), begin);
  return true;
}

bool Lexer::number() {
  const std::size_t begin = at_;
  const Number number = scan_number(text_.substr(at_));
  at_ += number.bytes;
  if (number.problem != nullptr)
    return error(begin, at_,
                 diag(DiagKind::Syntax, "found `{}`, {}", since(begin), number.problem));
  emit(number.is_float ? TokenKind::Float : TokenKind::Int, begin);
  return true;
}

// --- strings ------------------------------------------------------------------------------------

bool Lexer::at_closing(const Quotes& quotes) const {
  if (peek() != quotes.mark) return false;
  return !quotes.triple || (peek(1) == quotes.mark && peek(2) == quotes.mark);
}

bool Lexer::unclosed(const Quotes& quotes, Span opener) {
  const std::string_view found = at_end() ? "the end of the text" : "the end of the line";
  return error_here(diag(DiagKind::Syntax, "found {}, expected `{}`", found,
                         std::string(quotes.triple ? 3 : 1, quotes.mark))
                        .with_note("the string begins here", opener));
}

// The innermost f-string; at a line break, the innermost that cannot go on behind it.
bool Lexer::unclosed_fstring() {
  const auto ends_here = [&](const Frame& frame) {
    return frame.kind == Frame::Kind::Text && (at_end() || !frame.quotes.triple);
  };
  const auto inner = std::find_if(frames_.rbegin(), frames_.rend(), ends_here);
  return unclosed(inner->quotes, inner->opener.span());
}

bool Lexer::string(std::size_t begin, Quotes quotes) {
  at_ = begin + quotes.length;
  if (quotes.format) return begin_fstring(begin, quotes);
  while (!at_closing(quotes)) {
    if (at_end() || (is_line_break(peek()) && !quotes.triple))
      return unclosed(quotes, Span::at(begin, begin + quotes.length));
    if (peek() == '\\') ++at_;
    if (!at_end()) skip_character();
  }
  at_ += quotes.triple ? 3 : 1;
  emit(TokenKind::String, begin);
  return true;
}

bool Lexer::begin_fstring(std::size_t begin, Quotes quotes) {
  emit(TokenKind::FStringBegin, begin);
  if (!quotes.triple) ++short_strings_;
  return open({Frame::Kind::Text, quotes.mark, quotes, out_.tokens.back()});
}

// From a place in an f-string's text, or a field's format, to the next field or the end of it.
bool Lexer::fstring_text() {
  const Frame frame = frames_.back();
  const bool in_spec = frame.kind == Frame::Kind::Spec;
  const std::size_t begin = at_;
  const auto emit_text = [&] {
    if (at_ > begin) emit(TokenKind::FStringText, begin);
  };
  for (;;) {
    if (at_end() || (is_line_break(peek()) && !frame.quotes.triple)) return unclosed_fstring();
    if (at_closing(frame.quotes)) break;
    const bool is_brace = peek() == '{' || peek() == '}';
    if (is_brace && (in_spec || peek(1) != peek())) {
      emit_text();
      return fstring_brace();
    }
    if (peek() == '\\') {
      if (!fstring_escape(frame.quotes.raw)) return false;
    } else {
      at_ += is_brace ? 2 : 1;
    }
  }
  emit_text();
  if (in_spec)
    return error_here(diag(DiagKind::Syntax, "found the end of the string, expected `}}`")
                          .with_note("the field is opened here", frame.opener.span()));
  const std::size_t end = at_;
  at_ += frame.quotes.triple ? 3 : 1;
  emit(TokenKind::FStringEnd, end);
  if (!frame.quotes.triple) --short_strings_;
  frames_.pop_back();
  return true;
}

// A brace that stands alone: a field begins or ends.
bool Lexer::fstring_brace() {
  const Frame& outer = frames_.back();
  const std::size_t begin = at_;
  if (peek() == '{') {
    ++at_;
    emit(TokenKind::LBrace, begin);
    return open({Frame::Kind::Field, '}', outer.quotes, out_.tokens.back()});
  }
  if (outer.kind == Frame::Kind::Text)
    return error_here(diag(DiagKind::Syntax, "found `}}` in an f-string, expected `}}}}`"));
  ++at_;
  emit(TokenKind::RBrace, begin);
  frames_.pop_back();
  return true;
}

// Past a backslash and what belongs to it. A brace after it still opens a field.
bool Lexer::fstring_escape(bool raw) {
  ++at_;
  if (!raw && peek() == 'N' && peek(1) == '{') {
    while (!at_end() && peek() != '}' && !is_line_break(peek())) ++at_;
    return true;
  }
  if (!at_end() && peek() != '{' && peek() != '}') skip_character();
  return true;
}

// --- punctuation --------------------------------------------------------------------------------

bool Lexer::punctuation() {
  const bool in_field = !frames_.empty() && frames_.back().kind == Frame::Kind::Field;
  const std::size_t begin = at_;
  if (in_field && peek() == ':') {
    ++at_;
    emit(TokenKind::Colon, begin);
    frames_.back().kind = Frame::Kind::Spec;
    return true;
  }
  const FixedToken* const found = operator_at(text_.substr(at_, 3));
  if (found == nullptr || (found->kind == TokenKind::Bang && !in_field)) return no_token();
  at_ += found->text.size();
  switch (found->kind) {
    case TokenKind::LParen:
    case TokenKind::LBracket:
    case TokenKind::LBrace: {
      emit(found->kind, begin);
      const char closer = found->kind == TokenKind::LParen     ? ')'
                          : found->kind == TokenKind::LBracket ? ']'
                                                               : '}';
      return open({Frame::Kind::Bracket, closer, {}, out_.tokens.back()});
    }
    case TokenKind::RParen:
    case TokenKind::RBracket:
    case TokenKind::RBrace:
      at_ = begin;
      if (!close()) return false;
      break;
    default:
      break;
  }
  emit(found->kind, begin);
  return true;
}

bool Lexer::open(Frame frame) {
  // An f-string's text and its field are two; the parser counts exactly.
  if (frames_.size() > std::size_t{2} * kMaxNesting)
    return error(
        frame.opener.begin, frame.opener.end,
        diag(DiagKind::TooLarge, "brackets are nested deeper than {} levels", kMaxNesting));
  frames_.push_back(frame);
  return true;
}

// Past a closing bracket.
bool Lexer::close() {
  const char found = peek();
  if (frames_.empty())
    return error_here(diag(DiagKind::Syntax, "found `{}` without a bracket that it closes", found));
  const Frame& inner = frames_.back();
  if (found != inner.closer)
    return error_here(
        diag(DiagKind::Syntax, "found `{}`, expected `{}`", found, inner.closer)
            .with_note(fmt::format("{} is opened here", describe(inner.opener, text_)),
                       inner.opener.span()));
  frames_.pop_back();
  ++at_;
  return true;
}

// A character that begins no token.
bool Lexer::no_token() {
  const CodePoint point = decode_utf8(text_.substr(at_, 4));
  const std::string_view own = text_.substr(at_, point.bytes);
  const std::size_t end = at_ + point.bytes;
  if (point.value < 0x20 || point.value == 0x7F)
    return error(at_, end,
                 diag(DiagKind::Syntax, "found the control character `\\x{:02x}`",
                      static_cast<unsigned>(point.value)));
  if (point.value < 0x80) {
    Diag none = diag(DiagKind::Syntax, "found `{}`, which has no meaning outside a string", own);
    if (own == "!") none.notes.push_back({"did you mean `not`?", {}});
    if (own == "?") none.notes.push_back({"a choice is `a if condition else b`", {}});
    return error(at_, end, std::move(none));
  }
  Diag none = diag(DiagKind::Syntax, "found `{}` (U+{:04X}), which has no meaning outside a string",
                   own, static_cast<unsigned>(point.value));
  if (point.value == 0xA0 || point.value == 0x3000)
    none.notes.push_back({"this is a blank that looks like a space; write a plain one", {}});
  if (point.value >= 0x2018 && point.value <= 0x201F)
    none.notes.push_back({"strings are quoted by `\"` or `'`", {}});
  return error(at_, end, std::move(none));
}

}  // namespace

TokenList tokenize(std::string_view text, Layout layout) { return Lexer(text, layout).run(); }

bool is_name(std::string_view text) {
  const std::vector<Token> tokens = tokenize(text, Layout::Free).tokens;
  return tokens.size() == 2 && tokens[0].kind == TokenKind::Name && tokens[0].begin == 0 &&
         tokens[0].end == text.size();
}

}  // namespace ww::script
