// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/copied_tiles.h"

namespace ww::sim {

bool may_be_arranged(const TensorMap& map, std::uint32_t row_bytes) {
  constexpr std::uint32_t kLongestPattern = 1024;  // bytes, of 128B
  if (is_padded(map.type)) return false;
  return map.rank == 1 || row_bytes >= kLongestPattern || map.strides[0] == row_bytes;
}

void CopiedTiles::add(const CopiedTile& tile) {
  forget(tile.from, tile.end);
  tiles_.emplace(tile.end, tile);
}

void CopiedTiles::forget(std::uint32_t from, std::uint32_t end) {
  auto tile = tiles_.upper_bound(from);
  while (tile != tiles_.end() && tile->second.from < end) tile = tiles_.erase(tile);
}

const CopiedTile* CopiedTiles::find(std::uint32_t at) const {
  const auto tile = tiles_.upper_bound(at);
  return tile != tiles_.end() && tile->second.from <= at ? &tile->second : nullptr;
}

}  // namespace ww::sim
