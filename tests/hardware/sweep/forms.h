// SPDX-License-Identifier: Apache-2.0
// Which instructions are swept: every binding of the catalogue that sm_90a has and for which there
// is a recipe. Of memory accesses and atomics, whose modifiers for order, scope and caches change
// no value, one binding is taken for each combination of the others.
#pragma once

#include <string_view>
#include <vector>

#include "hardware/sweep/kernel.h"

namespace ww::sweep {

/// All kernels whose title contains `only`, in the catalogue's order. `every_modifier`: no choice
/// among orders, scopes and cache hints.
std::vector<Kernel> all_kernels(std::string_view only = "", bool every_modifier = false);

}  // namespace ww::sweep
