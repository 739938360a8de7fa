// SPDX-License-Identifier: Apache-2.0
// Which register of which thread holds which element of an operand.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/as_index.h"
#include "lower/operand_places.h"
#include "lower/reach.h"

namespace ww::lower {

/// Which element thread u of the unit has in which slot of an operand in registers: x = at(slot,
/// u), -1 for none. Every holder of an element of a destination gets it, one holder of a source's
/// gives it.
struct RegisterMap {
  std::int64_t first_slot = 0;
  std::int64_t slots = 0;
  std::int64_t threads = 1;
  std::vector<std::int32_t> cells;

  [[nodiscard]] std::int32_t at(std::int64_t slot, std::int64_t u) const {
    return cells[as_index(slot * threads + u)];
  }
  /// Does any thread have an element there?
  [[nodiscard]] bool is_occupied(std::int64_t slot) const;
};
/// The threads that have the elements, of so many.
Reach reach_of(const RegisterMap& map, std::size_t elements);
RegisterMap register_map(const Call& call, const OperandPlaces& side, bool is_dst);

}  // namespace ww::lower
