// SPDX-License-Identifier: Apache-2.0
// Vectors of four 32-bit lanes and a tile's elements in them; for tile_*.cpp. The vectors are an
// extension that GCC and Clang have for every host, with the operators of plain numbers; sums that
// are carried through a loop stay in registers this way, which arrays do not always.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "num/dtype.h"
#include "num/half_lanes.h"
#include "num/matrix_tile.h"

namespace ww::num {

inline constexpr int kLanes = 4;
using Floats [[gnu::vector_size(16)]] = float;
using Ints [[gnu::vector_size(16)]] = std::int32_t;  // a comparison gives -1 where it holds

/// A vector at any address, over elements of any type. (memcpy would do, but GCC takes it through
/// integer registers.)
template <typename Vector>
struct [[gnu::packed, gnu::may_alias]] LooseVector {
  Vector vector;
};

/// Vector number `index` of an array.
template <typename Vector, typename Element>
[[gnu::always_inline]] inline Vector load(const Element* from, std::ptrdiff_t index = 0) {
  return reinterpret_cast<const LooseVector<Vector>*>(from + index * kLanes)->vector;  // NOLINT
}

template <typename Vector, typename Element>
[[gnu::always_inline]] inline void store(const Vector& vector, Element* to,
                                         std::ptrdiff_t index = 0) {
  reinterpret_cast<LooseVector<Vector>*>(to + index * kLanes)->vector = vector;  // NOLINT
}

template <typename Vector>
[[gnu::always_inline]] inline Vector larger(Vector x, Vector y) {
  return x > y ? x : y;
}

template <typename Vector>
[[gnu::always_inline]] inline Vector smaller(Vector x, Vector y) {
  return x < y ? x : y;
}

/// Toward zero; the values are within the range of the integers.
[[gnu::always_inline]] inline Ints cut(Floats values) {
  return __builtin_convertvector(values, Ints);
}

/// Wraps around where it overflows.
[[gnu::always_inline]] inline Ints wrapped_sum(Ints x, Ints y) {
  using Words [[gnu::vector_size(16)]] = std::uint32_t;
  return std::bit_cast<Ints>(std::bit_cast<Words>(x) + std::bit_cast<Words>(y));
}

[[gnu::always_inline]] inline Ints wrapped_difference(Ints x, Ints y) {
  using Words [[gnu::vector_size(16)]] = std::uint32_t;
  return std::bit_cast<Ints>(std::bit_cast<Words>(x) - std::bit_cast<Words>(y));
}

/// The bits of an f32 but for its sign.
inline constexpr std::int32_t kMagnitude = 0x7FFFFFFF;

/// An integer as an f32, cut toward zero or rounded to odd. Conversion rounds to nearest, but the
/// bit of weight one half is cleared first: the highest of m >> 24, if m has so many bits. (Some of
/// those below may be cleared as well, which makes no difference.)
[[gnu::always_inline]] inline Floats whole_to_f32(Ints value, bool to_odd) {
  const Ints sign = value >> 31;
  const Ints magnitude = wrapped_difference(value ^ sign, sign);
  const Floats near = __builtin_convertvector(magnitude & ~(magnitude >> 24), Floats);
  Ints bits = std::bit_cast<Ints>(near);
  if (to_odd) bits |= (cut(near) != magnitude) & 1;
  return std::bit_cast<Floats>(bits | (value & ~kMagnitude));
}

/// How a format's bits become an f32's. Shifted left, an element has its sign where f32 has it;
/// shifted right again, less the copies of the sign, its exponent is at the lower end of f32's
/// exponent and its mantissa at the upper end of f32's mantissa: the value but for a factor. What
/// is infinite or NaN must be dealt with apart.
struct TileCodec {
  int left;
  int right;
  std::int32_t mask;
  std::int32_t first_special;  // infinities and NaNs are from here on
  std::int32_t bias;           // of the exponents
  float factor;
};

TileCodec tile_codec(DType type);

/// Elements' bits where f32 has them; of a vector, or of one.
template <typename Bits>
[[gnu::always_inline]] inline Bits aligned_bits(const TileCodec& c, Bits words) {
  return ((words << c.left) >> c.right) & c.mask;
}

[[gnu::always_inline]] inline Floats values_of(const TileCodec& c, Ints bits) {
  return std::bit_cast<Floats>(bits) * c.factor;
}

/// The powers of two a matrix unit aligns by: those of the exponents, not normalised, so that a
/// subnormal has the smallest normal number's. Of 0 it is 0.
[[gnu::always_inline]] inline Floats powers_of(const TileCodec& c, Ints magnitudes) {
  const Ints normal = magnitudes & 0x7F800000;
  const Ints subnormal = (magnitudes != 0) & 0x00800000;
  return std::bit_cast<Floats>(larger(normal, subnormal)) * c.factor;
}

inline bool any_at_least(Ints values, std::int32_t limit) {
  return std::max({values[0], values[1], values[2], values[3]}) >= limit;
}

/// Codes of f16, rounded to nearest even.
[[gnu::always_inline]] inline Ints f16_codes(Floats values) {
  alignas(16) float in[kLanes];
  alignas(16) std::int32_t out[kLanes];
  store(values, in);
  for (int i = 0; i < kLanes; ++i) out[i] = f32_to_f16(in[i]);
  return load<Ints>(out);
}

/// Four words of each of four lines, `step` apart, as rows.
[[gnu::always_inline]] inline void transpose_four(const std::uint32_t* words, std::ptrdiff_t step,
                                                  Ints* rows) {
  const auto c0 = load<Ints>(words);
  const auto c1 = load<Ints>(words + step);
  const auto c2 = load<Ints>(words + 2 * step);
  const auto c3 = load<Ints>(words + 3 * step);
  const Ints low02 = __builtin_shufflevector(c0, c2, 0, 4, 1, 5);
  const Ints low13 = __builtin_shufflevector(c1, c3, 0, 4, 1, 5);
  const Ints high02 = __builtin_shufflevector(c0, c2, 2, 6, 3, 7);
  const Ints high13 = __builtin_shufflevector(c1, c3, 2, 6, 3, 7);
  rows[0] = __builtin_shufflevector(low02, low13, 0, 4, 1, 5);
  rows[1] = __builtin_shufflevector(low02, low13, 2, 6, 3, 7);
  rows[2] = __builtin_shufflevector(high02, high13, 0, 4, 1, 5);
  rows[3] = __builtin_shufflevector(high02, high13, 2, 6, 3, 7);
}

/// B's columns side by side: [8][k] to [k][8].
void transpose_columns(const std::uint32_t* words, int k, std::uint32_t* out);

}  // namespace ww::num
