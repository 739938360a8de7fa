// SPDX-License-Identifier: Apache-2.0
// What costs more than it looks, in the PTX of a kernel that ran and, where accesses were counted, in
// how it used memory. Nothing here is wrong; the report lists it under `slow`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "driver/sim/tool.h"

namespace ww::driver {

enum class Slow : std::uint8_t { RemoteRelease, LocalMemory, BankConflict, Uncoalesced };
/// "remote release", "bank conflict".
std::string_view name_of(Slow kind);

struct Advice {
  Slow kind{};
  std::uint32_t line = 0;  // of the PTX
  std::string text;        // what it costs, and what to do
};

/// By line. Conflicts and sectors only if the run counted them.
std::vector<Advice> advise(const SimReport& report);

/// Reads the machine code of the kernel, if the request asks for it.
void add_sass(const SimRequest& request, SimReport& report);

}  // namespace ww::driver
