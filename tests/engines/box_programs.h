// SPDX-License-Identifier: Apache-2.0
// Source texts of kernels with one copy by the copy engine between an array and a tile of shared
// memory. All of the tile is filled before, and shown after it, element by element; the other way
// round, all of the array that was written shows. In a cluster, CTAs may send to each other.
#pragma once

#include <cstdint>
#include <string>

#include "engines/family.h"

namespace ww::test {

struct BoxCase {
  std::string dtype = "float16";
  Extents array = {};         // its shape
  std::string view = {};      // layout of a view of the array that has this shape; empty: none
  Extents shared = {};        // shape of the tile's buffer
  std::string tile = {};      // its layout; empty: row-major
  std::string from = {};      // region of the array; empty: everything
  std::string to = {};        // region of the tile; empty: everything
  std::int64_t elements = 0;  // of the regions; 0: those of the tile
  bool is_load = true;
  std::string settings = {};
  std::string variant = {};  // by name; empty: `tma` for stores, any for loads
  std::string around = "if tid == 0:";
  /// It stands in a loop of one round, which the launch says: only a run tells whether it is made.
  bool in_loop = false;
  Extents starts = {};  // parameters `s0`, `s1`, ... of the kernel, for `from`
  int align = 1024;
  Extents grid = {1};      // ids `bx`, `by`; each CTA has a tile of its own
  bool is_ragged = false;  // extents of the array are known at launch only
  std::string target = "sm_90a";
  bool may_fall_back = false;  // on targets without a copy engine
  // CTAs of a cluster, with their rank as `rank`; a load only.
  int cluster = 1;
  std::string sends = {};     // the condition under which a CTA starts the copy; empty: all do
  std::string receives = {};  // the condition under which it gets the tile; empty: all do
};

std::string source_of(const BoxCase& c);
Program program_of(const BoxCase& c);
/// The variant takes it in so many instructions.
Expected by_boxes(std::int64_t times);

}  // namespace ww::test
