// SPDX-License-Identifier: Apache-2.0
// Machine code (SASS) as `nvdisasm -c -gp` lists it: the instructions of each function, its labels,
// and the line of PTX that each instruction was made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ww::runtime {

/// Views into the listing.
struct SassInstruction {
  std::uint32_t address = 0;
  std::uint32_t line = 0;          // of the PTX; 0: unknown
  std::string_view guard = {};     // "@!P0"; empty: always executed
  std::string_view opcode = {};    // "MEMBAR.ALL.GPU"
  std::string_view operands = {};  // "R24, gdesc[UR4], R24"
};

struct SassFunction {
  std::string_view name = {};
  std::vector<SassInstruction> code = {};
  std::map<std::string_view, std::size_t, std::less<>> labels = {};  // places in the code
};

/// The functions of a listing, which must outlive them. DeviceError for a text without any code, or
/// with a line of code that has no instruction.
Result<std::vector<SassFunction>> read_listing(std::string_view text);

}  // namespace ww::runtime
