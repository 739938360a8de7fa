// SPDX-License-Identifier: Apache-2.0
#include "lower/lowered_op.h"

namespace ww::lower {

const LoweredOp* find_lowered_op(ir::TileOp op) {
  static constexpr LoweredOp kRows[] = {
#define WW_LOWERED_OP(op, expand, prove) {ir::TileOp::op, expand, prove},
#include "lower/ops.def"
#undef WW_LOWERED_OP
#define WW_ELEMENTWISE(id, name, parameters, group, computed_by) \
  {ir::TileOp::id, nullptr, prove_elementwise},
#include "ir/tile_ops.def"
  };
  for (const LoweredOp& row : kRows)
    if (row.op == op) return &row;
  return nullptr;
}

Proof prove_written(const Call& call, const ir::Block& code,
                    const std::optional<EarlierRead>& read) {
  const Proof proof = find_lowered_op(call.tile.op)->prove(call, code);
  return proof.holds() && read ? prove_in_place(call, code, *read) : proof;
}

}  // namespace ww::lower
