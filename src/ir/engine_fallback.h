// SPDX-License-Identifier: Apache-2.0
// Kernels that may do without the copy engine:
//
//     T.func_attr({"copy_engine_fallback": "cp_async"})
//
// lets threads carry out, by cp.async, what one thread would have the engine copy, on targets that have
// cp.async and mbarriers but no engine (sm_80 to sm_89). Elsewhere it changes nothing.
#pragma once

#include <string_view>

#include "ir/function.h"
#include "target/target.h"

namespace ww::ir {

inline constexpr std::string_view kEngineFallback = "copy_engine_fallback";
inline constexpr std::string_view kByCpAsync = "cp_async";

/// Does the function allow it?
bool allows_engine_fallback(const Function& function);
/// Can the target do it, and does it need to?
bool needs_engine_fallback(target::Target target);

/// Is it an instruction that only serves the engine, or the warps beside it, and that the fallback
/// leaves out or replaces: expected bytes, bulk groups, proxy fences, prefetched maps, register counts?
bool is_of_engine(const isa::Opcode& opcode);

}  // namespace ww::ir
