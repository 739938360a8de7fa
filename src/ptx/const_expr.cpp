// SPDX-License-Identifier: Apache-2.0
#include "ptx/const_expr.h"

#include <limits>
#include <string_view>

namespace ww::ptx {
namespace {

using Value = std::optional<Constant>;

constexpr int kDeepest = 64;
constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63U;

// Binary operators from the loosest to the tightest. Those with two characters come first, so that
// `<<` is not taken for `<`. The numbers are C's levels.
struct Operator {
  std::string_view text;
  int level;
};
constexpr Operator kOperators[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
    {"<<", 8}, {">>", 8}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
    {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};
constexpr int kTernary = 0;

Constant truth(bool holds) { return {holds ? 1U : 0U, false}; }

bool is_less(const Constant& a, const Constant& b) {
  if (a.is_unsigned || b.is_unsigned) return a.bits < b.bits;
  return static_cast<std::int64_t>(a.bits) < static_cast<std::int64_t>(b.bits);
}

std::uint64_t magnitude(const Constant& a) {
  return !a.is_unsigned && (a.bits & kSignBit) != 0 ? 0 - a.bits : a.bits;
}

// Rounds towards zero, and the remainder has the sign of the dividend; by magnitudes, so that
// nothing overflows.
Constant divide(Constant a, Constant b, bool wants_remainder) {
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  a.is_unsigned = b.is_unsigned = is_unsigned;
  const bool a_negative = !is_unsigned && (a.bits & kSignBit) != 0;
  const bool b_negative = !is_unsigned && (b.bits & kSignBit) != 0;
  if (wants_remainder) {
    const std::uint64_t rest = magnitude(a) % magnitude(b);
    return {a_negative ? 0 - rest : rest, is_unsigned};
  }
  const std::uint64_t quotient = magnitude(a) / magnitude(b);
  return {a_negative != b_negative ? 0 - quotient : quotient, is_unsigned};
}

// The result has the type of the left side. Only the low six bits of the distance count: PTX leaves
// this open, and ptxas does so.
Constant shift(const Constant& a, const Constant& b, bool left) {
  const std::uint64_t distance = b.bits & 63U;
  if (left) return {a.bits << distance, a.is_unsigned};
  if (a.is_unsigned) return {a.bits >> distance, true};
  return {static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) >> distance), false};
}

// `op` is one of kOperators; a division by zero is caught before.
Constant apply(std::string_view op, const Constant& a, const Constant& b) {
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  if (op == "||") return truth(a.bits != 0 || b.bits != 0);
  if (op == "&&") return truth(a.bits != 0 && b.bits != 0);
  if (op == "==") return truth(a.bits == b.bits);
  if (op == "!=") return truth(a.bits != b.bits);
  if (op == "<") return truth(is_less(a, b));
  if (op == ">") return truth(is_less(b, a));
  if (op == "<=") return truth(!is_less(b, a));
  if (op == ">=") return truth(!is_less(a, b));
  if (op == "<<" || op == ">>") return shift(a, b, op == "<<");
  if (op == "|") return {a.bits | b.bits, is_unsigned};
  if (op == "^") return {a.bits ^ b.bits, is_unsigned};
  if (op == "&") return {a.bits & b.bits, is_unsigned};
  if (op == "+") return {a.bits + b.bits, is_unsigned};
  if (op == "-") return {a.bits - b.bits, is_unsigned};
  if (op == "*") return {a.bits * b.bits, is_unsigned};
  return divide(a, b, op == "%");
}

class Reader {
 public:
  explicit Reader(Cursor& cursor) : cursor_(cursor) {}

  // An expression of operators at `level` or tighter.
  Value expression(int level) {
    if (++depth_ > kDeepest) return too_deep();
    Value left = unary();
    while (left) {
      const Operator* op = operator_here();
      if (op == nullptr || op->level < level) break;
      left = binary(*left, *op);
    }
    if (left && level == kTernary && cursor_.at('?')) left = choice(*left);
    --depth_;
    return left;
  }

 private:
  Value too_deep() {
    cursor_.fatal(diag(DiagKind::TooLarge, "the expression nests more than {} deep", kDeepest)
                      .with_span(cursor_.peek().span()));
    return std::nullopt;
  }

  // The operator that begins at the cursor.
  [[nodiscard]] const Operator* operator_here() const {
    if (!at_operator(cursor_)) return nullptr;
    const std::string_view rest = cursor_.rest();
    for (const Operator& op : kOperators)
      if (rest.starts_with(op.text)) return &op;
    return nullptr;
  }

  Value binary(const Constant& left, const Operator& op) {
    const Span where = cursor_.peek().span();
    for (std::size_t i = 0; i < op.text.size(); ++i) cursor_.take_punct();
    const Value right = expression(op.level + 1);
    if (!right) return std::nullopt;
    if (right->bits == 0 && (op.text == "/" || op.text == "%")) {
      cursor_.error(diag(DiagKind::Syntax, "the expression divides by zero").with_span(where));
      return std::nullopt;
    }
    return apply(op.text, left, *right);
  }

  Value choice(const Constant& condition) {
    cursor_.take_punct();
    const Value yes = expression(kTernary);
    if (!yes || !cursor_.expect(':', "`:` of the `?`")) return std::nullopt;
    const Value no = expression(kTernary);
    if (!no) return std::nullopt;
    return Constant{condition.bits != 0 ? yes->bits : no->bits,
                    yes->is_unsigned || no->is_unsigned};
  }

  // Signs are applied from the inside out; a loop over them would have to remember them as well.
  Value unary() {
    if (depth_ > kDeepest) return too_deep();
    const char sign = cursor_.at_end() ? '\0' : cursor_.rest().front();
    if (sign != '-' && sign != '+' && sign != '~' && sign != '!') return primary();
    cursor_.take_punct();
    ++depth_;
    Value value = unary();
    --depth_;
    if (value && sign == '-') value->bits = 0 - value->bits;
    if (value && sign == '~') value->bits = ~value->bits;
    if (value && sign == '!') value = truth(value->bits == 0);
    return value;
  }

  Value primary() {
    if (cursor_.at('(')) return parenthesised();
    if (cursor_.peek().kind == TokenKind::Int) return literal();
    if (cursor_.at_word("WARP_SZ")) {
      cursor_.take();
      return Constant{32, false};
    }
    cursor_.unexpected("an integer");
    return std::nullopt;
  }

  Constant literal() {
    const Token token = cursor_.take();
    return {token.value, token.spelling.has_u_suffix || (token.value & kSignBit) != 0};
  }

  Value parenthesised() {
    cursor_.take_punct();
    if (cursor_.at_word(".s64") || cursor_.at_word(".u64")) return cast();
    const Value value = expression(kTernary);
    if (!value || !cursor_.expect(')', "`)`")) return std::nullopt;
    return value;
  }

  Value cast() {
    const bool is_unsigned = cursor_.take_word() == ".u64";
    if (!cursor_.expect(')', "`)`")) return std::nullopt;
    ++depth_;
    Value value = unary();
    --depth_;
    if (value) value->is_unsigned = is_unsigned;
    return value;
  }

  Cursor& cursor_;
  int depth_ = 0;
};

}  // namespace

std::optional<Constant> read_constant(Cursor& cursor) {
  return Reader(cursor).expression(kTernary);
}

Spelling spelling_of(const Constant& constant) {
  return {.radix = Radix::Decimal,
          .minus = !constant.is_unsigned && (constant.bits & kSignBit) != 0,
          .has_u_suffix = constant.is_unsigned};
}

}  // namespace ww::ptx
