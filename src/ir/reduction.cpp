// SPDX-License-Identifier: Apache-2.0
#include "ir/reduction.h"

namespace ww::ir {

bool is_reduction(TileOp op) { return op == TileOp::Sum || op == TileOp::Max || op == TileOp::Min; }

ExprOp folding_operator(TileOp op) {
  if (op == TileOp::Sum) return ExprOp::Add;
  return op == TileOp::Max ? ExprOp::Max : ExprOp::Min;
}

num::DType fold_type(num::DType dtype) {
  if (num::bits_of(dtype) >= 32) return dtype;
  return is_float(dtype) ? num::DType::Float32 : num::DType::Int32;
}

std::size_t folded_dimension(const TileCall& call) {
  const auto* setting = std::get_if<Setting>(&call.args[2]);
  const auto* given = setting == nullptr ? nullptr : std::get_if<std::int64_t>(setting);
  const std::int64_t axis = given == nullptr ? -1 : *given;
  const auto rank = static_cast<std::int64_t>(std::get<Region>(call.args[1]).ranges.size());
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

}  // namespace ww::ir
