// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the grammar in text.h: layouts, and the amounts in them.
#include "layout/text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/append.h"
#include "base/ascii.h"
#include "base/result.h"
#include "base/suggest.h"
#include "base/wide.h"

namespace ww::layout {

// --- text lexer ----------------------------------------------------------------------------------
//
// Tokens of the layout notation.

namespace {

enum class TokenKind : std::uint8_t { Int, Name, String, Punct, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;   // a dotted name (`T.S`, `Axis.laneid`) keeps its last part only
  std::int64_t value = 0;  // of an Int
  Span span;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() + 1);  // at most one token per character, and the end
    for (;;) {
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      if (at_ == text_.size()) break;
      tokens.push_back(WW_TRY(next()));
    }
    tokens.push_back({TokenKind::End, {}, 0, Span::at(text_.size(), text_.size())});
    return tokens;
  }

 private:
  Result<Token> next() {
    const char c = text_[at_];
    if (is_digit(c)) return integer();
    if (is_name_char(c)) return name();
    if (c == '"' || c == '\'') return string(c);
    if (text_.substr(at_, 2) == "//") return punct(2);
    if (std::string_view("[](),:@+-*%?=").find(c) != std::string_view::npos) return punct(1);
    std::size_t end = at_ + 1;  // a whole UTF-8 sequence, so that the caret covers one character
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U) ++end;
    return fail(
        diag(DiagKind::Syntax, "unexpected character `{}`", printable(text_.substr(at_, end - at_)))
            .with_span(Span::at(at_, end)));
  }

  static std::string printable(std::string_view bytes) {
    const auto first = static_cast<unsigned char>(bytes.front());
    if (first >= 0x20 && first != 0x7F && (first < 0x80 || bytes.size() > 1))
      return std::string(bytes);
    return fmt::format("\\x{:02x}", first);
  }

  Result<Token> integer() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    const Span span = Span::at(begin, at_);
    const std::string_view digits = text_.substr(begin, at_ - begin);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range)
      return fail(diag(DiagKind::Overflow, "`{}` does not fit 64 bits", digits).with_span(span));
    if (error != std::errc() || end != digits.data() + digits.size())
      return fail(diag(DiagKind::Syntax, "`{}` is not an integer", digits).with_span(span));
    return Token{TokenKind::Int, digits, value, span};
  }

  Result<Token> name() {
    const std::size_t begin = at_;
    std::size_t last = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) {
      while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
      const bool dotted = at_ + 1 < text_.size() && text_[at_] == '.' &&
                          is_name_char(text_[at_ + 1]) && !is_digit(text_[at_ + 1]);
      if (!dotted) break;
      last = ++at_;
    }
    return Token{TokenKind::Name, text_.substr(last, at_ - last), 0, Span::at(begin, at_)};
  }

  Result<Token> string(char quote) {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != quote) ++at_;
    if (at_ == text_.size())
      return fail(
          diag(DiagKind::Syntax, "the string is not closed").with_span(Span::at(begin, at_)));
    ++at_;
    return Token{TokenKind::String, text_.substr(begin + 1, at_ - begin - 2), 0,
                 Span::at(begin, at_)};
  }

  Result<Token> punct(std::size_t length) {
    const Token token{TokenKind::Punct, text_.substr(at_, length), 0, Span::at(at_, at_ + length)};
    at_ += length;
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// All tokens, an End token last. Fails on characters that no token starts with, unclosed strings
// and integers beyond 64 bits.
Result<std::vector<Token>> lex_notation(std::string_view text) { return Lexer(text).run(); }

// "`x`", or "the end" for the End token: for messages.
std::string describe(const Token& token) {
  return token.kind == TokenKind::End ? "the end" : fmt::format("`{}`", token.text);
}

}  // namespace

// --- text amounts --------------------------------------------------------------------------------
//
// Amounts of the layout notation: affine expressions that may carry axes. `16*k@m + 2@warpid` is one
// amount with two axes.
//
// The grammar of amounts, by recursive descent. `@` binds like `*`, as it does in Python.

namespace {

/// The part without an axis, and the parts on axes.
struct Amount {
  Expr plain;
  std::vector<std::pair<Axis, Expr>> on_axes;
  Span span;

  [[nodiscard]] bool is_integer() const { return on_axes.empty() && plain.is_constant(); }
};

/// The same result; an error points at `span`.
template <typename T>
Result<T> located(Result<T> result, Span span) {
  if (!result) return fail(std::move(result.error()).with_span(span));
  return result;
}

/// A place in a list of tokens, and what reads amounts from there. Every function that fails says what it
/// found and what it expected.
class AmountReader {
 public:
  /// `tokens`: from lex_notation. `names` must outlive the reader.
  AmountReader(const Names& names, std::vector<Token> tokens)
      : names_(names), tokens_(std::move(tokens)) {}

  /// product (('+'|'-') product)*
  Result<Amount> sum_of_amounts();
  /// factor (('*'|'//'|'%') factor | '@' axis)*
  Result<Amount> product();
  /// The axis that a name or string means, declared or built in.
  Result<Axis> axis(const Token& token);
  /// Fails unless all tokens are read.
  [[nodiscard]] Result<void> expect_end() const;

 protected:
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  [[nodiscard]] bool is(std::string_view punct, std::size_t ahead = 0) const {
    const Token& token = peek(ahead);
    return token.kind == TokenKind::Punct &&
           token.text.front() == punct.front();  // `//` is the only `/`
  }
  Token take() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  void skip(std::size_t count = 1) { at_ += count; }
  void step_back() { --at_; }
  bool accept(std::string_view punct) {
    if (!is(punct)) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] auto unexpected(std::string_view wanted) const {
    return fail(diag(DiagKind::Syntax, "found {}, expected {}", describe(peek()), wanted)
                    .with_span(peek().span));
  }
  Result<void> expect(std::string_view punct, std::string_view where);
  /// The text from `begin` to the last token read.
  [[nodiscard]] Span since(std::size_t begin) const;
  /// One level deeper in the grammar, or an error when that is too deep.
  Result<void> enter();
  void leave() { --depth_; }

 private:
  Result<void> put_on_axis(Amount& amount);
  Result<Amount> factor();
  Result<Amount> symbol();

  const Names& names_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

constexpr int kMaxDepth = 64;

bool within_limits(const Expr& e) {
  const auto small = [](std::int64_t v) { return v >= -kMaxPlace && v <= kMaxPlace; };
  return small(e.constant()) && std::all_of(e.terms().begin(), e.terms().end(),
                                            [&](const Term& t) { return small(t.coef); });
}

void negate(Amount& amount) {
  amount.plain *= -1;
  for (auto& [axis, value] : amount.on_axes) value *= -1;
}

Result<void> check_amount(const Amount& amount) {
  const bool good = within_limits(amount.plain) &&
                    std::all_of(amount.on_axes.begin(), amount.on_axes.end(),
                                [](const auto& part) { return within_limits(part.second); });
  if (good) return {};
  return fail(diag(DiagKind::Overflow, "the value leaves ±2^60").with_span(amount.span));
}

Result<void> multiply(Amount& left, const Amount& right) {
  const bool by_right = right.plain.is_constant();
  if (!by_right && !left.plain.is_constant())
    return fail(
        diag(DiagKind::Syntax, "`{}` * `{}` is not linear", left.plain.text(), right.plain.text())
            .with_span(left.span));
  const Expr& value = by_right ? left.plain : right.plain;
  const std::int64_t k = by_right ? right.plain.constant() : left.plain.constant();
  const auto fits = [&](std::int64_t v) {
    const Wide product = static_cast<Wide>(v) * k;
    return product >= -kMaxPlace && product <= kMaxPlace;
  };
  const bool good =
      fits(value.constant()) && std::all_of(value.terms().begin(), value.terms().end(),
                                            [&](const Term& t) { return fits(t.coef); });
  if (!good) return fail(diag(DiagKind::Overflow, "the product leaves ±2^60").with_span(left.span));
  left.plain = value * k;
  return {};
}

Result<void> combine(Amount& left, std::string_view op, const Amount& right) {
  const auto bad = [&](std::string_view why) {
    return fail(diag(DiagKind::Syntax, "{}", why).with_span(left.span));
  };
  if (!left.on_axes.empty() || !right.on_axes.empty())
    return bad("an amount on an axis cannot be multiplied or divided");
  if (op == "*") return multiply(left, right);
  if (!right.plain.is_constant() || right.plain.constant() < 1)
    return bad(fmt::format("the right side of `{}` must be a positive integer", op));
  const std::int64_t d = right.plain.constant();
  const auto result = op == "//" ? floor_div(left.plain, d) : floor_mod(left.plain, d);
  if (!result)
    return fail(diag(DiagKind::Unprovable, "`{}` {} {} does not split into digits of its variables",
                     left.plain.text(), op, d)
                    .with_span(left.span));
  left.plain = *result;
  return {};
}

Result<void> AmountReader::expect(std::string_view punct, std::string_view where) {
  if (accept(punct)) return {};
  return unexpected(fmt::format("`{}` {}", punct, where));
}

Result<void> AmountReader::expect_end() const {
  if (peek().kind == TokenKind::End) return {};
  return unexpected("`+` or the end");
}

Span AmountReader::since(std::size_t begin) const {
  const std::size_t end = at_ == 0 ? begin : tokens_[at_ - 1].span.end;
  return Span::at(begin, std::max(begin, end));
}

Result<void> AmountReader::enter() {
  if (++depth_ <= kMaxDepth) return {};
  return fail(
      diag(DiagKind::Syntax, "nested deeper than {} levels", kMaxDepth).with_span(peek().span));
}

Result<Amount> AmountReader::sum_of_amounts() {
  WW_TRY_VOID(enter());
  const std::size_t begin = peek().span.begin;
  Amount total = WW_TRY(product());
  while (is("+") || is("-")) {
    const bool negative = take().text == "-";
    Amount next = WW_TRY(product());
    if (negative) negate(next);
    total.plain += next.plain;
    total.on_axes.insert(total.on_axes.end(), next.on_axes.begin(), next.on_axes.end());
    total.span = since(begin);
    WW_TRY_VOID(check_amount(total));
  }
  leave();
  return total;
}

Result<Amount> AmountReader::product() {
  WW_TRY_VOID(enter());
  const std::size_t begin = peek().span.begin;
  Amount left = WW_TRY(factor());
  for (;;) {
    if (accept("@")) {
      WW_TRY_VOID(put_on_axis(left));
    } else if (is("*") || is("//") || is("%")) {
      const std::string_view op = take().text;
      const Amount right = WW_TRY(factor());
      left.span = since(begin);
      WW_TRY_VOID(combine(left, op, right));
    } else {
      break;
    }
    left.span = since(begin);
  }
  leave();
  return left;
}

Result<void> AmountReader::put_on_axis(Amount& amount) {
  if (!amount.on_axes.empty())
    return fail(
        diag(DiagKind::Syntax, "the amount is on axis `{}` already", amount.on_axes[0].first.name())
            .with_span(peek().span));
  if (peek().kind != TokenKind::Name && peek().kind != TokenKind::String)
    return unexpected("an axis name");
  amount.on_axes.emplace_back(WW_TRY(axis(take())), amount.plain);
  amount.plain = Expr(0);
  return {};
}

Result<Amount> AmountReader::factor() {
  const Token token = peek();
  if (accept("-")) {
    WW_TRY_VOID(enter());
    Amount inner = WW_TRY(factor());
    leave();
    negate(inner);
    inner.span = since(token.span.begin);
    return inner;
  }
  if (accept("(")) {
    Amount inner = WW_TRY(sum_of_amounts());
    WW_TRY_VOID(expect(")", "to close the sum"));
    inner.span = since(token.span.begin);
    return inner;
  }
  if (token.kind == TokenKind::Int) {
    ++at_;
    if (token.value > kMaxPlace)
      return fail(diag(DiagKind::Overflow, "{} leaves ±2^60", token.value).with_span(token.span));
    return Amount{Expr(token.value), {}, token.span};
  }
  if (token.kind == TokenKind::Name) return symbol();
  return unexpected("a number, `S[…]` or `R[…]`");
}

Result<Amount> AmountReader::symbol() {
  const Token token = take();
  const auto found = names_.symbols.find(token.text);
  if (found != names_.symbols.end()) return Amount{Expr(found->second), {}, token.span};
  std::vector<std::string_view> known;
  for (const auto& [name, sym] : names_.symbols) known.push_back(name);
  return fail(diag(DiagKind::UnknownName, "`{}` is not a declared variable{}", token.text,
                   did_you_mean(token.text, known))
                  .with_span(token.span));
}

Result<Axis> AmountReader::axis(const Token& token) {
  if (const auto found = names_.axes.find(token.text); found != names_.axes.end())
    return found->second;
  if (auto builtin = Axis::builtin(token.text)) return builtin;
  if (names_.on_undeclared_axis) names_.on_undeclared_axis(token.text, token.span);
  return located(Axis::declare(token.text, AxisKind::Unknown), token.span);
}

struct Spec {
  Iters iters;
  Span span;
};

struct Sum {
  std::optional<Spec> shard;
  Iters replica;
  Span replica_span;
  Offsets offset;
};

class Parser : public AmountReader {
 public:
  Parser(std::string_view text, const Names& names, std::vector<Token> tokens)
      : AmountReader(names, std::move(tokens)), text_(text) {}

  Result<Layout> layout_to_end() {
    Layout out = WW_TRY(layout());
    WW_TRY_VOID(expect_end());
    return out;
  }
  Result<Expr> expr_to_end() {
    const Amount amount = WW_TRY(sum_of_amounts());
    WW_TRY_VOID(expect_end());
    if (!amount.on_axes.empty())
      return fail(
          diag(DiagKind::Syntax, "expected a number without an axis").with_span(amount.span));
    return amount.plain;
  }
  Result<Shape> shape_to_end() {
    Spec spec;
    WW_TRY_VOID(extents(spec, true));
    WW_TRY_VOID(expect_end());
    Shape out;
    for (const Iter& iter : spec.iters) out.push_back(iter.extent);
    return out;
  }

 private:
  // ---- layouts ----
  Result<Layout> layout() {
    WW_TRY_VOID(enter());
    const bool call = peek().kind == TokenKind::Name && is("(", 1);
    Result<Layout> out = call ? named_call() : tile_sum();
    leave();
    return out;
  }

  Result<Layout> named_call() {
    const Token name = take();
    skip();  // '('
    if (name.text == "TileLayout") {
      Layout inner = WW_TRY(layout());
      WW_TRY_VOID(expect(")", "to close `TileLayout(`"));
      return inner;
    }
    if (name.text == "SwizzleLayout") return bare_swizzle(name);
    if (name.text == "ComposeLayout") return compose_call();
    constexpr std::string_view kNames[] = {"TileLayout", "SwizzleLayout",
                                           "ComposeLayout"};  // NOLINT
    return fail(diag(DiagKind::UnknownName, "`{}` is not a layout{}", name.text,
                     did_you_mean(name.text, kNames))
                    .with_span(name.span));
  }

  Result<Layout> bare_swizzle(const Token& name) {
    int period_bits = 0;
    const Swizzle swizzle = WW_TRY(swizzle_arguments(&period_bits));
    WW_TRY_VOID(expect(")", "to close `SwizzleLayout(`"));
    Iters shard{{std::int64_t{1} << period_bits, 1, Axis()}};
    return Layout::make(WW_TRY(located(TileLayout::make(shard), name.span)), swizzle);
  }

  // M, B, S [, swizzle_inner=…] without the closing parenthesis. Stores M + B + S where wanted.
  Result<Swizzle> swizzle_arguments(int* period_bits = nullptr) {
    std::array<int, 3> values{};
    const std::size_t begin = peek().span.begin;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) WW_TRY_VOID(expect(",", "between swizzle parameters"));
      if (peek().kind != TokenKind::Int) return unexpected("a swizzle parameter");
      values[i] = static_cast<int>(std::min<std::int64_t>(take().value, 1 << 20));
    }
    const Span span = since(begin);
    const bool inner = WW_TRY(inner_flag());
    if (period_bits != nullptr) *period_bits = values[0] + values[1] + values[2];
    return located(Swizzle::make(values[0], values[1], values[2], inner), span);
  }

  Result<bool> inner_flag() {
    if (!(is(",") && peek(1).kind == TokenKind::Name && peek(1).text == "swizzle_inner"))
      return true;
    skip(2);
    WW_TRY_VOID(expect("=", "after `swizzle_inner`"));
    const Token value = take();
    if (value.text == "True" || value.text == "true" || value.text == "1") return true;
    if (value.text == "False" || value.text == "false" || value.text == "0") return false;
    step_back();
    return unexpected("`True` or `False`");
  }

  Result<Layout> compose_call() {
    Swizzle swizzle;
    if (peek().kind == TokenKind::Name && peek().text == "SwizzleLayout") {
      skip();
      WW_TRY_VOID(expect("(", "after `SwizzleLayout`"));
      swizzle = WW_TRY(swizzle_arguments());
      WW_TRY_VOID(expect(")", "to close `SwizzleLayout(`"));
    } else {
      swizzle = WW_TRY(swizzle_arguments());
    }
    WW_TRY_VOID(expect(",", "before the tile of `ComposeLayout(`"));
    const std::size_t begin = peek().span.begin;
    const Layout tile = WW_TRY(layout());
    const Span tile_span = since(begin);
    if (tile.is_swizzled())
      return fail(
          diag(DiagKind::BadSwizzle, "a layout has one swizzle at most").with_span(tile_span));
    if (!WW_TRY(inner_flag()))
      swizzle = WW_TRY(Swizzle::make(swizzle.per_element(), swizzle.len(), swizzle.atom(), false));
    WW_TRY_VOID(expect(")", "to close `ComposeLayout(`"));
    return located(Layout::make(tile.tile(), swizzle), tile_span);
  }

  Result<Layout> tile_sum() {
    Sum sum;
    WW_TRY_VOID(add_term(sum, accept("-")));
    while (is("+") || is("-")) {
      const bool negative = take().text == "-";
      WW_TRY_VOID(add_term(sum, negative));
    }
    const Span span = sum.shard ? sum.shard->span : Span::at(0, text_.size());
    return located(
        TileLayout::make(sum.shard ? sum.shard->iters : Iters(), sum.replica, sum.offset), span);
  }

  Result<void> add_term(Sum& sum, bool negative) {
    const bool spec_follows = peek().kind == TokenKind::Name && is("[", 1);
    if (!spec_follows) return add_amount(sum, negative);
    const Token name = peek();
    if (negative)
      return fail(
          diag(DiagKind::Syntax, "`{}[…]` cannot be subtracted", name.text).with_span(name.span));
    if (name.text == "S") {
      if (sum.shard)
        return fail(diag(DiagKind::Syntax, "a layout has one `S[…]`, this is the second")
                        .with_span(name.span));
      sum.shard = WW_TRY(spec(true));
      return {};
    }
    if (name.text == "R") {
      sum.replica.append(WW_TRY(spec(false)).iters);
      return {};
    }
    return fail(diag(DiagKind::UnknownName, "`{}[…]` is neither `S[…]` nor `R[…]`", name.text)
                    .with_span(name.span));
  }

  Result<void> add_amount(Sum& sum, bool negative) {
    const Amount amount = WW_TRY(product());
    const std::int64_t sign = negative ? -1 : 1;
    sum.offset.add(Axis(), amount.plain * sign);
    for (const auto& [axis, value] : amount.on_axes) sum.offset.add(axis, value * sign);
    for (const OffsetTerm& term : sum.offset.terms())
      if (term.coef < -kMaxPlace || term.coef > kMaxPlace)
        return fail(
            diag(DiagKind::Overflow, "offset {} leaves ±2^60", term.coef).with_span(amount.span));
    return {};
  }

  // ---- S[…] and R[…] ----
  Result<Spec> spec(bool is_shard) {
    Spec out;
    const std::size_t begin = take().span.begin;  // the name
    skip();                                       // '['
    if (!is("]")) {
      const bool scalar = !is("(");
      WW_TRY_VOID(extents(out, is_shard));
      if (accept(":")) {
        WW_TRY_VOID(strides(out, scalar && out.iters.size() == 1));
      } else {
        WW_TRY_VOID(row_major(out.iters, since(begin)));
      }
    }
    WW_TRY_VOID(expect("]", "to close the list"));
    out.span = since(begin);
    return out;
  }

  static Result<void> row_major(Iters& iters, Span span) {
    std::int64_t stride = 1;
    for (std::size_t i = iters.size(); i-- > 0;) {
      iters[i].stride = stride;
      if (i == 0) break;
      if (iters[i].extent > kMaxSize / stride)
        return fail(
            diag(DiagKind::Overflow, "more than {} elements (2^38, the largest layout)", kMaxSize)
                .with_span(span));
      stride *= iters[i].extent;
    }
    return {};
  }

  Result<void> extents(Spec& out, bool may_be_unknown) {
    const bool parenthesised = accept("(");
    if (parenthesised && accept(")")) return {};
    do {
      if (parenthesised && is(")") && !out.iters.empty()) break;  // trailing comma
      const bool first = out.iters.empty();
      out.iters.push_back({WW_TRY(extent(may_be_unknown && first)), 1, Axis()});
    } while (accept(","));
    if (parenthesised) WW_TRY_VOID(expect(")", "to close the extents"));
    return {};
  }

  // The usual case, a literal that ends here; everything else goes through the expression grammar.
  [[nodiscard]] bool literal_ends(std::size_t ahead) const {
    return is(",", ahead) || is(")", ahead) || is("]", ahead) || is(":", ahead);
  }

  Result<std::int64_t> extent(bool may_be_unknown) {
    const Span span = peek().span;
    if (peek().kind == TokenKind::Int && peek().value >= 1 && peek().value <= kMaxPlace &&
        literal_ends(1))
      return take().value;
    if (accept("?")) {
      if (may_be_unknown) return kUnknownExtent;
      return fail(diag(DiagKind::BadExtent, "only the first extent of `S[…]` may be unknown (`?`)")
                      .with_span(span));
    }
    const Amount amount = WW_TRY(product());
    if (!amount.is_integer())
      return fail(diag(DiagKind::Syntax, "expected an integer extent").with_span(amount.span));
    if (amount.plain.constant() < 1)
      return fail(diag(DiagKind::BadExtent, "extent {} is not positive", amount.plain.constant())
                      .with_span(amount.span));
    return amount.plain.constant();
  }

  Result<void> strides(Spec& out, bool one_bare_extent) {
    const std::size_t begin = peek().span.begin;
    Iters list;
    const bool pair_for_one =
        one_bare_extent && is("(") && is(",", 2) && peek(3).kind == TokenKind::String;
    if (is("(") && !pair_for_one) {
      skip();
      do {
        if (is(")") && !list.empty()) break;  // trailing comma
        list.push_back(WW_TRY(stride()));
      } while (accept(","));
      WW_TRY_VOID(expect(")", "to close the strides"));
    } else {
      list.push_back(WW_TRY(stride()));
    }
    if (list.size() != out.iters.size())
      return fail(diag(DiagKind::CountMismatch, "{} extent{} but {} stride{}", out.iters.size(),
                       out.iters.size() == 1 ? "" : "s", list.size(), list.size() == 1 ? "" : "s")
                      .with_span(since(begin)));
    for (std::size_t i = 0; i < list.size(); ++i) {
      out.iters[i].stride = list[i].stride;
      out.iters[i].axis = list[i].axis;
    }
    return {};
  }

  Result<Iter> stride() {
    if (peek().kind == TokenKind::String) return Iter{1, 1, WW_TRY(axis(take()))};
    if (peek().kind == TokenKind::Int && peek().value <= kMaxPlace) {
      if (literal_ends(1)) return Iter{1, take().value, Axis()};
      if (is("@", 1) && peek(2).kind == TokenKind::Name && literal_ends(3)) {
        const std::int64_t value = take().value;
        skip();
        return Iter{1, value, WW_TRY(axis(take()))};
      }
    }
    const std::size_t begin = peek().span.begin;
    if (is("(") && is(",", 2)) {  // (stride, "axis")
      skip();
      const Amount amount = WW_TRY(product());
      WW_TRY_VOID(expect(",", "between stride and axis"));
      if (peek().kind != TokenKind::String) return unexpected("an axis name in quotes");
      const Axis on = WW_TRY(axis(take()));
      WW_TRY_VOID(expect(")", "to close the stride"));
      return whole_stride(amount, on, since(begin));
    }
    const Amount amount = WW_TRY(product());
    return whole_stride(amount, Axis(), amount.span);
  }

  static Result<Iter> whole_stride(const Amount& amount, Axis axis, Span span) {
    if (amount.is_integer()) return Iter{1, amount.plain.constant(), axis};
    const bool one_axis = amount.on_axes.size() == 1 && amount.plain == Expr(0) &&
                          amount.on_axes[0].second.is_constant();
    if (!one_axis)
      return fail(diag(DiagKind::Syntax, "expected a stride: an integer, alone or on one axis")
                      .with_span(span));
    return Iter{1, amount.on_axes[0].second.constant(), amount.on_axes[0].first};
  }

  std::string_view text_;
};

constexpr std::size_t kLongestNotation = 1 << 20;

Result<Parser> open(std::string_view text, const Names& names) {
  if (text.size() > kLongestNotation)
    return fail(DiagKind::TooLarge, "the notation has {} bytes, more than {}", text.size(),
                kLongestNotation);
  return Parser(text, names, WW_TRY(lex_notation(text)));
}

}  // namespace

Result<Layout> parse_layout(std::string_view text, const Names& names) {
  return WW_TRY(open(text, names)).layout_to_end();
}
Result<Shape> parse_shape(std::string_view text) {
  const Names names;
  return WW_TRY(open(text, names)).shape_to_end();
}
Result<Expr> parse_expr(std::string_view text, const Names& names) {
  return WW_TRY(open(text, names)).expr_to_end();
}

// --- text print ----------------------------------------------------------------------------------
//
// Prints layouts in the notation of text.h.

namespace {

void append_list(std::string& out, std::string_view name, const Iters& iters) {
  append(out, "{}[", name);
  const bool many = iters.size() > 1;
  const auto list = [&](auto&& item) {
    if (many) out += '(';
    for (std::size_t i = 0; i < iters.size(); ++i) {
      if (i > 0) out += ',';
      out += item(iters[i]);
    }
    if (many) out += ')';
  };
  if (!iters.empty()) {
    list([](const Iter& iter) {
      return iter.extent == kUnknownExtent ? std::string("?") : fmt::format("{}", iter.extent);
    });
    out += ':';
    list([](const Iter& iter) { return place_text(iter.stride, iter.axis); });
  }
  out += ']';
}

void append_offset(std::string& out, Axis axis, const Expr& amount) {
  const std::string suffix = axis == Axis() ? std::string() : fmt::format("@{}", axis.name());
  if (!amount.is_constant()) {
    append(out, " + ({}){}", amount.text(), suffix);
    return;
  }
  const std::int64_t value = amount.constant();
  append(out, " {} {}{}", value < 0 ? '-' : '+', value < 0 ? -value : value, suffix);
}

}  // namespace

std::string place_text(std::int64_t value, Axis axis) {
  return axis == Axis() ? fmt::format("{}", value) : fmt::format("{}@{}", value, axis.name());
}

std::string to_text(const TileLayout& layout) {
  std::string out;
  append_list(out, "S", layout.shard());
  if (!layout.replica().empty()) {
    out += " + ";
    append_list(out, "R", layout.replica());
  }
  for (const Axis axis : layout.offset().axes()) append_offset(out, axis, layout.offset().on(axis));
  return out;
}

std::string to_text(const Layout& layout) {
  if (!layout.is_swizzled()) return to_text(layout.tile());
  const Swizzle& s = layout.swizzle();
  return fmt::format("ComposeLayout({}, {}, {}, {}{})", s.per_element(), s.len(), s.atom(),
                     to_text(layout.tile()), s.inner() ? "" : ", swizzle_inner=False");
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += ',';
    out += shape[i] == kUnknownExtent ? "?" : fmt::format("{}", shape[i]);
  }
  return out + ")";
}

}  // namespace ww::layout
