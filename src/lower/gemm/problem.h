// SPDX-License-Identifier: Apache-2.0
// A gemm call read into sizes, types, factors and the places of its operands.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "ir/gemm_factors.h"
#include "lower/gemm/warp_tiles.h"

namespace ww::lower {

/// The rule of a call that not all lanes of its warps execute together.
inline constexpr std::string_view kFullLanes = "full_active_lanes";

struct GemmCall {
  GemmProblem problem;
  ir::GemmFactor alpha, beta;
  bool is_in_place = false;  // C is D
};

/// Of one buffer, from the same places, of the same extents?
bool is_same_region(const Call& call, const ir::Region& a, const ir::Region& b);

/// Declines an operand that is not in registers (`scope`).
Match<void> check_in_registers(const Call& call, std::size_t argument);

/// A setting that is True or False, or left out for False; declines anything else (`config`).
Match<bool> flag_of(const Call& call, std::string_view name);

/// The two extents of a region that are not 1; declines others, and those known at run time only
/// (`extents`).
Match<std::pair<std::int64_t, std::int64_t>> matrix_extents(const Call& call, std::size_t argument,
                                                            std::string_view role);

/// Sizes, types and transposes; declines extents known at run time only.
Match<GemmSizes> gemm_sizes(const Call& call);

/// Declines operands that are not in registers (`scope`), that cannot be enumerated, that overlap
/// where they must not (`overlap`), and factors that D cannot have (`factor`).
Match<GemmCall> gemm_call(const Call& call);

}  // namespace ww::lower
