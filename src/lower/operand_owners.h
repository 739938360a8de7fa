// SPDX-License-Identifier: Apache-2.0
// Whose registers hold an operand. A layout counts along thread axes (`laneid`, `wid_in_wg`, `tx`),
// each of them some digits of the thread's number in the CTA; a primitive wants the thread of its
// unit. What is between the digits that a layout uses does not tell threads apart: they hold the
// same elements. Digits above the unit must be those of the unit that executes the primitive.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lower/operand_places.h"

namespace ww::lower {

/// Digits [begin, end) of a thread's number in the CTA, or in the cluster for calls of that scope.
struct ThreadDigits {
  std::int64_t begin = 1, end = 0;  // end 0: all above
};
/// The digits that a thread axis counts; nothing: an axis beyond the unit of the call.
std::optional<ThreadDigits> digits_of(const Call& call, layout::Axis axis);
/// By how much a thread's number grows with one step on a thread axis.
std::int64_t threads_per_step(const Call& call, layout::Axis axis);

/// Where the elements of an operand are on the thread axes of its layout.
struct ThreadPlaces {
  std::vector<std::int64_t> owner;                          // by element, as `digits_of` counts
  std::vector<std::pair<layout::Axis, ir::ExprId>> starts;  // of the region, where not constant
};

/// Fills in `owner` and `spread` of an operand in registers, whose replicas are there already.
/// Declines axes other than registers' and those of threads in a CTA (for calls of a cluster, of CTAs
/// in it), and elements that are not in the unit, or not in the same thread of every unit that comes to the call.
Match<void> set_owners(const Call& call, const layout::TileLayout& whole,
                       const ThreadPlaces& places, OperandPlaces& side);

}  // namespace ww::lower
