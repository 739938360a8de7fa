// SPDX-License-Identifier: Apache-2.0
// Exact sums of one block of D, 16 rows and 8 columns; for warpgroup_product.cpp, which packs the
// operands. The same three steps as in tile_sums.cpp: align, add, pack. The largest exponent E of a
// sum is found with integers of 16 bits, eight at a time, or of 8 bits in narrow formats, whose
// exponents have 5 bits at most. A product of two elements is exact in f32 unless it is out of
// range: below, it is so far under the alignment (at least 2^-100) that it is cut to 0 either way;
// above, E is more than 120, and the sum goes the slow way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "num/matrix_unit.h"
#include "num/tile_vector.h"
#include "num/warpgroup_product.h"

namespace ww::num {

/// The packed operands of one block for a step, which takes `count` of their k; panels are `panel`
/// values apart.
struct StepOperands {
  const float* a;
  const float* b;
  const std::int32_t* a_exponents;
  const std::int32_t* b_exponents;
  std::ptrdiff_t panel;
  int count;
  bool is_narrow;
};

using Shorts [[gnu::vector_size(16)]] = std::int16_t;

using Bytes [[gnu::vector_size(16)]] = std::int8_t;

// The exponent of a zero, in A or B. A sum of exponents below kNoTerm has a zero in it.
inline constexpr std::int32_t kZeroExponent = -8000, kNarrowZero = -64;
constexpr std::int32_t zero_exponent(bool is_narrow) {
  return is_narrow ? kNarrowZero : kZeroExponent;
}
inline constexpr std::int32_t kNoTerm = -4000, kNarrowNoTerm = -48;
// Exponents for which f32 holds the scales.
inline constexpr std::int32_t kMinExponent = -100, kMaxExponent = 120;
inline constexpr std::int32_t kBias = 127;  // of an f32

[[gnu::always_inline]] inline bool any(Ints mask) {
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}

// Two vectors of numbers of 16 bits, which lie in turn in one, and back.
[[gnu::always_inline]] inline Ints in_turn(Ints even, Ints odd) {
  return (even & 0xFFFF) | (odd << 16);
}
[[gnu::always_inline]] inline Ints evens_of(Ints both) { return (both << 16) >> 16; }
[[gnu::always_inline]] inline Ints odds_of(Ints both) { return both >> 16; }

// The least exponent of sums that need no second look. With narrow formats a smaller one may be that
// of a product with a zero.
inline std::int32_t least_exponent(bool is_narrow) {
  return is_narrow ? kNarrowNoTerm : kMinExponent;
}

inline constexpr int kElements = kBlockRows * kBlockColumns;

/// One block of D on its way, row by row in the order of its columns. Each step goes over all of it
/// before the next: its elements do not wait for each other then.
struct BlockSums {
  alignas(16) std::uint32_t sums[kElements];  // results of a step, addends of the next
  alignas(16) std::int32_t rare[kElements];   // not 0: to be done by the reference
  // Of the current step: what scales products to units of the last bit kept, and in such units the
  // addends and later the totals.
  alignas(16) float downs[kElements];
  alignas(16) std::int32_t totals[kElements];

  [[nodiscard]] BlockPlace place() {
    constexpr int kHalf = kElements / 2;
    return {{sums, sums + 4, sums + kHalf, sums + kHalf + 4}, kBlockColumns};
  }
};

/// Of many sums: the least and the largest exponent, of f32's bias, and less than 0 where a sum was
/// too large.
struct Extremes {
  Ints least = Ints{} + kBias, most{}, overflow{};
};

/// f32 results with nothing rare, f32 and f16 results.
enum class Way : std::uint8_t { Quick, Single, Half };

// Of sums with these exponents, of f32's bias.
[[gnu::always_inline]] inline void set_scales(const MatrixUnit& unit, Ints exponents, Floats addend,
                                              int at, BlockSums& p) {
  const auto down = std::bit_cast<Floats>((2 * kBias + unit.fraction_bits - exponents) << 23);
  store(down, p.downs + at);
  store(cut(addend * down), p.totals + at);
}

// 1 over a scale; of anything else, which is not used, any number.
[[gnu::always_inline]] inline Floats inverse(Floats power) {
  const Ints both = Ints{} + (2 * kBias << 23);
  return std::bit_cast<Floats>(wrapped_difference(both, std::bit_cast<Ints>(power)));
}

// For f32 where nothing is rare, which is found out afterwards: infinities and NaNs have the largest
// exponent.
[[gnu::always_inline]] inline void align_quickly(const MatrixUnit& unit, Ints largest, Ints bits,
                                                 int at, BlockSums& p, Extremes& seen) {
  const Ints exponents = larger(largest, (bits & kMagnitude) >> 23);
  seen.least = smaller(seen.least, exponents);
  seen.most = larger(seen.most, exponents);
  set_scales(unit, exponents, std::bit_cast<Floats>(bits), at, p);
}

template <bool kIsHalf>
[[gnu::always_inline]] inline void align_four(const MatrixUnit& unit, const TileCodec& result,
                                              Ints largest, Ints word, int at, BlockSums& p) {
  const Ints raw = kIsHalf ? aligned_bits(result, word) : word;
  const Ints special = (raw & kMagnitude) >= result.first_special;
  const Ints bits = raw & ~special;
  const Floats values = std::bit_cast<Floats>(bits) * (kIsHalf ? result.factor : 1.0F);
  const Ints power = std::bit_cast<Ints>(powers_of(result, bits & kMagnitude));
  const Ints addend = power == 0 ? Ints{} + kNoTerm : power >> 23;
  const Ints term = larger(largest, addend);
  const Ints floor = Ints{} + (std::max(unit.lowest_exponent, kMinExponent) + kBias);
  const Ints ceiling = Ints{} + (kMaxExponent + kBias);
  const Ints low = kIsHalf ? Ints{} : (term < floor) & (term > kNoTerm);
  store(load<Ints>(p.rare + at) | special | low | (term > ceiling), p.rare + at);
  set_scales(unit, smaller(larger(term, floor), ceiling), values, at, p);
}

// Aligns the four sums of one half of a row, given the largest exponents of their products and the
// addends.
template <Way kWay, bool kIsNarrow>
[[gnu::always_inline]] inline void align(const MatrixUnit& unit, const TileCodec& result,
                                         Ints largest, const std::uint32_t* addends, int at,
                                         BlockSums& p, Extremes& seen) {
  const auto words = load<Ints>(addends);
  const Ints biased = kIsNarrow ? largest + kBias : largest;
  if constexpr (kWay == Way::Quick) {
    align_quickly(unit, biased, words, at, p, seen);
  } else {
    const Ints none = Ints{} + 2 * kNoTerm;
    const Ints terms = kIsNarrow ? (largest < kNarrowNoTerm ? none : biased) : biased;
    align_four<kWay == Way::Half>(unit, result, terms, words, at, p);
  }
}

// Finds the largest exponents of the products of four rows with eight columns, and aligns these sums.
template <Way kWay>
[[gnu::always_inline]] inline void align_rows(const MatrixUnit& unit, const TileCodec& result,
                                              const StepOperands& step, int row,
                                              const BlockPlace& d, BlockSums& p, Extremes& seen) {
  const std::int32_t* const a = step.a_exponents + row * step.panel;
  Shorts most[4];
  for (Shorts& each : most) each = Shorts{} + std::int16_t{2 * kZeroExponent};
  for (int at = 0; at < step.count; ++at) {
    const auto columns = load<Shorts>(step.b_exponents, at);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) most[r] = larger(most[r], load<Shorts>(a, 4 * at + r) + columns);
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    const auto both = std::bit_cast<Ints>(most[r]);
    const int at = (row + r) * kBlockColumns;
    align<kWay, false>(unit, result, evens_of(both), d.columns(row + r, 0), at, p, seen);
    align<kWay, false>(unit, result, odds_of(both), d.columns(row + r, 1), at + 4, p, seen);
  }
}

// The same in narrow formats, two rows in a vector.
template <Way kWay>
[[gnu::always_inline]] inline void align_narrow(const MatrixUnit& unit, const TileCodec& result,
                                                const StepOperands& step, int row,
                                                const BlockPlace& d, BlockSums& p, Extremes& seen) {
  const std::int32_t* const a = step.a_exponents + row / 2 * step.panel;
  Bytes most[2];
  for (Bytes& each : most) each = Bytes{} + std::int8_t{2 * kNarrowZero};
  for (int at = 0; at < step.count; ++at) {
    const auto columns = load<Bytes>(step.b_exponents, at);
    most[0] = larger(most[0], load<Bytes>(a, 2 * at) + columns);
    most[1] = larger(most[1], load<Bytes>(a, 2 * at + 1) + columns);
  }
#pragma GCC unroll 2
  for (int pair = 0; pair < 2; ++pair) {
    const auto four = std::bit_cast<Ints>(most[pair]);
    const int first = row + 2 * pair;
    const int at = first * kBlockColumns;
    align<kWay, true>(unit, result, (four << 24) >> 24, d.columns(first, 0), at, p, seen);
    align<kWay, true>(unit, result, (four << 16) >> 24, d.columns(first, 1), at + 4, p, seen);
    align<kWay, true>(unit, result, (four << 8) >> 24, d.columns(first + 1, 0), at + 8, p, seen);
    align<kWay, true>(unit, result, four >> 24, d.columns(first + 1, 1), at + 12, p, seen);
  }
}

// Adds the products of rows `row` and `row + 1`. There are two sums, of even and of odd k, because one
// alone could be 2^31; so can be the total, which is then rare.
template <Way kWay>
inline void add_rows(const StepOperands& step, int row, BlockSums& p, Extremes& seen) {
  const int at = row * kBlockColumns;
  Ints even[4];
  Ints odd[4] = {};
  Floats down[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    even[i] = load<Ints>(p.totals + at, i);
    down[i] = load<Floats>(p.downs + at, i);
  }
  const float* a = step.a + row / 4 * step.panel + row % 4;
  const float* left = step.b;
  const float* right = step.b + step.panel;
  for (int from = 0; from < step.count; from += 2) {
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i, a += 4, left += 4, right += 4) {
      const auto b0 = load<Floats>(left);
      const auto b1 = load<Floats>(right);
      Ints* const to = i == 0 ? even : odd;
      to[0] = wrapped_sum(to[0], cut(a[0] * b0 * down[0]));
      to[1] = wrapped_sum(to[1], cut(a[0] * b1 * down[1]));
      to[2] = wrapped_sum(to[2], cut(a[1] * b0 * down[2]));
      to[3] = wrapped_sum(to[3], cut(a[1] * b1 * down[3]));
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const Ints total = wrapped_sum(even[i], odd[i]);
    const Ints overflow = (even[i] ^ total) & (odd[i] ^ total);  // in the sign
    store(total, p.totals + at, i);
    if constexpr (kWay == Way::Quick) {
      seen.overflow |= overflow;
    } else {
      store(load<Ints>(p.rare + at, i) | (overflow < 0), p.rare + at, i);
    }
  }
}

template <Way kWay>
[[gnu::always_inline]] inline void pack_four(const MatrixUnit& unit, int at, const BlockSums& p,
                                             std::uint32_t* to) {
  constexpr bool kIsHalf = kWay == Way::Half;
  const Floats values =
      whole_to_f32(load<Ints>(p.totals + at), kIsHalf) * inverse(load<Floats>(p.downs + at));
  if constexpr (kIsHalf) {
    const Ints codes = f16_codes(values);
    store(codes & ~(codes == 0x8000), to);  // every zero is +0
  } else {
    const auto kept = static_cast<std::int32_t>(~0U << (23 - unit.result_bits));
    store(std::bit_cast<Ints>(values) & kept, to);
  }
}

/// Totals of the products and of the addends in `d`.
template <Way kWay>
Extremes add_block(const MatrixUnit& unit, DType result, const StepOperands& step,
                   const BlockPlace& d, BlockSums& p) {
  const TileCodec codec = kWay == Way::Quick ? TileCodec{} : tile_codec(result);
  Extremes seen;
  for (int row = 0; row < kBlockRows; row += 4) {
    step.is_narrow ? align_narrow<kWay>(unit, codec, step, row, d, p, seen)
                   : align_rows<kWay>(unit, codec, step, row, d, p, seen);
  }
  for (int row = 0; row < kBlockRows; row += 2) add_rows<kWay>(step, row, p, seen);
  return seen;
}

// The rows of a block, four columns at a time.
template <typename Visit>
[[gnu::always_inline]] inline void for_each_four(const BlockPlace& d, const Visit& visit) {
  for (int half = 0; half < 4; ++half) {
    std::uint32_t* words = d.at[half];
    int at = half / 2 * (kElements / 2) + half % 2 * kLanes;
    for (int row = 0; row < kBlockRows / 2; ++row, words += d.step, at += kBlockColumns)
      visit(words, at);
  }
}

/// Totals to results in `d`.
template <Way kWay>
void pack_block(const MatrixUnit& unit, const BlockSums& p, const BlockPlace& d) {
  for_each_four(d, [&](std::uint32_t* words, int at) { pack_four<kWay>(unit, at, p, words); });
}

/// One step of a block whose sums are in `p`.
template <Way kWay>
void multiply_block(const MatrixUnit& unit, DType result, const StepOperands& step, BlockSums& p) {
  add_block<kWay>(unit, result, step, p.place(), p);
  pack_block<kWay>(unit, p, p.place());
}

inline void read_block(const BlockPlace& d, BlockSums& p) {
  for_each_four(d,
                [&](const std::uint32_t* words, int at) { store(load<Ints>(words), p.sums + at); });
}

inline void write_block(const BlockSums& p, const BlockPlace& d) {
  for_each_four(d, [&](std::uint32_t* words, int at) { store(load<Ints>(p.sums + at), words); });
}

}  // namespace ww::num
