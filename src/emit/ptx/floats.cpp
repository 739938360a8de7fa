// SPDX-License-Identifier: Apache-2.0
// Floats: every operation is rounded once to its type. `.rn` is written out, since ptxas may fuse
// operations that do not say how they round. float16 has its own instructions from the start,
// bfloat16 only on newer targets; what has none goes through float32, which is wide enough that
// rounding its result again gives what rounding once would.
#include <array>

#include "emit/ptx/emitter.h"

namespace ww::emit::to_ptx {
namespace {

std::string_view word_of(ExprOp op) {
  switch (op) {
    case ExprOp::Add:
      return "add.rn";
    case ExprOp::Sub:
      return "sub.rn";
    case ExprOp::Mul:
      return "mul.rn";
    case ExprOp::Div:
      return "div.rn";
    case ExprOp::Min:
      return "min";
    case ExprOp::Max:
      return "max";
    default:
      return "";
  }
}

// True where the comparison does not hold, also of NaN.
std::string_view opposite_word(ExprOp op) {
  switch (op) {
    case ExprOp::Lt:
      return "geu";
    case ExprOp::Le:
      return "gtu";
    case ExprOp::Gt:
      return "leu";
    default:
      return "ltu";
  }
}

std::string_view float_compare_word(ExprOp op) {
  switch (op) {
    case ExprOp::Eq:
      return "eq";
    case ExprOp::Ne:
      return "neu";
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

}  // namespace

// Whether the type has an instruction of its own for the operator.
bool Emitter::is_native(DType type, ExprOp op) const {
  if (type == DType::Float32 || type == DType::Float64) return true;
  const target::Target& target = options_.target;
  const bool is_extreme = op == ExprOp::Min || op == ExprOp::Max;
  if (op == ExprOp::Div) return false;
  if (type == DType::Float16)
    return !is_extreme || (target.has(target::Feature::Sm80) && target.ptx >= 70);
  if (type != DType::Bfloat16) return false;
  if (is_extreme || op == ExprOp::Neg) return target.has(target::Feature::Sm80) && target.ptx >= 70;
  return target.has(target::Feature::Sm90) && target.ptx >= 78;
}

Value Emitter::float_op(ExprOp op, DType type, Value a, Value b) {
  switch (op) {
    case ExprOp::FloorDiv:
    case ExprOp::TruncDiv: {
      const auto rounding = op == ExprOp::FloorDiv ? Intrinsic::Floor : Intrinsic::Trunc;
      const Value quotient = float_op(ExprOp::Div, type, a, b);
      return float_call(rounding, type, {&quotient, 1});
    }
    case ExprOp::FloorMod: {
      const Value whole = float_op(ExprOp::FloorDiv, type, a, b);
      return float_op(ExprOp::Sub, type, a, float_op(ExprOp::Mul, type, whole, b));
    }
    case ExprOp::TruncMod: {
      const std::array<Value, 2> both = {a, b};
      return float_call(Intrinsic::Fmod, type, both);
    }
    default:
      break;
  }
  if (!is_native(type, op))
    return from_f32(float_op(op, DType::Float32, to_f32(a, type), to_f32(b, type)), type);
  const Class cls = class_of(type);
  return code_.pure(fmt::format("{}.{}", word_of(op), arith_type(type)), cls,
                    {code_.in_register(a), cls == Class::Rs ? code_.in_register(b) : b});
}

// ptxas knows that |x|, x·x or exp2(x) is not below 0 and takes `|x| >= 0` for true, for NaN too.
// It does so with float32 and a constant lower bound, and not where the opposite is asked for.
Value Emitter::float_compare(ExprOp op, DType type, Value a, Value b) {
  if (!is_native(type, ExprOp::Add) && type != DType::Float32)
    return float_compare(op, DType::Float32, to_f32(a, type), to_f32(b, type));
  const bool has_lower_bound =
      type == DType::Float32 &&
      (((op == ExprOp::Ge || op == ExprOp::Gt) && b.is_constant() && !a.is_constant()) ||
       ((op == ExprOp::Le || op == ExprOp::Lt) && a.is_constant() && !b.is_constant()));
  const std::string_view word = has_lower_bound ? opposite_word(op) : float_compare_word(op);
  const Value out =
      code_.pure(fmt::format("setp.{}.{}", word, arith_type(type)), Class::P,
                 {code_.in_register(a), class_of(type) == Class::Rs ? code_.in_register(b) : b});
  return has_lower_bound ? negated(out) : out;
}

// Changing the sign changes one bit, whatever the number.
Value Emitter::float_unary(ExprOp op, DType type, Value a) {
  if (op != ExprOp::Neg) {
    refuse(DiagKind::NotEmitted, "`~` of `{}`", num::name_of(type));
    return a;
  }
  if (is_native(type, op))
    return code_.pure(fmt::format("neg.{}", arith_type(type)), class_of(type),
                      {code_.in_register(a)});
  const std::int64_t sign = std::int64_t{1} << (num::bits_of(type) - 1);
  return code_.pure(fmt::format("xor.{}", type_of(class_of(type))), class_of(type),
                    {code_.in_register(a), int_value(sign, class_of(type))});
}

Value Emitter::fused(DType type, Value a, Value b, Value c) {
  const bool is_half = type == DType::Float16 ||
                       (type == DType::Bfloat16 && options_.target.has(target::Feature::Sm80));
  if (type == DType::Float32 || type == DType::Float64 || is_half)
    return code_.pure(fmt::format("fma.rn.{}", arith_type(type)), class_of(type),
                      {code_.in_register(a), code_.in_register(b), code_.in_register(c)});
  refuse(DiagKind::NotEmitted, "`T.fma` of `{}`", num::name_of(type));
  return a;
}

}  // namespace ww::emit::to_ptx
