// SPDX-License-Identifier: Apache-2.0
// What a kernel does with the memory of its parameters: which it reads, which it writes. Decides
// which arguments are results, that need no contents before a run.
#pragma once

#include <vector>

#include "ir/function.h"

namespace ww::ir {

struct ParamUse {
  bool reads = false;
  bool writes = false;
  /// Its contents before the run do not matter to the kernel.
  [[nodiscard]] bool is_output() const { return writes && !reads; }
};

/// One per parameter. A pointer that leads into a parameter's memory counts as both.
std::vector<ParamUse> param_uses(const Function& function);

}  // namespace ww::ir
