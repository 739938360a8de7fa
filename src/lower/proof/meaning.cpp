// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/meaning.h"

namespace ww::lower {

using ir::ExprOp;
using ir::TileOp;
using num::DType;

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
      in_(ir::compute_type(call.f(), call.tile)) {
  for (const ElementwiseOperand& operand : operands)
    stretches_.emplace_back(extents, operand.elements ? operand.extents : extents);
}

Number ElementwiseMeaning::of(std::int64_t x) const {
  switch (op_) {
    case TileOp::Zero:
      return hashes::number_of(ir::convert({DType::Int32, 0, 0}, dst_));
    case TileOp::Fill:
    case TileOp::Memset:
    case TileOp::Cast:
      return as(dst_, 0, x);
    case TileOp::Select:
      return chosen(x);
    case TileOp::Fma:
      return hashes::cast(in_, dst_, fused(as(in_, 0, x), as(in_, 1, x), as(in_, 2, x)));
    default:
      break;
  }
  if (ir::is_arithmetic(op_))
    return hashes::cast(in_, dst_,
                        hashes::operated(ir::operator_of(op_), in_, as(in_, 0, x), as(in_, 1, x)));
  return hashes::cast(in_, dst_, function(argument(x)));
}

Number ElementwiseMeaning::as(DType type, std::size_t i, std::int64_t x) const {
  const ElementwiseOperand& operand = operands_[i];
  if (operand.constant) return hashes::number_of(ir::convert(*operand.constant, type));
  return hashes::cast(operand.type, type, own(i, x));
}

Number ElementwiseMeaning::own(std::size_t i, std::int64_t x) const {
  const ElementwiseOperand& operand = operands_[i];
  if (!operand.elements) return operand.number;
  return shared_.known_as(operand.number_of(stretches_[i](x)));
}

Number ElementwiseMeaning::chosen(std::int64_t x) const {
  const ElementwiseOperand& choice = operands_[2];
  if (choice.constant)
    return as(dst_, ir::convert(*choice.constant, DType::Bool).integer != 0 ? 0 : 1, x);
  const Number zero = hashes::number_of(ir::convert({DType::Int32, 0, 0}, choice.type));
  const Number is_yes = choice.type == DType::Bool
                            ? own(2, x)
                            : hashes::operated(ExprOp::Ne, choice.type, own(2, x), zero);
  return hashes::hashed(hashes::kChoice, 0, dst_, {is_yes, as(dst_, 0, x), as(dst_, 1, x)});
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
  const Number one = hashes::number_of({in_, 0, 1});
  switch (op_) {
    case TileOp::Sqrt:
      return hashes::called(ir::Intrinsic::Sqrt, in_, {x});
    case TileOp::Exp:
      return hashes::called(ir::Intrinsic::Exp, in_, {x});
    case TileOp::Exp2:
      return hashes::called(ir::Intrinsic::Exp2, in_, {x});
    case TileOp::Log2:
      return hashes::called(ir::Intrinsic::Log2, in_, {x});
    case TileOp::Reciprocal:
      return hashes::operated(ExprOp::Div, in_, one, x);
    default: {  // silu: x / (1 + exp(-x))
      const Number power = hashes::called(ir::Intrinsic::Exp, in_, {hashes::negated(in_, x)});
      return hashes::operated(ExprOp::Div, in_, x, hashes::operated(ExprOp::Add, in_, one, power));
    }
  }
}

}  // namespace ww::lower
