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

// Four words of each of four columns, as rows.
void transpose_four(const std::uint32_t* words, std::ptrdiff_t k, std::uint32_t* out) {
  const auto c0 = load<Ints>(words);
  const auto c1 = load<Ints>(words + k);
  const auto c2 = load<Ints>(words + 2 * k);
  const auto c3 = load<Ints>(words + 3 * k);
  const Ints low02 = __builtin_shufflevector(c0, c2, 0, 4, 1, 5);
  const Ints low13 = __builtin_shufflevector(c1, c3, 0, 4, 1, 5);
  const Ints high02 = __builtin_shufflevector(c0, c2, 2, 6, 3, 7);
  const Ints high13 = __builtin_shufflevector(c1, c3, 2, 6, 3, 7);
  store(__builtin_shufflevector(low02, low13, 0, 4, 1, 5), out);
  store(__builtin_shufflevector(low02, low13, 2, 6, 3, 7), out, 2);
  store(__builtin_shufflevector(high02, high13, 0, 4, 1, 5), out, 4);
  store(__builtin_shufflevector(high02, high13, 2, 6, 3, 7), out, 6);
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
          .factor = std::bit_cast<float>(static_cast<std::uint32_t>(254 - f.bias) << 23U)};
}

void transpose_columns(const std::uint32_t* words, int k, std::uint32_t* out) {
  const std::uint32_t* right = words + std::ptrdiff_t{kLanes} * k;
  for (int at = 0; at < k; at += kLanes, out += std::ptrdiff_t{kLanes} * kMaxTileN) {
    transpose_four(words + at, k, out);
    transpose_four(right + at, k, out + kLanes);
  }
}

}  // namespace ww::num
