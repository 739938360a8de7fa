// SPDX-License-Identifier: Apache-2.0
// Floats: every operation is rounded once to its type. `.rn` is written out, since ptxas may fuse
// operations that do not say how they round. float16 has its own instructions from the start,
// bfloat16 only on newer targets; what has none goes through float32, which is wide enough that
// rounding its result again gives what rounding once would.
#include "emit/ptx/floats.h"

#include <array>

#include "emit/ptx/casts.h"
#include "emit/ptx/integers.h"
#include "emit/ptx/math.h"

namespace ww::emit::to_ptx {
namespace {

std::string_view float_word(ExprOp op) {
  return word_for(op,
                  {{ExprOp::Add, "add.rn"},
                   {ExprOp::Sub, "sub.rn"},
                   {ExprOp::Mul, "mul.rn"},
                   {ExprOp::Div, "div.rn"},
                   {ExprOp::Min, "min"},
                   {ExprOp::Max, "max"}},
                  "");
}

// True where the comparison does not hold, also of NaN.
std::string_view opposite_word(ExprOp op) {
  return word_for(op, {{ExprOp::Lt, "geu"}, {ExprOp::Le, "gtu"}, {ExprOp::Gt, "leu"}}, "ltu");
}

// Whether the type has an instruction of its own for the operator.
bool is_native(const Context& c, DType type, ExprOp op) {
  if (type == DType::Float32 || type == DType::Float64) return true;
  const target::Target& target = c.options.target;
  const bool is_extreme = op == ExprOp::Min || op == ExprOp::Max;
  if (op == ExprOp::Div) return false;
  if (type == DType::Float16)
    return !is_extreme || (target.has(target::Feature::Sm80) && target.ptx >= 70);
  if (type != DType::Bfloat16) return false;
  if (is_extreme || op == ExprOp::Neg) return target.has(target::Feature::Sm80) && target.ptx >= 70;
  return target.has(target::Feature::Sm90) && target.ptx >= 78;
}

}  // namespace

Value float_op(Context& c, ExprOp op, DType type, Value a, Value b) {
  switch (op) {
    case ExprOp::FloorDiv:
    case ExprOp::TruncDiv: {
      const auto rounding = op == ExprOp::FloorDiv ? Intrinsic::Floor : Intrinsic::Trunc;
      const Value quotient = float_op(c, ExprOp::Div, type, a, b);
      return float_call(c, rounding, type, {&quotient, 1});
    }
    case ExprOp::FloorMod: {
      const Value whole = float_op(c, ExprOp::FloorDiv, type, a, b);
      return float_op(c, ExprOp::Sub, type, a, float_op(c, ExprOp::Mul, type, whole, b));
    }
    case ExprOp::TruncMod: {
      const std::array<Value, 2> both = {a, b};
      return float_call(c, Intrinsic::Fmod, type, both);
    }
    default:
      break;
  }
  if (!is_native(c, type, op)) {
    // One after the other: compilers choose the order of arguments.
    const Value left = to_f32(c, a, type), right = to_f32(c, b, type);
    return from_f32(c, float_op(c, op, DType::Float32, left, right), type);
  }
  const Class cls = class_of(type);
  return c.code.pure(fmt::format("{}.{}", float_word(op), arith_type(type)), cls,
                     {c.code.in_register(a), cls == Class::Rs ? c.code.in_register(b) : b});
}

// ptxas knows that |x|, x·x or exp2(x) is not below 0 and takes `|x| >= 0` for true, for NaN too.
// It does so with float32 and a constant lower bound, and not where the opposite is asked for.
Value float_compare(Context& c, ExprOp op, DType type, Value a, Value b) {
  if (!is_native(c, type, ExprOp::Add) && type != DType::Float32) {
    const Value left = to_f32(c, a, type), right = to_f32(c, b, type);
    return float_compare(c, op, DType::Float32, left, right);
  }
  const bool has_lower_bound =
      type == DType::Float32 &&
      (((op == ExprOp::Ge || op == ExprOp::Gt) && b.is_constant() && !a.is_constant()) ||
       ((op == ExprOp::Le || op == ExprOp::Lt) && a.is_constant() && !b.is_constant()));
  const std::string_view word = has_lower_bound    ? opposite_word(op)
                                : op == ExprOp::Ne ? "neu"
                                                   : compare_word(op);
  const Value out =
      c.code.pure(fmt::format("setp.{}.{}", word, arith_type(type)), Class::P,
                  {c.code.in_register(a), class_of(type) == Class::Rs ? c.code.in_register(b) : b});
  return has_lower_bound ? negated(c, out) : out;
}

// Changing the sign changes one bit, whatever the number.
Value float_unary(Context& c, ExprOp op, DType type, Value a) {
  if (op != ExprOp::Neg) {
    refuse(c, "`~` of `{}`", num::name_of(type));
    return a;
  }
  if (is_native(c, type, op))
    return c.code.pure(fmt::format("neg.{}", arith_type(type)), class_of(type),
                       {c.code.in_register(a)});
  const std::int64_t sign = std::int64_t{1} << (num::bits_of(type) - 1);
  return c.code.pure(fmt::format("xor.{}", type_of(class_of(type))), class_of(type),
                     {c.code.in_register(a), int_value(sign, class_of(type))});
}

Value fused(Context& c, DType type, Value x, Value y, Value z) {
  const bool is_half = type == DType::Float16 ||
                       (type == DType::Bfloat16 && c.options.target.has(target::Feature::Sm80));
  if (type == DType::Float32 || type == DType::Float64 || is_half)
    return c.code.pure(fmt::format("fma.rn.{}", arith_type(type)), class_of(type),
                       {c.code.in_register(x), c.code.in_register(y), c.code.in_register(z)});
  refuse(c, "`T.fma` of `{}`", num::name_of(type));
  return x;
}

}  // namespace ww::emit::to_ptx
