// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the grammar in text.h. Amounts are affine expressions that may carry axes:
// `16*k@m + 2@warpid` is one amount with two axes. `@` binds like `*`, as it does in Python.
// One file above the usual length: the functions call each other in a circle, as the grammar does.
#include "layout/text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/append.h"
#include "base/suggest.h"
#include "base/wide.h"
#include "layout/text_lexer.h"

namespace ww::layout {
namespace {

constexpr int kMaxDepth = 64;

// An amount: the part without an axis, and the parts on axes.
struct Amount {
  Expr plain;
  std::vector<std::pair<Axis, Expr>> on_axes;
  Span span;

  [[nodiscard]] bool is_integer() const { return on_axes.empty() && plain.is_constant(); }
};

bool within_limits(const Expr& e) {
  const auto small = [](std::int64_t v) { return v >= -kMaxPlace && v <= kMaxPlace; };
  return small(e.constant()) && std::all_of(e.terms().begin(), e.terms().end(),
                                            [&](const Term& t) { return small(t.coef); });
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

class Parser {
 public:
  Parser(std::string_view text, const Names& names, std::vector<Token> tokens)
      : text_(text), names_(names), tokens_(std::move(tokens)) {}

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
  // ---- tokens ----
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  [[nodiscard]] bool is(std::string_view punct, std::size_t ahead = 0) const {
    const Token& token = peek(ahead);
    return token.kind == TokenKind::Punct &&
           token.text.front() == punct.front();  // `//` is the only `/`
  }
  Token take() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  bool accept(std::string_view punct) {
    if (!is(punct)) return false;
    ++at_;
    return true;
  }
  auto unexpected(std::string_view wanted) const {
    return fail(diag(DiagKind::Syntax, "found {}, expected {}", describe(peek()), wanted)
                    .with_span(peek().span));
  }
  Result<void> expect(std::string_view punct, std::string_view where) {
    if (accept(punct)) return {};
    return unexpected(fmt::format("`{}` {}", punct, where));
  }
  Result<void> expect_end() const {
    if (peek().kind == TokenKind::End) return {};
    return unexpected("`+` or the end");
  }
  [[nodiscard]] Span since(std::size_t begin) const {
    const std::size_t end = at_ == 0 ? begin : tokens_[at_ - 1].span.end;
    return Span::at(begin, std::max(begin, end));
  }
  Result<void> enter() {
    if (++depth_ <= kMaxDepth) return {};
    return fail(
        diag(DiagKind::Syntax, "nested deeper than {} levels", kMaxDepth).with_span(peek().span));
  }

  // ---- layouts ----
  Result<Layout> layout() {
    WW_TRY_VOID(enter());
    const bool call = peek().kind == TokenKind::Name && is("(", 1);
    Result<Layout> out = call ? named_call() : tile_sum();
    --depth_;
    return out;
  }

  Result<Layout> named_call() {
    const Token name = take();
    ++at_;  // '('
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
    at_ += 2;
    WW_TRY_VOID(expect("=", "after `swizzle_inner`"));
    const Token value = take();
    if (value.text == "True" || value.text == "true" || value.text == "1") return true;
    if (value.text == "False" || value.text == "false" || value.text == "0") return false;
    --at_;
    return unexpected("`True` or `False`");
  }

  Result<Layout> compose_call() {
    Swizzle swizzle;
    if (peek().kind == TokenKind::Name && peek().text == "SwizzleLayout") {
      ++at_;
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
    ++at_;                                        // '['
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
      ++at_;
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
        ++at_;
        return Iter{1, value, WW_TRY(axis(take()))};
      }
    }
    const std::size_t begin = peek().span.begin;
    if (is("(") && is(",", 2)) {  // (stride, "axis")
      ++at_;
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

  // ---- amounts ----
  Result<Amount> sum_of_amounts() {
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
    --depth_;
    return total;
  }

  static void negate(Amount& amount) {
    amount.plain *= -1;
    for (auto& [axis, value] : amount.on_axes) value *= -1;
  }

  static Result<void> check_amount(const Amount& amount) {
    const bool good = within_limits(amount.plain) &&
                      std::all_of(amount.on_axes.begin(), amount.on_axes.end(),
                                  [](const auto& part) { return within_limits(part.second); });
    if (good) return {};
    return fail(diag(DiagKind::Overflow, "the value leaves ±2^60").with_span(amount.span));
  }

  Result<Amount> product() {
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
    --depth_;
    return left;
  }

  Result<void> put_on_axis(Amount& amount) {
    if (!amount.on_axes.empty())
      return fail(diag(DiagKind::Syntax, "the amount is on axis `{}` already",
                       amount.on_axes[0].first.name())
                      .with_span(peek().span));
    if (peek().kind != TokenKind::Name && peek().kind != TokenKind::String)
      return unexpected("an axis name");
    amount.on_axes.emplace_back(WW_TRY(axis(take())), amount.plain);
    amount.plain = Expr(0);
    return {};
  }

  static Result<void> combine(Amount& left, std::string_view op, const Amount& right) {
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
      return fail(diag(DiagKind::Unprovable,
                       "`{}` {} {} does not split into digits of its variables", left.plain.text(),
                       op, d)
                      .with_span(left.span));
    left.plain = *result;
    return {};
  }

  static Result<void> multiply(Amount& left, const Amount& right) {
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
    if (!good)
      return fail(diag(DiagKind::Overflow, "the product leaves ±2^60").with_span(left.span));
    left.plain = value * k;
    return {};
  }

  Result<Amount> factor() {
    const Token token = peek();
    if (accept("-")) {
      WW_TRY_VOID(enter());
      Amount inner = WW_TRY(factor());
      --depth_;
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

  Result<Amount> symbol() {
    const Token token = take();
    const auto found = names_.symbols.find(token.text);
    if (found != names_.symbols.end()) return Amount{Expr(found->second), {}, token.span};
    std::vector<std::string_view> known;
    for (const auto& [name, sym] : names_.symbols) known.push_back(name);
    return fail(diag(DiagKind::UnknownName, "`{}` is not a declared variable{}", token.text,
                     did_you_mean(token.text, known))
                    .with_span(token.span));
  }

  Result<Axis> axis(const Token& token) {
    if (const auto found = names_.axes.find(token.text); found != names_.axes.end())
      return found->second;
    if (auto builtin = Axis::builtin(token.text)) return builtin;
    if (names_.on_undeclared_axis) names_.on_undeclared_axis(token.text, token.span);
    return located(Axis::declare(token.text, AxisKind::Unknown), token.span);
  }

  template <typename T>
  static Result<T> located(Result<T> result, Span span) {
    if (!result) return fail(std::move(result.error()).with_span(span));
    return result;
  }

  std::string_view text_;
  const Names& names_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

constexpr std::size_t kLongestNotation = 1 << 20;

Result<Parser> open(std::string_view text, const Names& names) {
  if (text.size() > kLongestNotation)
    return fail(DiagKind::TooLarge, "the notation has {} bytes, more than {}", text.size(),
                kLongestNotation);
  return Parser(text, names, WW_TRY(lex_notation(text)));
}

// ---- printing ----

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
