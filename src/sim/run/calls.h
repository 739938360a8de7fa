// SPDX-License-Identifier: Apache-2.0
// Calls and returns, in the executing lanes of a warp.
#pragma once

#include <cstdint>

namespace ww::sim {

class Warp;

/// Goes into a function: `site` is an index into Program::calls, `function` into
/// Program::functions.
void enter_function(Warp& warp, std::uint32_t site, std::uint32_t function);
/// Goes back to the caller; from the kernel itself, ends the lanes.
void leave_function(Warp& warp);

}  // namespace ww::sim
