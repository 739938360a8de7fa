// SPDX-License-Identifier: Apache-2.0
// The tensor maps that a launch of a lowered program makes, for engines that run it.
#pragma once

#include <vector>

#include "harness/engines.h"
#include "runtime/device.h"

namespace ww::test {

/// Behind the arguments `args`, in order.
std::vector<runtime::MapArgument> maps_of(const ir::Function& lowered,
                                          const std::vector<Arg>& args);

}  // namespace ww::test
