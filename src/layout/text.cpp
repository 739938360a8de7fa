// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the grammar in text.h: layouts. text_amounts.h has the grammar of amounts.
#include "layout/text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/suggest.h"
#include "layout/text_amounts.h"

namespace ww::layout {
namespace {

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

}  // namespace ww::layout
