// SPDX-License-Identifier: Apache-2.0
// The kind of memory access of an instruction.
#pragma once

#include <cstdint>

namespace ww::sim {

enum class AccessKind : std::uint8_t { Read, Write, Atomic };

}  // namespace ww::sim
