// SPDX-License-Identifier: Apache-2.0
// Operands are packed once, in panels of four lines, and multiplied block by block: exactly by
// block_sums.h, plainly here. Columns are handled in the order in which D has them; only B's packing
// knows which they are.
#include "num/warpgroup_product.h"

#include <algorithm>
#include <span>

#include "base/check.h"
#include "num/block_sums.h"
#include "num/float_format.h"
#include "num/tile_vector.h"

namespace ww::num {
namespace {

// --- operands ------------------------------------------------------------------------------------

/// Four elements taken apart.
struct Taken {
  Floats values;
  Ints exponents;
  Ints special;  // -1: infinities and NaNs, which exact sums take as 0
};

template <bool kIsExact>
[[gnu::always_inline]] inline Taken take_four(const TileCodec& c, std::int32_t zero, Ints words) {
  const Ints raw = aligned_bits(c, words);
  const Ints special = (raw & kMagnitude) >= c.first_special;
  if constexpr (!kIsExact) {
    const auto values = std::bit_cast<Ints>(values_of(c, raw));
    return {std::bit_cast<Floats>(special ? raw | 0x7F800000 : values), Ints{}, Ints{}};
  }
  const Ints bits = raw & ~special;
  const Ints magnitudes = bits & kMagnitude;
  // A subnormal has the smallest normal number's exponent.
  const Ints exponents = larger(magnitudes >> 23, Ints{} + 1) - c.bias;
  return {values_of(c, bits), magnitudes == 0 ? Ints{} + zero : exponents, special};
}

/// The lines of a panel: words of the first, and how far apart they are.
struct PanelLines {
  const std::uint32_t* words;
  std::ptrdiff_t step;
};

// Calls visit(at, Taken of four lines) for each k; `zero` is the exponent of a zero.
template <bool kIsExact, typename Visit>
[[gnu::always_inline]] inline void take_panel(TileCodec c, std::int32_t zero, PanelLines lines,
                                              int k, const Visit& visit) {
  for (int from = 0; from < k; from += kLanes) {
    Ints rows[kLanes];
    transpose_four(lines.words + from, lines.step, rows);
#pragma GCC unroll 4
    for (int i = 0; i < kLanes; ++i) visit(from + i, take_four<kIsExact>(c, zero, rows[i]));
  }
}

// Exponents of A for four rows at one k, as align_rows and align_narrow want them: of each row eight
// times, or of two rows four times each.
[[gnu::always_inline]] inline void spread_wide(Ints exponents, int at, std::int32_t* out) {
  const Ints both = in_turn(exponents, exponents);
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) store(Ints{} + both[r], out, 4 * at + r);
}
[[gnu::always_inline]] inline void spread_narrow(Ints exponents, int at, std::int32_t* out) {
  const Ints low = (exponents & 0xFF) | ((exponents & 0xFF) << 8);
  const Ints high = low << 16;
  store(__builtin_shufflevector(low, low, 0, 0, 0, 0) |
            __builtin_shufflevector(high, high, 1, 1, 1, 1),
        out, 2 * at);
  store(__builtin_shufflevector(low, low, 2, 2, 2, 2) |
            __builtin_shufflevector(high, high, 3, 3, 3, 3),
        out, 2 * at + 1);
}

// Exponents of B for four columns at one k, and then for the next four with those `before`.
[[gnu::always_inline]] inline Ints join_wide(Ints before, Ints exponents, bool is_second) {
  const Ints biased = exponents + kBias;
  return is_second ? in_turn(before, biased) : biased;
}
[[gnu::always_inline]] inline Ints join_narrow(Ints before, Ints exponents, bool is_second) {
  if (!is_second) return exponents & 0xFF;
  const Ints both = before | ((exponents & 0xFF) << 8);
  return both | (both << 16);
}

void take_plainly(TileCodec c, PanelLines lines, int k, float* values) {
  take_panel<false>(c, 0, lines, k,
                    [&](int at, const Taken& taken) { store(taken.values, values, at); });
}

// A panel of A, and of B: the first or the second of a block. Which lines have infinities or NaNs.
template <bool kIsNarrow>
Ints take_rows(TileCodec c, PanelLines lines, int k, float* values, std::int32_t* exponents) {
  Ints special{};
  take_panel<true>(c, zero_exponent(kIsNarrow), lines, k, [&](int at, const Taken& taken) {
    store(taken.values, values, at);
    kIsNarrow ? spread_narrow(taken.exponents, at, exponents)
              : spread_wide(taken.exponents, at, exponents);
    special |= taken.special;
  });
  return special;
}
template <bool kIsNarrow>
Ints take_columns(TileCodec c, PanelLines lines, int k, bool is_second, float* values,
                  std::int32_t* exponents) {
  Ints special{};
  take_panel<true>(c, zero_exponent(kIsNarrow), lines, k, [&](int at, const Taken& taken) {
    store(taken.values, values, at);
    const Ints before = is_second ? load<Ints>(exponents, at) : Ints{};
    store(kIsNarrow ? join_narrow(before, taken.exponents, is_second)
                    : join_wide(before, taken.exponents, is_second),
          exponents, at);
    special |= taken.special;
  });
  return special;
}

// --- plain ---------------------------------------------------------------------------------------

// Where products are exact, one rounding is the same as two, and a host may have an instruction
// for it.
template <bool kIsFused>
[[gnu::always_inline]] inline Floats add_product(Floats sum, Floats a, Floats b) {
#ifdef __FP_FAST_FMAF
  if constexpr (kIsFused) {
    Floats out;
    for (int i = 0; i < kLanes; ++i) out[i] = __builtin_fmaf(a[i], b[i], sum[i]);
    return out;
  }
#endif
  return sum + a * b;
}

// One element of a vector, four times. (An index that is known late makes GCC load elements one by one.)
template <int kAt>
[[gnu::always_inline]] inline Floats copies_of(Floats values) {
  return __builtin_shufflevector(values, values, kAt, kAt, kAt, kAt);
}

// Adds to the sums of four rows the products of their elements, at one k, and of a panel of columns.
template <bool kIsFused>
[[gnu::always_inline]] inline void add_products(Floats rows, Floats columns, Floats* sums) {
  sums[0] = add_product<kIsFused>(sums[0], copies_of<0>(rows), columns);
  sums[1] = add_product<kIsFused>(sums[1], copies_of<1>(rows), columns);
  sums[2] = add_product<kIsFused>(sums[2], copies_of<2>(rows), columns);
  sums[3] = add_product<kIsFused>(sums[3], copies_of<3>(rows), columns);
}

// Any NaN becomes the canonical one.
[[gnu::always_inline]] inline Ints canonical(Floats values) {
  return values == values ? std::bit_cast<Ints>(values) : Ints{} + kMagnitude;
}

// Panels of A whose rows are summed together: as many as there are registers for.
#ifdef __aarch64__
constexpr int kPlainPanels = 2;
#else
constexpr int kPlainPanels = 1;
#endif
constexpr int kPlainRows = 4 * kPlainPanels;

// These rows with two panels of four columns; sums are the bits of f32, rows `step` apart.
template <bool kIsFused>
[[gnu::always_inline]] inline void add_plain(const float* a, const float* b0, const float* b1,
                                             int k, std::uint32_t* d0, std::uint32_t* d1,
                                             std::ptrdiff_t step) {
  Floats left[kPlainRows];
  Floats right[kPlainRows];
#pragma GCC unroll 8
  for (int row = 0; row < kPlainRows; ++row) {
    left[row] = load<Floats>(d0 + row * step);
    right[row] = load<Floats>(d1 + row * step);
  }
  const std::ptrdiff_t panel = std::ptrdiff_t{k} * 4;
  for (int at = 0; at < k; ++at, a += 4) {
    const auto first = load<Floats>(b0, at);
    const auto second = load<Floats>(b1, at);
#pragma GCC unroll 2
    for (int each = 0; each < kPlainPanels; ++each) {
      const auto rows = load<Floats>(a + each * panel);
      add_products<kIsFused>(rows, first, left + 4 * each);
      add_products<kIsFused>(rows, second, right + 4 * each);
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < kPlainRows; ++row) {
    store(canonical(left[row]), d0 + row * step);
    store(canonical(right[row]), d1 + row * step);
  }
}

}  // namespace

// --- operands ------------------------------------------------------------------------------------

WarpgroupProduct::WarpgroupProduct(const MatrixUnit& unit, bool exact, const Shape& shape,
                                   const std::uint32_t* A, const std::uint32_t* B)
    : unit_(unit),
      is_exact_(exact),
      shape_(shape),
      a_words_(A),
      b_words_(B),
      is_narrow_(format_of(shape.a).exponent_bits <= 5) {
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
  const int k = shape_.k;
  const std::size_t elements = std::size_t(shape_.rows) * std::size_t(k);
  a_values_ = std::make_unique_for_overwrite<float[]>(elements);
  if (is_exact_) {
    a_exponents_ = std::make_unique_for_overwrite<std::int32_t[]>(elements * (is_narrow_ ? 2 : 4));
    a_special_.resize(std::size_t(shape_.rows));
  }
  for (int row = 0; row < shape_.rows; row += 4) {
    const PanelLines lines{a_words_ + std::ptrdiff_t{row} * k, k};
    float* const values = &a_values_[std::size_t(row * k)];
    if (!is_exact_) {
      take_plainly(c, lines, k, values);
      continue;
    }
    std::int32_t* const exponents = &a_exponents_[std::size_t(row * k) * (is_narrow_ ? 2 : 4)];
    const Ints special = is_narrow_ ? take_rows<true>(c, lines, k, values, exponents)
                                    : take_rows<false>(c, lines, k, values, exponents);
    store(special, &a_special_[std::size_t(row)]);
    has_specials_ = has_specials_ || any(special);
  }
}

// Place 0 to 7 of a block of B: which of its columns.
int WarpgroupProduct::column_of(int place) const {
  return shape_.order == ColumnOrder::Straight ? place : place % 4 * 2 + place / 4;
}

void WarpgroupProduct::unpack_b() {
  const TileCodec c = tile_codec(shape_.b);
  const int k = shape_.k;
  const std::size_t elements = std::size_t(shape_.columns) * std::size_t(k);
  b_values_ = std::make_unique_for_overwrite<float[]>(elements);
  if (is_exact_) {
    b_exponents_ = std::make_unique_for_overwrite<std::int32_t[]>(elements / 2);
    b_special_.resize(std::size_t(shape_.columns));
  }
  const std::ptrdiff_t step = std::ptrdiff_t{k} * (column_of(1) - column_of(0));
  for (int column = 0; column < shape_.columns; column += 4) {
    const int first = column / 8 * 8 + column_of(column % 8);
    const PanelLines lines{b_words_ + std::ptrdiff_t{first} * k, step};
    float* const values = &b_values_[std::size_t(column * k)];
    if (!is_exact_) {
      take_plainly(c, lines, k, values);
      continue;
    }
    std::int32_t* const exponents = &b_exponents_[std::size_t(column / 8 * k) * kLanes];
    const bool is_second = column % 8 != 0;
    const Ints special = is_narrow_
                             ? take_columns<true>(c, lines, k, is_second, values, exponents)
                             : take_columns<false>(c, lines, k, is_second, values, exponents);
    store(special, &b_special_[std::size_t(column)]);
    has_specials_ = has_specials_ || any(special);
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

StepOperands WarpgroupProduct::step_of(int i, int j, int from) const {
  const int k = shape_.k;
  const auto a = std::size_t(i * kBlockRows * k + from * 4);
  const auto b = std::size_t(j * kBlockColumns * k + from * 4);
  return {.a = &a_values_[a],
          .b = &b_values_[b],
          .a_exponents = &a_exponents_[a * (is_narrow_ ? 2 : 4)],
          .b_exponents = &b_exponents_[std::size_t((j * k + from) * kLanes)],
          .panel = std::ptrdiff_t{k} * 4,
          .count = std::min(unit_.block, k - from),
          .is_narrow = is_narrow_};
}

// A single step whose exponents and addends are all ordinary. Whether they were.
bool WarpgroupProduct::exact_quickly(int i, int j, const BlockPlace& d) const {
  if (shape_.k > unit_.block || shape_.result != DType::Float32 || has_specials_) return false;
  BlockSums p;
  const Extremes seen = add_block<Way::Quick>(unit_, shape_.result, step_of(i, j, 0), d, p);
  if (any((seen.least < least_exponent(is_narrow_) + kBias) | (seen.most > kMaxExponent + kBias) |
          (seen.overflow < 0)))
    return false;
  pack_block<Way::Quick>(unit_, p, d);
  return true;
}

void WarpgroupProduct::exact(int i, int j, const BlockPlace& d) const {
  if (exact_quickly(i, j, d)) return;
  const bool is_half = shape_.result == DType::Float16;
  BlockSums p;
  read_block(d, p);
  const auto left = load<Ints>(&b_special_[std::size_t(j * kBlockColumns)]);
  const auto right = load<Ints>(&b_special_[std::size_t(j * kBlockColumns)], 1);
  for (int row = 0; row < kBlockRows; ++row) {
    const std::int32_t special = a_special_[std::size_t(i * kBlockRows + row)];
    store(left | special, p.rare, 2 * row);
    store(right | special, p.rare, 2 * row + 1);
  }
  for (int from = 0; from < shape_.k; from += unit_.block) {
    const StepOperands step = step_of(i, j, from);
    is_half ? multiply_block<Way::Half>(unit_, shape_.result, step, p)
            : multiply_block<Way::Single>(unit_, shape_.result, step, p);
  }
  for (int at = 0; at < kElements; ++at) {
    if (p.rare[at] == 0) continue;
    const int row = at / kBlockColumns;
    const int place = at % kBlockColumns;
    const std::uint32_t addend = d.columns(row, place / 4)[place % 4];
    p.sums[at] = reference(i * kBlockRows + row, j * kBlockColumns + column_of(place), addend);
  }
  write_block(p, d);
}

void WarpgroupProduct::plain(int i, int j, const BlockPlace& d) const {
  const int k = shape_.k;
  const bool is_half = shape_.result == DType::Float16;
  const auto convert = [&](const auto& each) {
    if (!is_half) return;
    for_each_four(d, [&](std::uint32_t* words, int) {
      for (int lane = 0; lane < kLanes; ++lane) words[lane] = each(words[lane]);
    });
  };
  convert([](std::uint32_t word) {
    return std::bit_cast<std::uint32_t>(f16_to_f32(static_cast<std::uint16_t>(word)));
  });
  const float* const a = &a_values_[std::size_t(i * kBlockRows * k)];
  const float* const b0 = &b_values_[std::size_t(j * kBlockColumns * k)];
  const float* const b1 = b0 + std::ptrdiff_t{k} * 4;
  for (int row = 0; row < kBlockRows; row += kPlainRows) {
    std::uint32_t* const left = d.columns(row, 0);
    std::uint32_t* const right = d.columns(row, 1);
    is_narrow_ ? add_plain<true>(a + row * k, b0, b1, k, left, right, d.step)
               : add_plain<false>(a + row * k, b0, b1, k, left, right, d.step);
  }
  convert([](std::uint32_t word) { return f32_to_f16(std::bit_cast<float>(word)); });
}

}  // namespace ww::num
