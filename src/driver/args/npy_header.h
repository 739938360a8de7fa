// SPDX-License-Identifier: Apache-2.0
// The front of a .npy file (driver/args/npy.h): where the header and the data stand, and what the
// header says. It comes from anywhere, so every byte is doubted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ww::driver {

/// What every .npy file begins with.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NpyFile {
  std::string_view header;
  std::span<const std::byte> data;
};

/// How NumPy describes an item: '<f4' is little-endian, a float, of 4 bytes.
struct NpyItem {
  std::string descr;
  char kind = 'V';
  int bytes = 0;  // 1 to 65535
  bool is_big_endian = false;
};

struct NpyHeader {
  NpyItem item;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Cuts a file after its header; the parts point into `file`. Syntax when it is no .npy file, its
/// version is unknown, or it ends too early.
Result<NpyFile> split_npy(std::span<const std::byte> file);

/// Reads the dict: each of the three keys once, in any order. Syntax otherwise; BadArgument for a
/// description that is no plain item.
Result<NpyHeader> parse_npy_header(std::string_view text);

}  // namespace ww::driver
