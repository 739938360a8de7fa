// SPDX-License-Identifier: Apache-2.0
// The capacity of an SM of each architecture.
#pragma once

#include <cstdint>

#include "target/shared_memory.h"
#include "target/target.h"

namespace ww::sim {

constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::uint64_t kMaxCluster = 16;  // beyond 8 a GPU requires an attribute

/// The nominal machine's, which shows in %nsmid and in how many blocks are on it at once.
constexpr std::uint64_t kSms = 132;
/// Of the shared memory of each block, what the system takes.
constexpr std::uint32_t kReservedShared = 1024;

/// Warps and blocks that an SM has at the same time.
constexpr std::uint64_t most_warps_per_sm(target::Target target) {
  switch (target::info(target.arch).number) {
    case 75:
      return 32;
    case 86:
    case 87:
    case 88:
    case 89:
    case 110:
    case 120:
    case 121:
      return 48;
    default:
      return 64;
  }
}
constexpr std::uint64_t most_blocks_per_sm(target::Target target) {
  const int number = target::info(target.arch).number;
  if (number == 75 || (number > 80 && number < 89)) return 16;
  return most_warps_per_sm(target) == 48 ? 24 : 32;
}

/// Shared memory of one block, static and dynamic.
using target::most_shared_bytes;

}  // namespace ww::sim
