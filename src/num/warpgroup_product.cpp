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

using HalfShorts [[gnu::vector_size(8)]] = std::int16_t;

/// Four elements taken apart.
struct Taken {
  Floats values;
  HalfShorts exponents;
  Ints special;  // -1: infinities and NaNs, which exact sums take as 0
};

[[gnu::always_inline]] inline Taken take_four(const TileCodec& c, bool exact,
                                              const std::uint32_t* words) {
  const Ints raw = aligned_bits(c, load<Ints>(words));
  const Ints special = (raw & kMagnitude) >= c.first_special;
  const Ints bits = raw & ~special;
  const Ints powers = std::bit_cast<Ints>(powers_of(c, bits & kMagnitude));
  const Ints exponents = powers == 0 ? Ints{} + kZeroExponent : (powers >> 23) - 127;
  const Ints plain = special & (raw | 0x7F800000);
  const Ints values = std::bit_cast<Ints>(values_of(c, bits)) | (exact ? Ints{} : plain);
  return {std::bit_cast<Floats>(values), __builtin_convertvector(exponents, HalfShorts), special};
}

[[gnu::always_inline]] inline bool any(Ints mask) {
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}

// --- exact ---------------------------------------------------------------------------------------

constexpr int kElements = kBlockRows * kBlockColumns;

/// One block of D on its way.
struct BlockSums {
  alignas(16) std::int32_t sums[kElements];  // results of a step, addends of the next
  alignas(16) std::int32_t rare[kElements];  // not 0: to be done by the reference
  alignas(16) std::int16_t largest[kElements];
  // Of all elements, for the quick way: the least and the largest exponent, the largest bits of an
  // addend, and whether a sum was too large.
  Ints least{}, most{}, addends{}, overflow{};
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

// The same for f32 where nothing is rare, which is found out afterwards.
[[gnu::always_inline]] inline Aligned align_quickly(const MatrixUnit& unit, int at, BlockSums& p) {
  const auto bits = load<Ints>(p.sums + at);
  const Ints magnitudes = bits & kMagnitude;
  const Ints largest = __builtin_convertvector(load<HalfShorts>(p.largest + at), Ints);
  const Ints exponents = larger(largest, (magnitudes >> 23) - 127);
  p.least = smaller(p.least, exponents);
  p.most = larger(p.most, exponents);
  p.addends = larger(p.addends, magnitudes);
  const Floats down = power_of(unit.fraction_bits - exponents);
  return {down, power_of(exponents - unit.fraction_bits), cut(std::bit_cast<Floats>(bits) * down)};
}

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
  const Ints largest = __builtin_convertvector(load<HalfShorts>(p.largest + at), Ints);
  const Ints term = larger(largest, addend);
  const Ints floor = Ints{} + std::max(unit.lowest_exponent, kLeastExponent);
  const Ints low = kIsHalf ? Ints{} : (term < floor) & (term > kNoTerm);
  const Ints outside = low | (term > kMostExponent);
  const Ints exponents = smaller(larger(term, floor), Ints{} + kMostExponent);
  store(load<Ints>(p.rare + at) | special | outside, p.rare + at);
  const Floats down = power_of(unit.fraction_bits - exponents);
  return {down, power_of(exponents - unit.fraction_bits), cut(values * down)};
}

/// f32 results with nothing rare, f32 and f16 results.
enum class Way : std::uint8_t { Quick, Single, Half };

template <Way kWay>
[[gnu::always_inline]] inline Aligned aligned_for(const MatrixUnit& unit, const TileCodec& result,
                                                  int at, BlockSums& p) {
  if constexpr (kWay == Way::Quick) return align_quickly(unit, at, p);
  return align_four<kWay == Way::Half>(unit, result, at, p);
}

template <Way kWay>
[[gnu::always_inline]] inline void pack_four(const MatrixUnit& unit, Ints even, Ints odd, Floats up,
                                             int at, BlockSums& p) {
  constexpr bool kIsHalf = kWay == Way::Half;
  const Ints total = wrapped_sum(even, odd);
  const Ints overflow = ((even ^ total) & (odd ^ total)) >> 31;
  const Floats values = whole_to_f32(total, kIsHalf) * up;
  if constexpr (kWay == Way::Quick) {
    p.overflow |= overflow;
  } else {
    store(load<Ints>(p.rare + at) | overflow, p.rare + at);
  }
  if constexpr (kIsHalf) {
    const Ints codes = f16_codes(values);
    store(codes & ~(codes == 0x8000), p.sums + at);  // every zero is +0
  } else {
    const auto kept = static_cast<std::int32_t>(~0U << (23 - unit.result_bits));
    store(std::bit_cast<Ints>(values) & kept, p.sums + at);
  }
}

// Two rows: `a` is the first of them, `k` apart; b [count][8].
template <Way kWay>
[[gnu::always_inline]] inline void add_rows(const MatrixUnit& unit, const TileCodec& result,
                                            const float* a, int k, const float* b, int count,
                                            int at, BlockSums& p) {
  const Aligned it[4] = {
      aligned_for<kWay>(unit, result, at, p), aligned_for<kWay>(unit, result, at + 4, p),
      aligned_for<kWay>(unit, result, at + 8, p), aligned_for<kWay>(unit, result, at + 12, p)};
  Ints even[4] = {it[0].addend, it[1].addend, it[2].addend, it[3].addend};
  Ints odd[4] = {};
  const Floats down[4] = {it[0].down, it[1].down, it[2].down, it[3].down};
  for (int from = 0; from < count; from += 2, a += 2) {
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i, b += kBlockColumns) {
      const auto b0 = load<Floats>(b);
      const auto b1 = load<Floats>(b, 1);
      Ints* const to = i == 0 ? even : odd;
      to[0] = wrapped_sum(to[0], cut(a[i] * b0 * down[0]));
      to[1] = wrapped_sum(to[1], cut(a[i] * b1 * down[1]));
      to[2] = wrapped_sum(to[2], cut(a[k + i] * b0 * down[2]));
      to[3] = wrapped_sum(to[3], cut(a[k + i] * b1 * down[3]));
    }
  }
  for (int i = 0; i < 4; ++i) pack_four<kWay>(unit, even[i], odd[i], it[i].up, at + 4 * i, p);
}

template <Way kWay>
void multiply_block(const MatrixUnit& unit, DType result, const float* a, int k, const float* b,
                    int count, BlockSums& p) {
  const TileCodec codec = tile_codec(result);
  for (int row = 0; row < kBlockRows; row += 2)
    add_rows<kWay>(unit, codec, a + row * k, k, b, count, row * kBlockColumns, p);
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

// Any NaN becomes the canonical one.
[[gnu::always_inline]] inline Ints canonical(Floats values) {
  const auto bits = std::bit_cast<Ints>(values);
  return (bits & kMagnitude) > 0x7F800000 ? Ints{} + kMagnitude : bits;
}

// Four rows; sums are the bits of f32.
template <bool kIsFused>
[[gnu::always_inline]] inline void add_plain(const float* a, int k, const float* b,
                                             std::uint32_t* sums) {
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
  for (int row = 0; row < kRows; ++row) store(canonical(left[row]), sums, 2 * row);
  for (int row = 0; row < kRows; ++row) store(canonical(right[row]), sums, 2 * row + 1);
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
  const auto k = std::size_t(shape_.k);
  const std::size_t count = std::size_t(shape_.rows) * k;
  a_values_.resize(count);
  if (is_exact_) a_exponents_.resize(count * kBlockColumns);
  a_special_.resize(std::size_t(shape_.rows));
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Taken taken = take_four(c, is_exact_, a_words_ + i);
    store(taken.values, &a_values_[i]);
    for (std::size_t e = 0; is_exact_ && e < kLanes; ++e)
      store(Shorts{} + taken.exponents[e], &a_exponents_[(i + e) * kBlockColumns]);
    if (!any(taken.special)) continue;
    a_special_[i / k] = -1;
    has_specials_ = true;
  }
}

void WarpgroupProduct::unpack_b() {
  const TileCodec c = tile_codec(shape_.b);
  const auto k = std::size_t(shape_.k);
  b_values_.resize(std::size_t(shape_.columns) * k);
  b_exponents_.resize(b_values_.size());
  b_special_.resize(std::size_t(shape_.columns));
  std::vector<std::uint32_t> turned(k * kBlockColumns);
  for (std::size_t column = 0; column < b_special_.size(); column += kBlockColumns) {
    transpose_columns(b_words_ + column * k, shape_.k, turned.data());
    Ints special[2] = {};
    for (std::size_t i = 0; i < turned.size(); i += kLanes) {
      const Taken taken = take_four(c, is_exact_, &turned[i]);
      store(taken.values, &b_values_[column * k + i]);
      store(taken.exponents, &b_exponents_[column * k + i]);
      special[i / kLanes % 2] |= taken.special;
    }
    has_specials_ = has_specials_ || any(special[0] | special[1]);
    store(special[0], &b_special_[column]);
    store(special[1], &b_special_[column], 1);
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

// A single step whose exponents and addends are all ordinary. Whether they were.
bool WarpgroupProduct::exact_quickly(int i, int j, std::uint32_t* D) const {
  const int k = shape_.k;
  if (k > unit_.block || shape_.result != DType::Float32 || has_specials_) return false;
  BlockSums p;
  std::memcpy(p.sums, D, sizeof p.sums);
  const auto a = std::size_t(i * kBlockRows * k);
  const auto b = std::size_t(j * k * kBlockColumns);
  find_largest(&a_exponents_[a * kBlockColumns], &b_exponents_[b], k, k, p);
  multiply_block<Way::Quick>(unit_, shape_.result, &a_values_[a], k, &b_values_[b], k, p);
  if (any((p.least < kLeastExponent) | (p.most > kMostExponent) | (p.addends >= 0x7F800000) |
          p.overflow))
    return false;
  std::memcpy(D, p.sums, sizeof p.sums);
  return true;
}

void WarpgroupProduct::exact(int i, int j, std::uint32_t* D) const {
  if (exact_quickly(i, j, D)) return;
  const int k = shape_.k;
  const bool is_half = shape_.result == DType::Float16;
  BlockSums p;
  std::memcpy(p.sums, D, sizeof p.sums);
  const auto left = load<Ints>(&b_special_[std::size_t(j * kBlockColumns)]);
  const auto right = load<Ints>(&b_special_[std::size_t(j * kBlockColumns)], 1);
  for (int row = 0; row < kBlockRows; ++row) {
    const std::int32_t special = a_special_[std::size_t(i * kBlockRows + row)];
    store(left | special, p.rare, 2 * row);
    store(right | special, p.rare, 2 * row + 1);
  }
  for (int from = 0; from < k; from += unit_.block) {
    const int count = std::min(unit_.block, k - from);
    const std::size_t a = std::size_t(i * kBlockRows * k + from);
    const std::size_t b = std::size_t((j * k + from) * kBlockColumns);
    find_largest(&a_exponents_[a * kBlockColumns], &b_exponents_[b], k, count, p);
    if (is_half) {
      multiply_block<Way::Half>(unit_, shape_.result, &a_values_[a], k, &b_values_[b], count, p);
    } else {
      multiply_block<Way::Single>(unit_, shape_.result, &a_values_[a], k, &b_values_[b], count, p);
    }
  }
  Ints rare{};
  for (int at = 0; at < kElements; at += kLanes) rare |= load<Ints>(p.rare + at);
  if (!any(rare)) {
    std::memcpy(D, p.sums, sizeof p.sums);
    return;
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
  for (int at = 0; is_half && at < kElements; ++at)
    D[at] = std::bit_cast<std::uint32_t>(f16_to_f32(static_cast<std::uint16_t>(D[at])));
  const float* a = &a_values_[std::size_t(i * kBlockRows * k)];
  const float* b = &b_values_[std::size_t(j * k * kBlockColumns)];
  const bool has_exact_products = format_of(shape_.a).exponent_bits < 8;
  for (int row = 0; row < kBlockRows; row += 4) {
    std::uint32_t* const to = D + row * kBlockColumns;
    has_exact_products ? add_plain<true>(a + row * k, k, b, to)
                       : add_plain<false>(a + row * k, k, b, to);
  }
  for (int at = 0; is_half && at < kElements; ++at) D[at] = f32_to_f16(std::bit_cast<float>(D[at]));
}

}  // namespace ww::num
