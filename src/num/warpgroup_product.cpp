// SPDX-License-Identifier: Apache-2.0
// The same three steps as in tile_sums.cpp, arranged for many blocks: align, add, pack. The largest
// exponent E of a sum is found with integers of 16 bits, eight at a time. A product of two elements
// is exact in f32 unless it is out of range: below, it is so far under the alignment (at least
// 2^-100) that it is cut to 0 either way; above, E is more than 120, and the sum goes the slow way.
#include "num/warpgroup_product.h"

#include <algorithm>
#include <span>

#include "base/check.h"
#include "num/float_format.h"
#include "num/tile_vector.h"

namespace ww::num {
namespace {

using Shorts [[gnu::vector_size(16)]] = std::int16_t;

constexpr std::int16_t kZeroExponent = -8000;  // of a zero, in A or B
constexpr std::int32_t kNoTerm = -4000;        // sums of exponents below have a zero in them
// Exponents for which f32 holds the scales.
constexpr std::int32_t kLeastExponent = -100, kMostExponent = 120;

std::int16_t short_exponent(float power) {
  if (power == 0) return kZeroExponent;
  return static_cast<std::int16_t>(static_cast<int>(std::bit_cast<std::uint32_t>(power) >> 23U) -
                                   127);
}

// What one element is made of; whether it is finite. Exact sums take others as 0.
bool take_apart(const TileCodec& c, bool exact, std::uint32_t word, float& value,
                std::int16_t& exponent) {
  const Ints bits = aligned_bits(c, Ints{} + static_cast<std::int32_t>(word));
  if ((bits[0] & kMagnitude) >= c.first_special) {
    value = exact ? 0.0F : std::bit_cast<float>(bits[0] | 0x7F800000);
    exponent = kZeroExponent;
    return false;
  }
  value = values_of(c, bits)[0];
  exponent = short_exponent(powers_of(c, bits & kMagnitude)[0]);
  return true;
}

// --- exact ---------------------------------------------------------------------------------------

constexpr int kElements = kBlockRows * kBlockColumns;

/// One block of D on its way.
struct BlockSums {
  alignas(16) std::int32_t sums[kElements];  // results of a step, addends of the next
  alignas(16) std::int32_t rare[kElements];  // not 0: to be done by the reference
  alignas(16) std::int32_t largest[kElements];
};

// The largest exponents of the products of each row with eight columns.
void find_largest(const std::int16_t* a, const std::int16_t* b, int k, int count, BlockSums& p) {
  for (int row = 0; row < kBlockRows; row += 4) {
    Shorts most[4];
    for (Shorts& each : most) each = Shorts{} + std::int16_t{2 * kZeroExponent};
    for (int at = 0; at < count; ++at) {
      const auto column = load<Shorts>(b, 2 * at);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        const auto sum = load<Shorts>(a, 2 * ((row + r) * k + at)) + column;
        most[r] = larger(most[r], sum);
      }
    }
    for (int r = 0; r < 4; ++r) {
      for (int i = 0; i < kBlockColumns; ++i) p.largest[(row + r) * kBlockColumns + i] = most[r][i];
    }
  }
}

[[gnu::always_inline]] inline Floats power_of(Ints exponents) {
  return std::bit_cast<Floats>((exponents + 127) << 23);
}

// Four sums of a row: the scale of their products, that of their results, and the addend.
struct Aligned {
  Floats down, up;
  Ints addend;
};

template <bool kIsHalf>
[[gnu::always_inline]] inline Aligned align_four(const MatrixUnit& unit, const TileCodec& result,
                                                 int at, BlockSums& p) {
  const auto word = load<Ints>(p.sums + at);
  const Ints raw = kIsHalf ? aligned_bits(result, word) : word;
  const Ints special = (raw & kMagnitude) >= result.first_special;
  const Ints bits = raw & ~special;
  const Floats values = std::bit_cast<Floats>(bits) * (kIsHalf ? result.factor : 1.0F);
  const Ints power = std::bit_cast<Ints>(powers_of(result, bits & kMagnitude));
  const Ints addend = power == 0 ? Ints{} + kNoTerm : (power >> 23) - 127;
  const Ints term = larger(load<Ints>(p.largest + at), addend);
  const Ints floor = Ints{} + std::max(unit.lowest_exponent, kLeastExponent);
  const Ints low = kIsHalf ? Ints{} : (term < floor) & (term > kNoTerm);
  const Ints outside = low | (term > kMostExponent);
  const Ints exponents = smaller(larger(term, floor), Ints{} + kMostExponent);
  store(load<Ints>(p.rare + at) | special | outside, p.rare + at);
  const Floats down = power_of(unit.fraction_bits - exponents);
  return {down, power_of(exponents - unit.fraction_bits), cut(values * down)};
}

// Sums that go the slow way may overflow.
[[gnu::always_inline]] inline Ints wrapped_sum(Ints x, Ints y) {
  using Words [[gnu::vector_size(16)]] = std::uint32_t;
  return std::bit_cast<Ints>(std::bit_cast<Words>(x) + std::bit_cast<Words>(y));
}

// An integer as an f32, cut toward zero or rounded to odd: tile_sums.cpp says how.
[[gnu::always_inline]] inline Floats integer_to_f32(Ints value, bool to_odd) {
  const Ints sign = value >> 31;
  const Ints magnitude = (value ^ sign) - sign;
  const Floats near = __builtin_convertvector(magnitude & ~(magnitude >> 24), Floats);
  Ints bits = std::bit_cast<Ints>(near);
  if (to_odd) bits |= (cut(near) != magnitude) & 1;
  return std::bit_cast<Floats>(bits | (sign << 31));
}

template <bool kIsHalf>
[[gnu::always_inline]] inline void pack_four(const MatrixUnit& unit, Ints even, Ints odd, Floats up,
                                             int at, BlockSums& p) {
  const Ints total = wrapped_sum(even, odd);
  const Ints overflow = ((even ^ total) & (odd ^ total)) >> 31;
  const Floats values = integer_to_f32(total, kIsHalf) * up;
  store(load<Ints>(p.rare + at) | overflow, p.rare + at);
  if constexpr (kIsHalf) {
    const Ints codes = f16_codes(values);
    store(codes & ~(codes == 0x8000), p.sums + at);  // every zero is +0
  } else {
    const auto kept = static_cast<std::int32_t>(~0U << (23 - unit.result_bits));
    store(std::bit_cast<Ints>(values) & kept, p.sums + at);
  }
}

// Two rows: `a` is the first of them, `k` apart; b [count][8].
template <bool kIsHalf>
void add_rows(const MatrixUnit& unit, const TileCodec& result, const float* a, int k,
              const float* b, int count, int at, BlockSums& p) {
  const Aligned it[4] = {
      align_four<kIsHalf>(unit, result, at, p), align_four<kIsHalf>(unit, result, at + 4, p),
      align_four<kIsHalf>(unit, result, at + 8, p), align_four<kIsHalf>(unit, result, at + 12, p)};
  Ints even[4] = {it[0].addend, it[1].addend, it[2].addend, it[3].addend};
  Ints odd[4] = {};
  const Floats down[4] = {it[0].down, it[1].down, it[2].down, it[3].down};
  for (int from = 0; from < count; from += 4, a += 4) {
    const auto upper = load<Floats>(a);
    const auto lower = load<Floats>(a + k);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i, b += kBlockColumns) {
      const auto b0 = load<Floats>(b);
      const auto b1 = load<Floats>(b, 1);
      Ints* const to = i % 2 == 0 ? even : odd;
      to[0] = wrapped_sum(to[0], cut(upper[i] * b0 * down[0]));
      to[1] = wrapped_sum(to[1], cut(upper[i] * b1 * down[1]));
      to[2] = wrapped_sum(to[2], cut(lower[i] * b0 * down[2]));
      to[3] = wrapped_sum(to[3], cut(lower[i] * b1 * down[3]));
    }
  }
  for (int i = 0; i < 4; ++i) pack_four<kIsHalf>(unit, even[i], odd[i], it[i].up, at + 4 * i, p);
}

template <bool kIsHalf>
void multiply_block(const MatrixUnit& unit, DType result, const float* a, int k, const float* b,
               int count, BlockSums& p) {
  const TileCodec codec = tile_codec(result);
  for (int row = 0; row < kBlockRows; row += 2)
    add_rows<kIsHalf>(unit, codec, a + row * k, k, b, count, row * kBlockColumns, p);
}

// --- plain ---------------------------------------------------------------------------------------

// Where products are exact, one rounding is the same as two, and a host may have an instruction
// for it.
template <bool kIsFused>
[[gnu::always_inline]] inline Floats add_product(Floats sum, float a, Floats b) {
#ifdef __FP_FAST_FMAF
  if constexpr (kIsFused) {
    Floats out;
    for (int i = 0; i < kLanes; ++i) out[i] = __builtin_fmaf(a, b[i], sum[i]);
    return out;
  }
#endif
  return sum + a * b;
}

// Four rows.
template <bool kIsFused>
void add_plain(const float* a, int k, const float* b, float* sums) {
  constexpr int kRows = 4;
  Floats left[kRows];
  Floats right[kRows];
  for (int row = 0; row < kRows; ++row) left[row] = load<Floats>(sums, 2 * row);
  for (int row = 0; row < kRows; ++row) right[row] = load<Floats>(sums, 2 * row + 1);
  for (int at = 0; at < k; ++at, b += kBlockColumns) {
    const auto b0 = load<Floats>(b);
    const auto b1 = load<Floats>(b, 1);
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row) {
      left[row] = add_product<kIsFused>(left[row], a[row * k + at], b0);
      right[row] = add_product<kIsFused>(right[row], a[row * k + at], b1);
    }
  }
  for (int row = 0; row < kRows; ++row) store(left[row], sums, 2 * row);
  for (int row = 0; row < kRows; ++row) store(right[row], sums, 2 * row + 1);
}

}  // namespace

// --- operands ------------------------------------------------------------------------------------

WarpgroupProduct::WarpgroupProduct(const MatrixUnit& unit, bool exact, const Shape& shape,
                                   const std::uint32_t* A, const std::uint32_t* B)
    : unit_(unit), is_exact_(exact), shape_(shape), a_words_(A), b_words_(B) {
  WW_CHECK(!exact || (unit.block > 0 && unit.block <= 32 && unit.block % 4 == 0 &&
                      unit.fraction_bits <= 25),
           "blocks of {} products, {} bits kept", unit.block, unit.fraction_bits);
  WW_CHECK(shape.rows % kBlockRows == 0 && shape.columns % kBlockColumns == 0 && shape.k % 4 == 0,
           "{} x {} x {}", shape.rows, shape.columns, shape.k);
  unpack_a();
  unpack_b();
}

void WarpgroupProduct::unpack_a() {
  const TileCodec c = tile_codec(shape_.a);
  const std::size_t count = std::size_t(shape_.rows) * std::size_t(shape_.k);
  a_values_.resize(count);
  a_exponents_.resize(count * kBlockColumns);
  a_special_.resize(std::size_t(shape_.rows));
  for (std::size_t i = 0; i < count; ++i) {
    std::int16_t exponent = 0;
    if (!take_apart(c, is_exact_, a_words_[i], a_values_[i], exponent))
      a_special_[i / std::size_t(shape_.k)] = -1;
    std::fill_n(&a_exponents_[i * kBlockColumns], kBlockColumns, exponent);
  }
}

void WarpgroupProduct::unpack_b() {
  const TileCodec c = tile_codec(shape_.b);
  const auto k = std::size_t(shape_.k);
  b_values_.resize(std::size_t(shape_.columns) * k);
  b_exponents_.resize(b_values_.size());
  b_special_.resize(std::size_t(shape_.columns));
  for (std::size_t column = 0; column < b_special_.size(); ++column) {
    for (std::size_t at = 0; at < k; ++at) {
      const std::size_t to =
          (column / kBlockColumns * k + at) * kBlockColumns + column % kBlockColumns;
      if (!take_apart(c, is_exact_, b_words_[column * k + at], b_values_[to], b_exponents_[to]))
        b_special_[column] = -1;
    }
  }
}

// --- blocks --------------------------------------------------------------------------------------

std::uint32_t WarpgroupProduct::reference(int row, int column, std::uint32_t addend) const {
  const auto k = std::size_t(shape_.k);
  const std::span a(a_words_ + std::size_t(row) * k, k);
  const std::span b(b_words_ + std::size_t(column) * k, k);
  if (shape_.result == DType::Float16)
    return dot_f16(unit_, shape_.a, shape_.b, a, b, static_cast<std::uint16_t>(addend));
  return dot_f32(unit_, shape_.a, shape_.b, a, b, addend);
}

void WarpgroupProduct::exact(int i, int j, std::uint32_t* D) const {
  const int k = shape_.k;
  const bool is_half = shape_.result == DType::Float16;
  BlockSums p;
  std::memcpy(p.sums, D, sizeof p.sums);
  for (int at = 0; at < kElements; ++at) {
    p.rare[at] = a_special_[std::size_t(i * kBlockRows + at / kBlockColumns)] |
                 b_special_[std::size_t(j * kBlockColumns + at % kBlockColumns)];
  }
  for (int from = 0; from < k; from += unit_.block) {
    const int count = std::min(unit_.block, k - from);
    const std::size_t a = std::size_t(i * kBlockRows * k + from);
    const std::size_t b = std::size_t((j * k + from) * kBlockColumns);
    find_largest(&a_exponents_[a * kBlockColumns], &b_exponents_[b], k, count, p);
    if (is_half) {
      multiply_block<true>(unit_, shape_.result, &a_values_[a], k, &b_values_[b], count, p);
    } else {
      multiply_block<false>(unit_, shape_.result, &a_values_[a], k, &b_values_[b], count, p);
    }
  }
  for (int at = 0; at < kElements; ++at) {
    D[at] = p.rare[at] == 0 ? static_cast<std::uint32_t>(p.sums[at])
                            : reference(i * kBlockRows + at / kBlockColumns,
                                        j * kBlockColumns + at % kBlockColumns, D[at]);
  }
}

void WarpgroupProduct::plain(int i, int j, std::uint32_t* D) const {
  const int k = shape_.k;
  const bool is_half = shape_.result == DType::Float16;
  alignas(16) float sums[kElements];
  if (is_half) {
    for (int at = 0; at < kElements; ++at) sums[at] = f16_to_f32(static_cast<std::uint16_t>(D[at]));
  } else {
    std::memcpy(sums, D, sizeof sums);
  }
  const float* a = &a_values_[std::size_t(i * kBlockRows * k)];
  const float* b = &b_values_[std::size_t(j * k * kBlockColumns)];
  const bool has_exact_products = format_of(shape_.a).exponent_bits < 8;
  for (int row = 0; row < kBlockRows; row += 4) {
    float* const to = sums + row * kBlockColumns;
    has_exact_products ? add_plain<true>(a + row * k, k, b, to)
                       : add_plain<false>(a + row * k, k, b, to);
  }
  for (int at = 0; at < kElements; at += kLanes) {  // any NaN becomes the canonical one
    const auto bits = load<Ints>(sums + at);
    const Ints codes = (bits & kMagnitude) > 0x7F800000 ? Ints{} + kMagnitude : bits;
    store(is_half ? f16_codes(std::bit_cast<Floats>(codes)) : codes, D + at);
  }
}

}  // namespace ww::num
