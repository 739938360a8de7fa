// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/meaning.h"

#include <bit>

#include "base/check.h"
#include "lower/elementwise/fast.h"

namespace ww::lower {

using ir::ExprOp;
using ir::TileOp;
using num::DType;

namespace {

// What the steps of fast forms and of casts give, of numbers that stand for values.
struct StepNumbers {
  using Value = Number;
  static constexpr DType kReal = DType::Float32;

  static Value constant(const ir::Constant& value) { return hashes::number_of(value); }
  static Value binary(ExprOp op, DType type, Value a, Value b) {
    return hashes::operated(op, type, a, b);
  }
  static Value call(ir::Intrinsic callee, DType type, std::initializer_list<Value> args) {
    return hashes::called(callee, type, args);
  }
  static Value cast(DType from, DType to, Value x) { return hashes::cast(from, to, x); }
  static Value unpacked(Value x) { return cast(DType::Float8E8M0, DType::Bfloat16, x); }
  static Value choose(Value condition, DType type, Value yes, Value no) {
    return hashes::hashed(hashes::kChoice, 0, type, {condition, yes, no});
  }
  static Value instruct(std::string_view opcode, DType type, std::initializer_list<Value> args) {
    const std::span<const Value> values(args.begin(), args.size());
    if (!hashes::is_of_two(opcode)) return hashes::instructed(opcode, type, values);
    return hashes::instructed(hashes::of_one(opcode), type, values);
  }

  static Value number(float value) { return constant({kReal, 0, double{value}}); }
  static Value mul(Value a, Value b) { return binary(ExprOp::Mul, kReal, a, b); }
  static Value add(Value a, Value b) { return binary(ExprOp::Add, kReal, a, b); }
  static Value fma(Value a, Value b, Value c) { return call(ir::Intrinsic::Fma, kReal, {a, b, c}); }
  static Value abs(Value a) { return call(ir::Intrinsic::Abs, kReal, {a}); }
  static Value copysign(Value size, Value sign) {
    return call(ir::Intrinsic::Copysign, kReal, {size, sign});
  }
  static Value approx(std::string_view opcode, std::initializer_list<Value> args) {
    return instruct(opcode, kReal, args);
  }
};

}  // namespace

Stretch::Stretch(const std::vector<std::int64_t>& into, const std::vector<std::int64_t>& from) {
  std::vector<std::int64_t> wide, narrow;
  for (const std::int64_t extent : into)
    if (extent != 1) wide.push_back(extent);
  for (const std::int64_t extent : from)
    if (extent != 1) narrow.push_back(extent);
  is_alike_ = wide == narrow;
  std::int64_t scale = 1;
  for (std::size_t back = 1; back <= from.size(); ++back) {
    const std::int64_t extent = from[from.size() - back];
    const std::int64_t whole = back <= into.size() ? into[into.size() - back] : 1;
    steps_.push_back({whole, extent == 1 ? 0 : scale});
    scale *= extent;
  }
}

std::int64_t Stretch::operator()(std::int64_t x) const {
  if (is_alike_) return x;
  std::int64_t y = 0;
  for (const Digit& digit : steps_) {
    y += x % digit.extent * digit.scale;
    x /= digit.extent;
  }
  return y;
}

ElementwiseMeaning::ElementwiseMeaning(const Call& call,
                                       const std::vector<ElementwiseOperand>& operands,
                                       const std::vector<std::int64_t>& extents,
                                       const SharedNumbers& shared)
    : op_(call.tile.op),
      operands_(operands),
      shared_(shared),
      dst_(call.f()[call.region(0).buffer].dtype),
      in_(ir::compute_type(call.f(), call.tile)),
      is_fast_(is_fast(call.tile, in_)) {
  if (op_ == TileOp::Cast) cast_ = cast_form(call).value();
  for (const ElementwiseOperand& operand : operands) {
    stretches_.emplace_back(extents, operand.elements ? operand.extents : extents);
    begun_.push_back(operand.begun());
  }
}

Number ElementwiseMeaning::of(std::int64_t x) const {
  if (op_ == TileOp::Zero) return converted({DType::Int32, 0, 0}, dst_);
  switch (ir::group_of(op_)) {
    case ir::ElementGroup::Move:
      return cast_ ? cast(own(0, x)) : as(dst_, 0, x);
    case ir::ElementGroup::Choice:
      return chosen(x);
    case ir::ElementGroup::Logic:
      return hashes::cast(DType::Bool, dst_, decided(x));
    case ir::ElementGroup::Comparison:
      return hashes::cast(DType::Bool, dst_, compared(x));
    default:
      return hashes::cast(in_, dst_, computed(x));
  }
}

Number ElementwiseMeaning::computed(std::int64_t x) const {
  if (is_fast_)
    return ir::is_function(op_) ? fast(argument(x), 0)
                                : fast(as(DType::Float32, 0, x), as(DType::Float32, 1, x));
  switch (ir::group_of(op_)) {
    case ir::ElementGroup::Function:
      return function(argument(x));
    case ir::ElementGroup::Number:
      return of_number(as(in_, 0, x));
    case ir::ElementGroup::Power:
      return hashes::called(ir::Intrinsic::Pow, in_, {as(in_, 0, x), as(in_, 1, x)});
    default:
      break;
  }
  if (op_ == TileOp::BitwiseNot) return hashes::changed(ExprOp::BitNot, in_, as(in_, 0, x));
  if (op_ == TileOp::Fma) return fused(as(in_, 0, x), as(in_, 1, x), as(in_, 2, x));
  if (op_ == TileOp::Clamp)
    return hashes::operated(ExprOp::Min, in_,
                            hashes::operated(ExprOp::Max, in_, as(in_, 0, x), as(in_, 1, x)),
                            as(in_, 2, x));
  return hashes::operated(ir::operator_of(op_), in_, as(in_, 0, x), as(in_, 1, x));
}

// Is the operand not 0?
Number ElementwiseMeaning::truth(std::size_t i, std::int64_t x) const {
  const ElementwiseOperand& operand = operands_[i];
  if (operand.constant) return converted(*operand.constant, DType::Bool);
  if (operand.type == DType::Bool) return own(i, x);
  const Number zero = converted({DType::Int32, 0, 0}, operand.type);
  return hashes::operated(ExprOp::Ne, operand.type, own(i, x), zero);
}

Number ElementwiseMeaning::decided(std::int64_t x) const {
  if (op_ == TileOp::LogicalNot) return hashes::changed(ExprOp::Not, DType::Bool, truth(0, x));
  return hashes::operated(ir::operator_of(op_), DType::Bool, truth(0, x), truth(1, x));
}

Number ElementwiseMeaning::compared(std::int64_t x) const {
  return hashes::operated(ir::operator_of(op_), in_, as(in_, 0, x), as(in_, 1, x));
}

// Whole numbers are rounded already.
Number ElementwiseMeaning::of_number(Number x) const {
  switch (op_) {
    case TileOp::Relu:
      return hashes::operated(ExprOp::Max, in_, x, converted({DType::Int32, 0, 0}, in_));
    case TileOp::Neg:
      return hashes::changed(ExprOp::Neg, in_, x);
    case TileOp::Abs:
      return hashes::called(ir::Intrinsic::Abs, in_, {x});
    default:
      return is_float(in_) ? hashes::called(*ir::callee_of(op_), in_, {x}) : x;
  }
}

Number ElementwiseMeaning::as(DType type, std::size_t i, std::int64_t x) const {
  const ElementwiseOperand& operand = operands_[i];
  if (operand.constant) return converted(*operand.constant, type);
  return hashes::cast(operand.type, type, own(i, x));
}

Number ElementwiseMeaning::converted(const ir::Constant& constant, DType type) const {
  const auto real = std::bit_cast<std::uint64_t>(constant.real);
  for (const Converted& known : converted_)
    if (known.from == constant.dtype && known.to == type && known.integer == constant.integer &&
        known.real == real)
      return known.number;
  const Number number = hashes::number_of(ir::convert(constant, type));
  converted_.push_back({constant.dtype, type, constant.integer, real, number});
  return number;
}

Number ElementwiseMeaning::own(std::size_t i, std::int64_t x) const {
  const ElementwiseOperand& operand = operands_[i];
  if (!operand.elements) return operand.number;
  return shared_.known_as(ElementwiseOperand::number_of(begun_[i], stretches_[i](x)));
}

Number ElementwiseMeaning::chosen(std::int64_t x) const {
  const ElementwiseOperand& choice = operands_[2];
  if (choice.constant)
    return as(dst_, ir::convert(*choice.constant, DType::Bool).integer != 0 ? 0 : 1, x);
  return hashes::hashed(hashes::kChoice, 0, dst_, {truth(2, x), as(dst_, 0, x), as(dst_, 1, x)});
}

Number ElementwiseMeaning::fused(Number a, Number b, Number c) const {
  if (is_float(in_)) return hashes::called(ir::Intrinsic::Fma, in_, {a, b, c});
  return hashes::operated(ExprOp::Add, in_, hashes::operated(ExprOp::Mul, in_, a, b), c);
}

Number ElementwiseMeaning::argument(std::int64_t x) const {
  const bool is_scaled = !operands_[1].is_left_out, is_moved = !operands_[2].is_left_out;
  if (is_scaled && is_moved) return fused(as(in_, 0, x), as(in_, 1, x), as(in_, 2, x));
  if (is_scaled) return hashes::operated(ExprOp::Mul, in_, as(in_, 0, x), as(in_, 1, x));
  if (is_moved) return hashes::operated(ExprOp::Add, in_, as(in_, 0, x), as(in_, 2, x));
  return as(in_, 0, x);
}

Number ElementwiseMeaning::function(Number x) const {
  if (const auto callee = ir::callee_of(op_)) return hashes::called(*callee, in_, {x});
  const Number one = hashes::number_of({in_, 0, 1});
  if (op_ == TileOp::Reciprocal) return hashes::operated(ExprOp::Div, in_, one, x);
  WW_CHECK(op_ == TileOp::Silu, "`{}` has no proof", ir::name_of(op_));
  const Number minus = hashes::changed(ExprOp::Neg, in_, x);  // x / (1 + exp(-x))
  const Number power = hashes::called(ir::Intrinsic::Exp, in_, {minus});
  return hashes::operated(ExprOp::Div, in_, x, hashes::operated(ExprOp::Add, in_, one, power));
}

Number ElementwiseMeaning::cast(Number x) const {
  StepNumbers values;
  return cast_value(values, *cast_, x);
}

Number ElementwiseMeaning::fast(Number x, Number y) const {
  StepNumbers values;
  return hashes::cast(DType::Float32, in_, FastForm<StepNumbers>(values, x, y).of(op_));
}

}  // namespace ww::lower
