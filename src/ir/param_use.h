// SPDX-License-Identifier: Apache-2.0
// Which parameters' memory a kernel reads and writes. Arguments that it only writes are results and
// need no contents before a run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ir/function.h"

namespace ww::ir {

struct ParamUse {
  bool reads = false;
  bool writes = false;
  bool stores = false;  // a store or tile primitive writes it, not just a pointer that leads there
  /// Its contents before the run do not matter to the kernel.
  [[nodiscard]] bool is_output() const { return writes && !reads; }
};

/// One per parameter. A pointer that leads into a parameter's memory counts as both.
std::vector<ParamUse> param_uses(const Function& function);

// --- names ---------------------------------------------------------------------------------------

/// What users call a parameter: the name of its buffer, if that has one.
const std::string& name_of_param(const Function& function, std::size_t param);
/// The extent of that name that a launch decides; invalid if there is none.
VarId find_extent(const Function& function, std::string_view name);

}  // namespace ww::ir
