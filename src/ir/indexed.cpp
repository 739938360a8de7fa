// SPDX-License-Identifier: Apache-2.0
#include "ir/indexed.h"

#include "ir/settings.h"

namespace ww::ir {

bool is_indexed(TileOp op) {
  return op == TileOp::Gather || op == TileOp::Scatter || op == TileOp::ScatterAdd;
}

std::size_t table_argument(TileOp op) { return op == TileOp::Gather ? 1 : 0; }
std::size_t tile_argument(TileOp op) { return op == TileOp::Gather ? 0 : 1; }

std::size_t indexed_axis(const TileCall& call) {
  const auto& setting = std::get<Setting>(call.args[kAxisArgument]);
  const std::int64_t axis = std::get<std::int64_t>(setting);
  const auto& table = std::get<Region>(call.args[table_argument(call.op)]);
  return static_cast<std::size_t>(axis < 0 ? axis + std::ssize(table.ranges) : axis);
}

const Setting* indexed_fill(const TileCall& call) {
  return call.op == TileOp::Gather ? find_setting(call, "fill_value") : nullptr;
}

bool takes_any_index(const TileCall& call) {
  return call.op == TileOp::Gather ? indexed_fill(call) != nullptr
                                   : is_true(find_setting(call, "clip"));
}

IndexedShape indexed_shape(const std::vector<std::int64_t>& table, std::size_t axis,
                           std::int64_t tile_elements, std::int64_t indices) {
  IndexedShape out;
  for (std::size_t d = 0; d < table.size(); ++d)
    if (d != axis) (d < axis ? out.outer : out.inner) *= table[d];
  out.count = tile_elements / out.row_elements();
  out.has_one_each = indices != out.count;
  return out;
}

}  // namespace ww::ir
