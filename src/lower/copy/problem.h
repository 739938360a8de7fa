// SPDX-License-Identifier: Apache-2.0
// A copy as a relation between places: its two sides (lower/operand_places.h), whose elements are
// numbered alike because both regions agree in their extents, and the conditions under which it is
// made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lower/as_index.h"
#include "lower/operand_places.h"
#include "lower/reach.h"

namespace ww::lower {

struct CopyProblem {
  std::int64_t elements = 0;  // of the tile
  OperandPlaces dst, src;
  ir::ExprId predicate;  // nothing is copied where it is false; none: all is
  std::optional<OperandPlaces> mask =
      {};              // a bool for each element, which says the same of it alone
  bool fills = false;  // a value arrives instead of what is not copied

  /// May that value arrive?
  [[nodiscard]] bool may_fill() const {
    return fills && (predicate.valid() || mask || !src.edges.empty());
  }
  /// The side in registers, if there is one; the destination if both are.
  [[nodiscard]] const OperandPlaces* register_side() const;
  /// Does one bool decide all of these elements, each `vec` of them?
  [[nodiscard]] bool is_one_mask(std::span<const std::int32_t> chosen, std::int64_t vec) const;
  /// Where thread u of the unit reads the bool of element x; -1 when none of its registers has it.
  [[nodiscard]] std::int64_t mask_place(std::int32_t x, std::int64_t u) const;
};

/// The relation of a copy, or why there is none: a side that cannot be enumerated, source and
/// destination that overlap, two elements for one place. It is worked out once for a call.
Match<std::shared_ptr<const CopyProblem>> copy_problem(const Call& call);

/// Are the buffers two pieces of a pool, whatever the regions in them?
bool are_apart(const ir::Function& f, ir::BufferId a, ir::BufferId b);

/// The argument that is a tile of bools (`predicate=`), if the call has one.
inline constexpr std::size_t kMask = 2;
bool has_mask(const Call& call);
/// Declines a mask that the copy may write to.
Match<void> check_mask_apart(const Call& call);

/// Why there is no relation, where that holds for every way to make the copy.
std::optional<Decline> final_decline(const Match<std::shared_ptr<const CopyProblem>>& problem);

/// Declines a copy under a condition (`predicate=` of one value or of a tile, or a region that may leave its buffer), for the
/// variants that cannot make one.
Match<void> check_plain(const CopyProblem& problem);

/// Declines tensor memory, which loads and stores do not reach.
Match<void> check_no_tensor(const Call& call);

/// Declines all but copies from global to shared memory by threads that can be numbered.
Match<void> check_global_to_shared(const Call& call);

/// Declines settings this variant ignores: all that are given beside `predicate`, `fill_mode`,
/// `fill_value`, `clip` and those in `heeded`.
Match<void> check_settings(const Call& call, std::initializer_list<std::string_view> heeded = {});

/// The predicate of the call; none when it has none, or it is true.
ir::ExprId predicate_of(const Call& call, CodeWriter& write);

/// The value that arrives instead of what is not copied; bound to a name where it is no constant.
ir::ExprId fill_value_of(const Call& call, CodeWriter& code, const ir::Setting* setting);
/// Is it known to have no bit set?
bool is_zero_fill(const Call& call);

// --- registers -----------------------------------------------------------------------------------

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
