// SPDX-License-Identifier: Apache-2.0
// Integers and bools. Integers of 8 and 16 bits are computed in 32 bits and wrapped to their width
// afterwards; since they are kept extended, what cannot leave the width needs no wrapping.
#include <bit>

#include "emit/ptx/emitter.h"
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

std::string_view integer_compare_word(ExprOp op) {
  switch (op) {
    case ExprOp::Eq:
      return "eq";
    case ExprOp::Ne:
      return "ne";
    case ExprOp::Lt:
      return "lt";
    case ExprOp::Le:
      return "le";
    case ExprOp::Gt:
      return "gt";
    default:
      return "ge";
  }
}

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

}  // namespace

// --- bools ---------------------------------------------------------------------------------------

Value Emitter::negated(Value predicate) {
  if (predicate.is_constant()) return int_value(predicate.bits == 0 ? 1 : 0, Class::P);
  return code_.pure("not.pred", Class::P, {predicate});
}

Value Emitter::as_int(Value predicate) {
  if (predicate.is_constant()) return int_value(predicate.bits);
  return code_.pure("selp.b32", Class::R, {int_value(1), int_value(0), predicate});
}

Value Emitter::is_not_zero(DType type, Value value) {
  if (type == DType::Bool) return value;
  if (is_float(type)) return float_compare(ExprOp::Ne, type, value, float_constant(type, 0));
  return compare(ExprOp::Ne, type, value, int_value(0, value.cls));
}

Value Emitter::bool_op(ExprOp op, Value a, Value b) {
  const bool is_and =
      op == ExprOp::And || op == ExprOp::BitAnd || op == ExprOp::Mul || op == ExprOp::Min;
  const bool is_or = op == ExprOp::Or || op == ExprOp::BitOr || op == ExprOp::Max;
  if (is_and || is_or) {
    if (a.is_constant()) std::swap(a, b);
    if (b.is_constant()) return (b.bits != 0) == is_and ? a : b;
    return code_.pure(is_and ? "and.pred" : "or.pred", Class::P, {a, b});
  }
  if (op == ExprOp::BitXor || op == ExprOp::Ne || op == ExprOp::Add || op == ExprOp::Sub ||
      op == ExprOp::Eq) {
    const bool is_equal = op == ExprOp::Eq;
    if (a.is_constant()) std::swap(a, b);
    if (b.is_constant()) return (b.bits != 0) == is_equal ? a : negated(a);
    const Value differs = code_.pure("xor.pred", Class::P, {a, b});
    return is_equal ? negated(differs) : differs;
  }
  return compare(op, DType::Int32, as_int(a), as_int(b));
}

Value Emitter::compare(ExprOp op, DType type, Value a, Value b) {
  if (a.is_constant() && b.is_constant()) {
    const auto folded = ir::fold(op, {type, a.bits, 0}, {type, b.bits, 0});
    if (folded) return int_value(folded->integer, Class::P);
  }
  if (a.is_constant()) {
    std::swap(a, b);
    op = mirrored(op);
  }
  return code_.pure(fmt::format("setp.{}.{}", integer_compare_word(op), arith_type(type)), Class::P,
                    {a, b});
}

// --- operators -----------------------------------------------------------------------------------

Value Emitter::wrap(DType type, Value value) {
  const int bits = num::bits_of(type);
  if (bits >= 32 || is_float(type)) return value;
  if (value.is_constant()) return int_value(ir::wrap(type, value.bits));
  if (!is_signed(type))
    return code_.pure("and.b32", Class::R, {value, int_value((std::int64_t{1} << bits) - 1)});
  if (bits == 4) return code_.pure("bfe.s32", Class::R, {value, int_value(0), int_value(4)});
  return code_.pure(fmt::format("cvt.s32.s{}", bits), Class::R, {value});
}

Value Emitter::int_op(ExprOp op, DType type, Value a, Value b, const ir::Expr& e) {
  if (a.is_constant() && b.is_constant()) {
    const auto folded = ir::fold(op, {type, a.bits, 0}, {type, b.bits, 0});
    if (folded) return int_value(folded->integer, a.cls);
  }
  if (a.is_constant() && commutes(op)) std::swap(a, b);
  const std::string_view suffix = arith_type(type);
  const auto plain = [&](std::string_view word, std::string_view of) {
    return code_.pure(fmt::format("{}.{}", word, of), a.cls, {a, b});
  };
  switch (op) {
    case ExprOp::Add:
      return wrap(type, sum(suffix, a, b));
    case ExprOp::Sub:
      return wrap(type, plain("sub", suffix));
    case ExprOp::Mul:
      return wrap(type, product(suffix, a, b));
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
      return shift(op, type, a, b);
    default:
      return divide(op, type, a, b, e);
  }
}

Value Emitter::int_unary(ExprOp op, DType type, Value a) {
  if (op == ExprOp::Neg)
    return wrap(type, code_.pure(num::bits_of(type) == 64 ? "neg.s64" : "neg.s32", a.cls, {a}));
  return wrap(type, code_.pure(fmt::format("not.{}", bits_type(type)), a.cls, {a}));
}

// a·b + c in one instruction; none when neither side is a product that needs one, or when it
// matters which side comes first.
Value Emitter::mad(const ir::Expr& e) {
  const DType type = e.type.dtype;
  for (const ExprId arg : e.args)
    if (ir::has_effect(f_, arg, effects_)) return {};
  for (std::size_t side = 0; side < 2; ++side) {
    const ir::Expr& factor = f_[e.args[side]];
    if (factor.op != ExprOp::Mul || kept_.contains(e.args[side].index)) continue;
    if (constant_of(f_, e.args[side], ranges_)) continue;
    const Value a = eval(factor.args[0]);
    const Value b = eval(factor.args[1]);
    const Value c = eval(e.args[1 - side]);
    if (a.is_constant() || (b.is_constant() && b.bits == 1)) continue;
    return wrap(type, code_.pure(fmt::format("mad.lo.{}", arith_type(type)), a.cls, {a, b, c}));
  }
  return {};
}

// Amounts beyond the width shift everything out, in PTX as in the language. They are 32 bits wide.
// A constant one is spelled out: ptxas leaves out `shl.b64` by 64.
Value Emitter::shift(ExprOp op, DType type, Value a, Value b) {
  const int bits = num::bits_of(type);
  if (b.is_constant()) {
    const bool is_beyond = b.bits < 0 || b.bits >= bits;
    if (is_beyond && (op == ExprOp::Shl || !is_signed(type))) return int_value(0, a.cls);
    b = int_value(is_beyond ? bits - 1 : b.bits);
  } else if (b.cls == Class::Rd) {
    b = code_.pure("cvt.u32.u64", Class::R,
                   {code_.pure("min.u64", Class::Rd, {b, int_value(64, Class::Rd)})});
  }
  if (op == ExprOp::Shl)
    return wrap(type, code_.pure(fmt::format("shl.{}", bits_type(type)), a.cls, {a, b}));
  const bool is_long = num::bits_of(type) == 64;
  const std::string_view suffix =
      is_signed(type) ? (is_long ? "s64" : "s32") : (is_long ? "u64" : "u32");
  return code_.pure(fmt::format("shr.{}", suffix), a.cls, {a, b});
}

// --- division ------------------------------------------------------------------------------------

Value Emitter::divide(ExprOp op, DType type, Value a, Value b, const ir::Expr& e) {
  const bool is_floor = op == ExprOp::FloorDiv || op == ExprOp::FloorMod;
  const bool is_positive = !is_signed(type) || (e.args.size() == 2 && range(e.args[0]).min >= 0);
  if (is_power_of_two(b) && (is_floor || is_positive)) {
    if (is_modulo(op))
      return code_.pure(fmt::format("and.{}", bits_type(type)), a.cls,
                        {a, int_value(b.bits - 1, b.cls)});
    return b.bits == 1 ? a : shift(ExprOp::Shr, type, a, int_value(log2_of(b.bits)));
  }
  const ir::Range by = e.args.size() == 2 ? range(e.args[1]) : ir::Range{b.bits, b.bits};
  const bool is_plain = !is_floor || !is_signed(type) || (is_positive && by.min > 0);
  const bool is_index = e.args.size() == 2 && e.no_wrap;  // lowering divides by no 0
  const bool may_be_zero = b.is_constant() ? b.bits == 0 : by.min <= 0 && by.max >= 0 && !is_index;
  const auto quotient = [&] {
    if (!is_plain) return floor_fix(op, type, a, b, b.is_constant() && b.bits > 0);
    const std::string_view word = is_modulo(op) ? "rem" : "div";
    return wrap(type, code_.pure(fmt::format("{}.{}", word, arith_type(type)), a.cls, {a, b}));
  };
  if (!may_be_zero) return quotient();
  // PTX leaves open what a division by 0 gives; here it is all bits, and the dividend as remainder.
  const Value by_zero = is_modulo(op) ? a : int_value(ir::wrap(type, -1), a.cls);
  if (b.is_constant()) return by_zero;
  return choose(compare(ExprOp::Eq, type, b, int_value(0, b.cls)), by_zero, quotient());
}

// Division in PTX cuts towards zero. Where that leaves a remainder of the other sign than the
// divisor's, the floor is one less and the remainder one divisor more.
Value Emitter::floor_fix(ExprOp op, DType type, Value a, Value b, bool is_positive) {
  const std::string suffix(arith_type(type));
  const std::string bits(bits_type(type));
  const Value quotient = code_.pure("div." + suffix, a.cls, {a, b});
  const Value rest =
      code_.pure("sub." + suffix, a.cls, {a, code_.pure("mul.lo." + suffix, a.cls, {quotient, b})});
  Value off;  // -1 or 0
  if (is_positive) {
    off = code_.pure("shr." + suffix, a.cls, {rest, int_value(a.cls == Class::Rd ? 63 : 31)});
  } else {
    const Value zero = int_value(0, a.cls);
    const Value signs = code_.pure("xor." + bits, a.cls, {rest, b});
    const Value differ = code_.pure("setp.lt." + suffix, Class::P, {signs, zero});
    const Value is_off = code_.pure("setp.ne.and." + suffix, Class::P, {rest, zero, differ});
    off = code_.pure("selp." + bits, a.cls, {int_value(-1, a.cls), zero, is_off});
  }
  if (!is_modulo(op)) return wrap(type, code_.pure("add." + suffix, a.cls, {quotient, off}));
  return code_.pure("add." + suffix, a.cls, {rest, code_.pure("and." + bits, a.cls, {off, b})});
}

}  // namespace ww::emit::to_ptx
