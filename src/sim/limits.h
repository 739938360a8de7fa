// SPDX-License-Identifier: Apache-2.0
// What an SM of each architecture can hold.
#pragma once

#include <cstdint>

#include "target/target.h"

namespace ww::sim {

constexpr std::uint64_t kMostThreads = 1024;
constexpr std::uint64_t kMostCluster = 16;  // beyond 8 a GPU wants to be asked

/// Shared memory of one block, static and dynamic.
constexpr std::uint32_t most_shared_bytes(target::Target target) {
  switch (target::info(target.arch).number) {
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

}  // namespace ww::sim
