// SPDX-License-Identifier: Apache-2.0
// Integers and bools. Integers of 8 and 16 bits are computed in 32 bits and wrapped to their width
// afterwards; since they are kept extended, what cannot leave the width needs no wrapping.
#include "emit/ptx/integers.h"

#include <bit>

#include "emit/ptx/casts.h"
#include "emit/ptx/exprs.h"
#include "ir/simplify/fold.h"

namespace ww::emit::to_ptx {
namespace {

bool is_power_of_two(const Value& value) {
  return value.is_constant() && value.bits > 0 &&
         std::has_single_bit(static_cast<std::uint64_t>(value.bits));
}

std::int64_t log2_of(std::int64_t value) {
  return std::countr_zero(static_cast<std::uint64_t>(value));
}

bool is_modulo(ExprOp op) { return op == ExprOp::FloorMod || op == ExprOp::TruncMod; }

bool commutes(ExprOp op) {
  switch (op) {
    case ExprOp::Add:
    case ExprOp::Mul:
    case ExprOp::Min:
    case ExprOp::Max:
    case ExprOp::BitAnd:
    case ExprOp::BitOr:
    case ExprOp::BitXor:
      return true;
    default:
      return false;
  }
}

std::string_view bits_type(DType type) { return num::bits_of(type) == 64 ? "b64" : "b32"; }

// A constant as the type of the suffix has it.
Value wrapped(std::string_view suffix, std::uint64_t bits, Class cls) {
  const DType type = suffix == "s32"   ? DType::Int32
                     : suffix == "u32" ? DType::Uint32
                                       : DType::Int64;
  return int_value(ir::wrap(type, static_cast<std::int64_t>(bits)), cls);
}

std::uint64_t low_bits(Value value) { return static_cast<std::uint64_t>(value.bits); }

// --- division ------------------------------------------------------------------------------------

// Division in PTX cuts towards zero. Where that leaves a remainder of the other sign than the
// divisor's, the floor is one less and the remainder one divisor more.
Value floor_fix(Context& c, ExprOp op, DType type, Value a, Value b, bool is_positive) {
  const std::string suffix(arith_type(type));
  const std::string bits(bits_type(type));
  const Value quotient = c.code.pure("div." + suffix, a.cls, {a, b});
  const Value rest = c.code.pure("sub." + suffix, a.cls,
                                 {a, c.code.pure("mul.lo." + suffix, a.cls, {quotient, b})});
  Value off;  // -1 or 0
  if (is_positive) {
    off = c.code.pure("shr." + suffix, a.cls, {rest, int_value(a.cls == Class::Rd ? 63 : 31)});
  } else {
    const Value zero = int_value(0, a.cls);
    const Value signs = c.code.pure("xor." + bits, a.cls, {rest, b});
    const Value differ = c.code.pure("setp.lt." + suffix, Class::P, {signs, zero});
    const Value is_off = c.code.pure("setp.ne.and." + suffix, Class::P, {rest, zero, differ});
    off = c.code.pure("selp." + bits, a.cls, {int_value(-1, a.cls), zero, is_off});
  }
  if (!is_modulo(op)) return wrap(c, type, c.code.pure("add." + suffix, a.cls, {quotient, off}));
  return c.code.pure("add." + suffix, a.cls, {rest, c.code.pure("and." + bits, a.cls, {off, b})});
}

Value divide(Context& c, ExprOp op, DType type, Value a, Value b, const ir::Expr& e) {
  const bool is_floor = op == ExprOp::FloorDiv || op == ExprOp::FloorMod;
  const bool is_positive =
      !is_signed(type) || (e.args.size() == 2 && c.ranges.range(e.args[0]).min >= 0);
  if (is_power_of_two(b) && (is_floor || is_positive)) {
    if (is_modulo(op))
      return c.code.pure(fmt::format("and.{}", bits_type(type)), a.cls,
                         {a, int_value(b.bits - 1, b.cls)});
    return b.bits == 1 ? a : shift(c, ExprOp::Shr, type, a, int_value(log2_of(b.bits)));
  }
  const ir::Range by = e.args.size() == 2 ? c.ranges.range(e.args[1]) : ir::Range{b.bits, b.bits};
  const bool is_plain = !is_floor || !is_signed(type) || (is_positive && by.min > 0);
  const bool is_index = e.args.size() == 2 && e.no_wrap;  // lowering divides by no 0
  const bool may_be_zero = b.is_constant() ? b.bits == 0 : by.min <= 0 && by.max >= 0 && !is_index;
  const auto quotient = [&] {
    if (!is_plain) return floor_fix(c, op, type, a, b, b.is_constant() && b.bits > 0);
    const std::string_view word = is_modulo(op) ? "rem" : "div";
    return wrap(c, type, c.code.pure(fmt::format("{}.{}", word, arith_type(type)), a.cls, {a, b}));
  };
  if (!may_be_zero) return quotient();
  // PTX leaves open what a division by 0 gives; here it is all bits, and the dividend as remainder.
  const Value by_zero = is_modulo(op) ? a : int_value(ir::wrap(type, -1), a.cls);
  if (b.is_constant()) return by_zero;
  return choose(c, compare(c, ExprOp::Eq, type, b, int_value(0, b.cls)), by_zero, quotient());
}

}  // namespace

// --- bools ---------------------------------------------------------------------------------------

Value negated(Context& c, Value predicate) {
  if (predicate.is_constant()) return int_value(predicate.bits == 0 ? 1 : 0, Class::P);
  return c.code.pure("not.pred", Class::P, {predicate});
}

Value as_int(Context& c, Value predicate) {
  if (predicate.is_constant()) return int_value(predicate.bits);
  return c.code.pure("selp.b32", Class::R, {int_value(1), int_value(0), predicate});
}

Value is_not_zero(Context& c, DType type, Value value) {
  if (type == DType::Bool) return value;
  if (is_float(type)) return float_compare(c, ExprOp::Ne, type, value, float_constant(type, 0));
  return compare(c, ExprOp::Ne, type, value, int_value(0, value.cls));
}

Value bool_op(Context& c, ExprOp op, Value a, Value b) {
  const bool is_and =
      op == ExprOp::And || op == ExprOp::BitAnd || op == ExprOp::Mul || op == ExprOp::Min;
  const bool is_or = op == ExprOp::Or || op == ExprOp::BitOr || op == ExprOp::Max;
  if (is_and || is_or) {
    if (a.is_constant()) std::swap(a, b);
    if (b.is_constant()) return (b.bits != 0) == is_and ? a : b;
    return c.code.pure(is_and ? "and.pred" : "or.pred", Class::P, {a, b});
  }
  if (op == ExprOp::BitXor || op == ExprOp::Ne || op == ExprOp::Add || op == ExprOp::Sub ||
      op == ExprOp::Eq) {
    const bool is_equal = op == ExprOp::Eq;
    if (a.is_constant()) std::swap(a, b);
    if (b.is_constant()) return (b.bits != 0) == is_equal ? a : negated(c, a);
    const Value differs = c.code.pure("xor.pred", Class::P, {a, b});
    return is_equal ? negated(c, differs) : differs;
  }
  const Value left = as_int(c, a), right = as_int(c, b);
  return compare(c, op, DType::Int32, left, right);
}

std::string_view compare_word(ExprOp op) {
  return word_for(op,
                  {{ExprOp::Eq, "eq"},
                   {ExprOp::Ne, "ne"},
                   {ExprOp::Lt, "lt"},
                   {ExprOp::Le, "le"},
                   {ExprOp::Gt, "gt"}},
                  "ge");
}

Value compare(Context& c, ExprOp op, DType type, Value a, Value b) {
  if (a.is_constant() && b.is_constant()) {
    const auto folded = ir::fold(op, {type, a.bits, 0}, {type, b.bits, 0});
    if (folded) return int_value(folded->integer, Class::P);
  }
  if (a.is_constant()) {
    std::swap(a, b);
    op = mirrored(op);
  }
  return c.code.pure(fmt::format("setp.{}.{}", compare_word(op), arith_type(type)), Class::P,
                     {a, b});
}

// --- operators -----------------------------------------------------------------------------------

Value wrap(Context& c, DType type, Value value) {
  const int bits = num::bits_of(type);
  if (bits >= 32 || is_float(type)) return value;
  if (value.is_constant()) return int_value(ir::wrap(type, value.bits));
  if (!is_signed(type))
    return c.code.pure("and.b32", Class::R, {value, int_value((std::int64_t{1} << bits) - 1)});
  if (bits == 4) return c.code.pure("bfe.s32", Class::R, {value, int_value(0), int_value(4)});
  return c.code.pure(fmt::format("cvt.s32.s{}", bits), Class::R, {value});
}

Value int_op(Context& c, ExprOp op, DType type, Value a, Value b, const ir::Expr& e) {
  if (a.is_constant() && b.is_constant()) {
    const auto folded = ir::fold(op, {type, a.bits, 0}, {type, b.bits, 0});
    if (folded) return int_value(folded->integer, a.cls);
  }
  if (a.is_constant() && commutes(op)) std::swap(a, b);
  const std::string_view suffix = arith_type(type);
  const auto plain = [&](std::string_view word, std::string_view of) {
    return c.code.pure(fmt::format("{}.{}", word, of), a.cls, {a, b});
  };
  switch (op) {
    case ExprOp::Add:
      return wrap(c, type, sum(c, suffix, a, b));
    case ExprOp::Sub:
      return wrap(c, type, plain("sub", suffix));
    case ExprOp::Mul:
      return wrap(c, type, product(c, suffix, a, b));
    case ExprOp::Min:
      return plain("min", suffix);
    case ExprOp::Max:
      return plain("max", suffix);
    case ExprOp::BitAnd:
      return plain("and", bits_type(type));
    case ExprOp::BitOr:
      return plain("or", bits_type(type));
    case ExprOp::BitXor:
      return plain("xor", bits_type(type));
    case ExprOp::Shl:
    case ExprOp::Shr:
      return shift(c, op, type, a, b);
    default:
      return divide(c, op, type, a, b, e);
  }
}

Value int_unary(Context& c, ExprOp op, DType type, Value a) {
  if (op == ExprOp::Neg)
    return wrap(c, type, c.code.pure(num::bits_of(type) == 64 ? "neg.s64" : "neg.s32", a.cls, {a}));
  return wrap(c, type, c.code.pure(fmt::format("not.{}", bits_type(type)), a.cls, {a}));
}

Value mad(Context& c, const ir::Expr& e) {
  const DType type = e.type.dtype;
  for (const ExprId arg : e.args)
    if (c.f[arg].has_effect) return {};
  for (std::size_t side = 0; side < 2; ++side) {
    const ir::Expr& factor = c.f[e.args[side]];
    if (factor.op != ExprOp::Mul || c.kept.contains(e.args[side].index)) continue;
    if (constant_of(c, e.args[side])) continue;
    const Value a = eval(c, factor.args[0]);
    const Value b = eval(c, factor.args[1]);
    const Value addend = eval(c, e.args[1 - side]);
    if (a.is_constant() || (b.is_constant() && b.bits == 1)) continue;
    return wrap(c, type,
                c.code.pure(fmt::format("mad.lo.{}", arith_type(type)), a.cls, {a, b, addend}));
  }
  return {};
}

// Amounts beyond the width shift everything out, in PTX as in the language. They are 32 bits wide.
// A constant one is spelled out: ptxas leaves out `shl.b64` by 64.
Value shift(Context& c, ExprOp op, DType type, Value a, Value b) {
  const int bits = num::bits_of(type);
  if (b.is_constant()) {
    const bool is_beyond = b.bits < 0 || b.bits >= bits;
    if (is_beyond && (op == ExprOp::Shl || !is_signed(type))) return int_value(0, a.cls);
    b = int_value(is_beyond ? bits - 1 : b.bits);
  } else if (b.cls == Class::Rd) {
    b = c.code.pure("cvt.u32.u64", Class::R,
                    {c.code.pure("min.u64", Class::Rd, {b, int_value(64, Class::Rd)})});
  }
  if (op == ExprOp::Shl)
    return wrap(c, type, c.code.pure(fmt::format("shl.{}", bits_type(type)), a.cls, {a, b}));
  const bool is_long = num::bits_of(type) == 64;
  const std::string_view suffix =
      is_signed(type) ? (is_long ? "s64" : "s32") : (is_long ? "u64" : "u32");
  return c.code.pure(fmt::format("shr.{}", suffix), a.cls, {a, b});
}

Value sum(Context& c, std::string_view suffix, Value a, Value b) {
  if (a.is_constant() && b.is_constant()) return wrapped(suffix, low_bits(a) + low_bits(b), a.cls);
  if (a.is_constant()) std::swap(a, b);
  if (b.is_constant() && b.bits == 0) return a;
  return c.code.pure(fmt::format("add.{}", suffix), a.cls, {a, b});
}

Value product(Context& c, std::string_view suffix, Value a, Value b) {
  if (a.is_constant() && b.is_constant()) return wrapped(suffix, low_bits(a) * low_bits(b), a.cls);
  if (a.is_constant()) std::swap(a, b);
  if (b.is_constant() && b.bits == 1) return a;
  return c.code.pure(fmt::format("mul.lo.{}", suffix), a.cls, {a, b});
}

}  // namespace ww::emit::to_ptx
