// SPDX-License-Identifier: Apache-2.0
// Which parameters of a kernel are results: those it writes, whether it reads them as well or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/function.h"

namespace ww::driver {

enum class Writing : std::uint8_t {
  No,
  Maybe,  // a pointer leads into its memory: only a run tells what is done with it
  Yes     // a store or a tile primitive does
};

/// One per parameter.
std::vector<Writing> param_writes(const ir::Function& function);

/// Tells whether contents have changed, without a copy of them.
std::uint64_t digest(std::span<const std::byte> bytes);

}  // namespace ww::driver
