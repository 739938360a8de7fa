// SPDX-License-Identifier: Apache-2.0
// Source texts of kernels in which every CTA of a cluster sends a tile to another one, or fetches it from
// there. Both tiles are filled before, and the destination is shown after it, element by element.
#pragma once

#include <cstdint>
#include <string>

#include "engines/family.h"

namespace ww::test {

/// How the tile gets there.
enum class Way : std::uint8_t {
  Engine,  // copy_async of shared memory, by one thread
  Async,   // copy_async of registers, by all
  Store,   // copy of shared memory into another CTA
  Push,    // copy of registers into another CTA
  Pull,    // copy from another CTA into registers
  Global,  // copy from another CTA into global memory
};

struct DsmemCase {
  Way way = Way::Engine;
  std::string dtype = "float16";
  std::int64_t ctas = 2;  // of the cluster; there are two clusters
  std::int64_t threads = 128;
  Extents near = {}, far = {};  // shapes of the tile here, and of that in the other CTA
  std::string near_layout = {}, far_layout = {};  // empty: row-major; registers: by threads
  std::string near_region = {}, far_region = {};  // empty: all
  std::int64_t elements = 0;                      // of the regions; 0: those of `near`
  std::string cta = "(rank + 1) % ctas";          // the other one; each gets one tile
  std::string settings = {};
  std::string around = "if tid == 0:";  // the copy of the engine
  int align = 128;
  std::string target = "sm_90a";
};

std::string source_of(const DsmemCase& c);
Program program_of(const DsmemCase& c);
std::string variant_of(Way way);

}  // namespace ww::test
