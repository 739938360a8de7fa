// SPDX-License-Identifier: Apache-2.0
// Registers that the compiler takes for a tile: primitives on registers work on memory through them.
#pragma once

#include <optional>
#include <string_view>

#include "layout/layout.h"
#include "lower/lowered_op.h"

namespace ww::lower {

/// Registers by thread and place, for the elements of an operand in order.
struct Fragment {
  std::vector<std::int64_t> thread, slot;
  std::vector<std::int64_t> part = {};  // its extents, where each CTA has a part of the operand
};

/// Global or shared.
bool is_memory(ir::Scope scope);
/// Nothing: no layout says so.
std::optional<layout::TileLayout> fragment_layout(const Call& call, const Fragment& fragment);
/// A buffer for the operand, which the expansion allocates: all of it. Declines what takes more
/// registers than a thread has; `how` smaller tiles are taken is part of the reason.
Match<ir::Region> add_fragment(const Call& call, std::size_t argument, const Fragment& fragment,
                               std::string_view how, Expansion& out);
/// A copy of the call's unit.
ir::TileCall copy_of(const Call& call, ir::TileArg to, ir::TileArg from);

}  // namespace ww::lower
