// SPDX-License-Identifier: Apache-2.0
// Which kernel of a PTX module is meant.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ptx/module.h"

namespace ww::driver {

/// How messages name the module, and say that it was not told which kernel.
struct ChoiceWords {
  std::string where;         // "the PTX"
  std::string_view unnamed;  // "none is named"
};

/// The kernel of that name; without one, the only kernel that the module has code for. BadArgument or
/// UnknownName where there is none, or where there are several; notes list them.
Result<std::string> choose_kernel(const ptx::Module& module, const std::string& wanted,
                                  const ChoiceWords& words);

}  // namespace ww::driver
