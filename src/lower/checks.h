// SPDX-License-Identifier: Apache-2.0
// Questions about a call that variants of several primitives ask: who executes it, and for which
// target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lower/call.h"

namespace ww::lower {

/// Declines cluster scope.
Match<void> check_scope(const Call& call);
/// Declines targets without the feature that an instruction needs.
Match<void> check_target(const Call& call, std::string_view instruction, target::Feature feature);
/// Declines other scopes than those of whole warps, by the first rule, and warps of which not all
/// lanes come, by the second.
Match<void> check_warps(const Call& call, Rule scope_rule, Rule threads_rule);
/// Declines where not all threads of the unit come together, as a barrier of it needs.
Match<void> check_all_arrive(const Call& call);
/// Declines where the threads that arrive cannot be numbered: they differ between units, or follow
/// no formula.
Match<void> check_workers(const Call& call);

/// How far the region of an operand reaches in a dimension; declines what is known at run time only.
Match<std::int64_t> constant_extent(const Call& call, std::size_t operand, std::size_t dimension);

/// Does the target have the instruction with these modifiers?
bool is_on_target(const std::string& opcode, target::Target target);
/// Is the last operand the policy of `.L2::cache_hint`?
bool has_cache_policy(const ir::PtxCall& call);

}  // namespace ww::lower
