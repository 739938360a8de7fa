// SPDX-License-Identifier: Apache-2.0
// Tile primitives by their definition: all operands are read, values are computed, and written.
#pragma once

#include <span>
#include <string_view>

#include "eval/tile/operands.h"

namespace ww::eval {

/// Executes a primitive for each unit of the threads.
void call_tile(Cta& cta, const ir::TileCall& call, Threads ts);

void tile_copy(Cta& cta, const ir::TileCall& call, const UnitInstance& unit);
void tile_elementwise(Cta& cta, const ir::TileCall& call, const UnitInstance& unit);
/// The threads of a CTA that take part in a reduction: alone, or with those of the other CTAs of the
/// cluster, in their order.
struct ReduceMember {
  Cta* cta = nullptr;
  UnitInstance unit;
};
void tile_reduce(std::span<const ReduceMember> members, const ir::TileCall& call);
/// Makes the contents of a call's workspace undefined.
void forget_workspace(Cta& cta, const ir::TileCall& call);
void tile_indexed(Cta& cta, const ir::TileCall& call, const UnitInstance& unit);
void tile_scan(Cta& cta, const ir::TileCall& call, const UnitInstance& unit);
void tile_gemm(Cta& cta, const ir::TileCall& call, const UnitInstance& unit);
void tile_gemm_async(Cta& cta, const ir::TileCall& call, const UnitInstance& unit);

/// Stops the run: the primitive has no meaning, or none that is evaluated.
void tile_unsupported(Cta& cta, const ir::TileCall& call, std::string_view why);
/// op(a, b) in the type `in`, to which both are converted.
Word apply_in(num::DType in, ir::ExprOp op, num::DType a_type, Word a, num::DType b_type, Word b);

}  // namespace ww::eval
