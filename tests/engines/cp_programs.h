// SPDX-License-Identifier: Apache-2.0
// Source texts of kernels with one copy_async from shared to tensor memory:
//
//     global -- as it lies --> shared -- copy_async --> tensor memory -- tcgen05.ld --> global
//
// They show every cell of the columns that were allocated; what the copy does not write holds 0.
#pragma once

#include <cstdint>
#include <string>

#include "engines/family.h"

namespace ww::test {

/// One copy; shapes and layouts as text.
struct CpCase {
  std::string dtype = "float32";
  Extents shape = {};         // of both sides, unless one has more
  std::string tensor = {};    // layout, "S[(128, 8) : (1 @ TLane, 1 @ TCol)]"
  std::string shared = {};    // layout; empty: row-major
  std::int64_t elements = 0;  // of the shared storage
  Extents tensor_shape = {};  // other than `shape`
  Extents shared_shape = {};
  std::string to = {}, from = {};  // regions; empty: everything
  std::string source_dtype = {};   // empty: dtype
  std::string settings = {};
  std::string around = "if tid == 0:";
  std::string loop = {};  // a line around the copy, not the commit
  std::string address = "base[0]";
  std::int64_t columns = 32;
  int align = 1024;
  std::string target = "sm_100a";
};

std::string source_of(const CpCase& c);
Program program_of(const CpCase& c);

/// The layout of rows in lanes, from the first of both on.
std::string lanes(std::int64_t rows, std::int64_t columns);
/// The layout of rows in shared memory, `width` elements of `bits` each: with a swizzle of so many
/// bytes, or 0: 16-byte columns one after the other.
std::string swizzled_rows(int bits, std::int64_t rows, std::int64_t width, int swizzle);

/// "tcgen05.cp.cta_group::1.128x256b"
std::string cp_opcode(const std::string& shape);
Expected by_cp(const std::string& shape, std::int64_t times);

}  // namespace ww::test
