// SPDX-License-Identifier: Apache-2.0
// What an instruction does to memory.
#pragma once

#include <cstdint>

namespace ww::sim {

enum class AccessKind : std::uint8_t { Read, Write, Atomic };

}  // namespace ww::sim
