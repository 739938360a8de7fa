// SPDX-License-Identifier: Apache-2.0
#include "num/tile_vector.h"

#include "num/float_format.h"

namespace ww::num {
namespace {

std::uint32_t first_special_code(const FloatFormat& f) {
  const std::uint32_t last = (1U << (f.exponent_bits + f.mantissa_bits)) - 1;
  switch (f.specials) {
    case Specials::Ieee:
      return last >> f.mantissa_bits << f.mantissa_bits;
    case Specials::NanOnly:
      return last;
    case Specials::None:
      return last + 1;
  }
  return 0;
}

}  // namespace

TileCodec tile_codec(DType type) {
  const FloatFormat& f = format_of(type);
  const int width = 1 + f.exponent_bits + f.mantissa_bits;
  const int up = 23 - f.mantissa_bits;
  const std::uint32_t codes = (1U << (width - 1)) - 1;
  return {.left = 32 - width - f.low_bits,
          .right = 8 - f.exponent_bits,
          .mask = static_cast<std::int32_t>(0x80000000U | (codes << up)),
          .first_special = static_cast<std::int32_t>(first_special_code(f) << up),
          .bias = f.bias,
          .factor = std::bit_cast<float>(static_cast<std::uint32_t>(254 - f.bias) << 23U)};
}

void transpose_columns(const std::uint32_t* words, int k, std::uint32_t* out) {
  const std::uint32_t* right = words + std::ptrdiff_t{kLanes} * k;
  for (int at = 0; at < k; at += kLanes, out += std::ptrdiff_t{kLanes} * kMaxTileN) {
    Ints rows[2][kLanes];
    transpose_four(words + at, k, rows[0]);
    transpose_four(right + at, k, rows[1]);
#pragma GCC unroll 4
    for (int i = 0; i < kLanes; ++i) {
      store(rows[0][i], out, 2 * i);
      store(rows[1][i], out, 2 * i + 1);
    }
  }
}

}  // namespace ww::num
