// SPDX-License-Identifier: Apache-2.0
// The values of special registers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/program.h"

namespace ww::sim {

class Warp;

/// The special register of that name ("tid.x"); those with no meaning here (%pm, %envreg) read as
/// 0.
Special parse_special(std::string_view name);
/// Whether its value changes while a kernel runs, so that each read asks again.
bool is_changing(Special special);
/// The values of the 32 lanes.
void special_values(const Warp& warp, Special special, std::uint64_t* out);

/// Fills in the special registers and the addresses of shared variables that a function reads.
void fill_specials(Warp& warp, const Code& code);

}  // namespace ww::sim
