// SPDX-License-Identifier: Apache-2.0
// The grammar of amounts, by recursive descent. `@` binds like `*`, as it does in Python.
#include "layout/text_amounts.h"

#include <algorithm>
#include <utility>

#include "base/suggest.h"
#include "base/wide.h"

namespace ww::layout {
namespace {

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

}  // namespace

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

}  // namespace ww::layout
