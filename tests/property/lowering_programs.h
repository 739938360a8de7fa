// SPDX-License-Identifier: Apache-2.0
// Kernels without tile primitives, for lowering_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace ww::lower::lowering_test {

struct Program {
  std::string name;
  std::string source;                         // of the kernel, without its decorator
  std::map<std::string, std::int64_t> sizes;  // of extents known at launch, and of scalars
  std::string spilled;                        // arrays that cannot stay in registers
  std::string shown = {};                     // a line of the lowered program
};

inline std::ostream& operator<<(std::ostream& out, const Program& program) {
  return out << program.name;
}

std::vector<Program> programs();

}  // namespace ww::lower::lowering_test
