// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/register_map.h"

#include <algorithm>

namespace ww::lower {

bool RegisterMap::is_occupied(std::int64_t slot) const {
  const auto row = cells.begin() + slot * threads;
  return std::any_of(row, row + threads, [](std::int32_t x) { return x >= 0; });
}

Reach reach_of(const RegisterMap& map, std::size_t elements) {
  Reach out(elements);
  for (std::int64_t slot = 0; slot < map.slots; ++slot)
    for (std::int64_t u = 0; u < map.threads; ++u)
      if (const std::int32_t x = map.at(slot, u); x >= 0) out[as_index(x)].add(u);
  return out;
}

RegisterMap register_map(const Call& call, const OperandPlaces& side, bool is_dst) {
  std::int64_t low = side.linear[0], high = side.linear[0];
  for (const std::int64_t slot : side.linear) {
    low = std::min(low, slot);
    high = std::max(high, slot);
  }
  std::int64_t most = 0;
  for (const Shift& replica : side.replicas) most = std::max(most, replica.place);
  RegisterMap map;
  map.first_slot = low;
  map.slots = high + most - low + 1;
  map.threads = call.unit_threads();
  map.cells.assign(as_index(map.slots * map.threads), -1);
  std::vector<bool> is_given(side.size(), false);
  for_each_holder(side, map.threads, [&](std::size_t x, std::int64_t u, std::int64_t slot) {
    if (is_given[x] && !is_dst) return;
    map.cells[as_index((slot - low) * map.threads + u)] = static_cast<std::int32_t>(x);
    is_given[x] = true;
  });
  return map;
}

}  // namespace ww::lower
