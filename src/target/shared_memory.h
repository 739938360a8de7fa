// SPDX-License-Identifier: Apache-2.0
// How much shared memory a block of each architecture has.
#pragma once

#include <cstdint>

#include "target/target.h"

namespace ww::target {

/// Shared memory of one block, static and dynamic.
constexpr std::uint32_t most_shared_bytes(Target target) {
  switch (info(target.arch).number) {
    case 75:
      return 64U * 1024;
    case 80:
    case 87:
      return 163U * 1024;
    case 86:
    case 89:
    case 120:
    case 121:
      return 99U * 1024;
    default:
      return 227U * 1024;
  }
}

}  // namespace ww::target
