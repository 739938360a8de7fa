// SPDX-License-Identifier: Apache-2.0
// How exact sums are made fast. A product of two elements has at most 22 bits, so it is exact in
// f32, and so is its multiple by a power of two. A block of products goes through three steps, each
// for all elements of D:
//
//   align      find the largest exponent E of each element's products and addend. It is the largest
//              product of the powers of two below the operands, which f32 holds as well
//   add        each product times 2^(fraction_bits - E), cut to an integer, is exactly the matrix
//              unit's aligned and cut term; add up these integers
//   pack       the sum times 2^(E - fraction_bits), cut to f32 or rounded to f16
//
// What does not fit is rare and left to dot_f32 and dot_f16, one element of D at a time: infinities
// and NaNs, sums in the lowest part of f32's range, and bf16 or tf32 operands so far apart that
// their products leave f32's range even after each row and column was scaled to a common exponent.
#include "num/tile_sums.h"

#include <span>

#include "base/check.h"
#include "num/float_format.h"
#include "num/host_lanes.h"
#include "num/tile_vector.h"

namespace ww::num {
namespace {

// --- operands ------------------------------------------------------------------------------------

// The rows of A, or the columns of B side by side: element `at` of line `line` is at index
// line * line_step + at * step.
struct Lines {
  int count;
  int length;
  int line_step;
  int step;
};

struct Operand {
  alignas(16) float values[kMaxTileM * kMaxTileK];
  alignas(16) float powers[kMaxTileM * kMaxTileK];
  // Of each line: its values are the elements' times 2^-shift, and have no exponent below -reach
  // (where that matters: narrow formats have 0).
  std::int32_t shift[kMaxTileM];
  std::int32_t reach[kMaxTileM];
};

// Lines whose reaches add up to more than this have products that f32 cannot hold or align.
constexpr int kProductReach = 100;
// The reach of a line that is left to the reference.
constexpr int kOutOfReach = 1000;

// Leaves lines with infinities and NaNs to the reference.
void drop_specials(const TileCodec& c, const std::uint32_t* words, Lines lines, Operand& out) {
  for (int line = 0; line < lines.count; ++line) {
    for (int at = 0; at < lines.length; ++at) {
      const int i = line * lines.line_step + at * lines.step;
      const std::int32_t bits = aligned_bits(c, static_cast<std::int32_t>(words[i]));
      if ((bits & kMagnitude) < c.first_special) continue;
      out.values[i] = 0;
      out.powers[i] = 0;
      out.reach[line] = kOutOfReach;
    }
  }
}

void unpack(DType type, const std::uint32_t* words, Lines lines, Operand& out) {
  std::fill(out.shift, out.shift + kMaxTileM, 0);
  std::fill(out.reach, out.reach + kMaxTileM, 0);
  const TileCodec c = tile_codec(type);
  Ints largest{};
  for (int at = 0; at < lines.count * lines.length; at += kLanes) {
    const Ints bits = aligned_bits(c, load<Ints>(words + at));
    const Ints magnitudes = bits & kMagnitude;
    largest = larger(largest, magnitudes);
    store(values_of(c, bits), out.values + at);
    store(powers_of(c, magnitudes), out.powers + at);
  }
  if (any_at_least(largest, c.first_special)) drop_specials(c, words, lines, out);
}

int exponent_of(float power) {
  return static_cast<int>(std::bit_cast<std::uint32_t>(power) >> 23U) - 127;
}

struct Range {
  int low;
  int high;
};

// Of the exponents of all elements, and of 0 as that of 1.
Range exponent_range(const float* powers, int count) {
  Floats low = Floats{} + 1.0F;
  Floats high = low;
  for (int at = 0; at < count; at += kLanes) {
    const auto some = load<Floats>(powers + at);
    const Floats nonzero = some == 0.0F ? Floats{} + 1.0F : some;
    low = smaller(low, nonzero);
    high = larger(high, nonzero);
  }
  return {exponent_of(std::min({low[0], low[1], low[2], low[3]})),
          exponent_of(std::max({high[0], high[1], high[2], high[3]}))};
}

// Of one line, zeros not counting; `high` is below `low` if there is nothing else.
Range line_range(int line, Lines lines, const Operand& operand) {
  Range range{1000, -1000};
  for (int at = 0; at < lines.length; ++at) {
    const float power = operand.powers[line * lines.line_step + at * lines.step];
    if (power == 0) continue;
    range = {std::min(range.low, exponent_of(power)), std::max(range.high, exponent_of(power))};
  }
  return range;
}

float power_of_two_f32(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(127 + exponent) << 23U);
}

// Scales a line so that its largest exponent becomes 60, or as near to it as one factor can get. If
// its lowest ones are then so far down that values lose bits, it is left to the reference.
void centre_line(int line, Lines lines, Operand& out) {
  const Range range = line_range(line, lines, out);
  if (range.high < range.low) return;
  const int by = std::min(60 - range.high, 127);
  const int reach = -(range.low + by);
  const bool is_far = reach > 120;
  const float factor = is_far ? 0 : power_of_two_f32(by);
  for (int at = 0; at < lines.length; ++at) {
    const int i = line * lines.line_step + at * lines.step;
    out.values[i] *= factor;
    out.powers[i] *= factor;
  }
  out.shift[line] = -by;
  out.reach[line] = std::max(out.reach[line], is_far ? kOutOfReach : reach);
}

struct Operands {
  Operand a;
  Operand b;
  bool is_shifted;  // any line of them
};

// Formats with f32's exponents: their products can be beyond it.
void bring_products_in_range(Lines rows, Lines columns, Operands& operands) {
  const Range a = exponent_range(operands.a.powers, rows.count * rows.length);
  const Range b = exponent_range(operands.b.powers, columns.count * columns.length);
  if (a.low + b.low >= -kProductReach && a.high + b.high <= 120) return;
  for (int row = 0; row < rows.count; ++row) centre_line(row, rows, operands.a);
  for (int column = 0; column < columns.count; ++column) centre_line(column, columns, operands.b);
  operands.is_shifted = true;
}

void unpack_operands(const TileSums& tile, Operands& out) {
  const auto [m, n, k] = tile.shape;
  const Lines rows{m, k, k, 1};
  const Lines columns{n, k, 1, n};
  alignas(16) std::uint32_t transposed[kMaxTileN * kMaxTileK];
  transpose_columns(tile.B, k, transposed);
  unpack(tile.a, tile.A, rows, out.a);
  unpack(tile.b, transposed, columns, out.b);
  out.is_shifted = false;
  if (format_of(tile.a).exponent_bits == 8) bring_products_in_range(rows, columns, out);
}

// --- align ---------------------------------------------------------------------------------------

constexpr int kMaxElements = kMaxTileM * kMaxTileN;

// All elements of D on their way through the blocks.
struct Progress {
  alignas(16) std::int32_t sums[kMaxElements];   // results of the last block, addends of the next
  alignas(16) std::int32_t rare[kMaxElements];   // not 0: to be done by the reference
  alignas(16) std::int32_t shift[kMaxElements];  // a product's exponent is so much more than f32's
  // Of the current block: what scales products to units of the last bit kept, and sums back. There
  // are two sums, of even and of odd k, because one alone could be 2^31.
  alignas(16) float downs[kMaxElements];
  alignas(16) float ups[kMaxElements];
  alignas(16) std::int32_t even[kMaxElements];
  alignas(16) std::int32_t odd[kMaxElements];
};

struct Block {
  int from;
  int count;
};

// The largest powers of two of products of two rows of A with eight columns of B, as bits: positive
// numbers compare like their bits, and integers have a maximum in one instruction.
void largest_powers(const float* a, const float* b, int k, int count, std::int32_t* out) {
  Ints row0[2] = {};
  Ints row1[2] = {};
  for (int at = 0; at < count; ++at, b += kMaxTileN) {
    const auto b0 = load<Floats>(b);
    const auto b1 = load<Floats>(b, 1);
    row0[0] = larger(row0[0], std::bit_cast<Ints>(a[at] * b0));
    row0[1] = larger(row0[1], std::bit_cast<Ints>(a[at] * b1));
    row1[0] = larger(row1[0], std::bit_cast<Ints>(a[k + at] * b0));
    row1[1] = larger(row1[1], std::bit_cast<Ints>(a[k + at] * b1));
  }
  store(row0[0], out);
  store(row0[1], out, 1);
  store(row1[0], out, 2);
  store(row1[1], out, 3);
}

struct Addends {
  Floats values;
  Ints powers;   // as bits
  Ints special;  // infinities and NaNs, which become zeros
};

// f32 needs no moving of bits: its codec does nothing.
template <bool kIsHalf>
[[gnu::always_inline]] inline Addends take_addends(const TileCodec& c, const std::int32_t* words) {
  const auto word = load<Ints>(words);
  const Ints raw = kIsHalf ? aligned_bits(c, word) : word;
  const Ints special = (raw & kMagnitude) >= c.first_special;
  const Ints bits = raw & ~special;
  const Floats values = std::bit_cast<Floats>(bits) * (kIsHalf ? c.factor : 1.0F);
  return {values, std::bit_cast<Ints>(powers_of(c, bits & kMagnitude)), special};
}

// Below 2^this, f32 cannot hold the scales.
constexpr int kLowestExponent = -100;

// Four elements: their scales, and the addend in units of the last bit kept.
template <bool kIsHalf>
[[gnu::always_inline]] inline void align(const MatrixUnit& unit, const TileCodec& result,
                                         Ints largest, int at, Progress& p) {
  const auto addends = take_addends<kIsHalf>(result, p.sums + at);
  const Ints floor = Ints{} + ((127 + std::max(unit.lowest_exponent, kLowestExponent)) << 23);
  const Ints term = larger(largest, addends.powers);
  const Ints power = larger(term, floor);
  const Ints down = (127 << 23) - power + ((127 + unit.fraction_bits) << 23);
  store(down, p.downs + at);
  store(power - (unit.fraction_bits << 23), p.ups + at);
  store(cut(addends.values * std::bit_cast<Floats>(down)), p.even + at);
  // Lower terms than the floor are rare in f32, and zeros in effect; in f16 the floor is the
  // unit's.
  const Ints low = kIsHalf ? Ints{} : (term < floor) & (term != 0);
  store(load<Ints>(p.rare + at) | addends.special | low, p.rare + at);
}

// 2^exponent, which is kept within f32's normal numbers.
[[gnu::always_inline]] inline Floats clamped_powers(Ints exponents) {
  const Ints biased = smaller(larger(exponents + 127, Ints{} + 1), Ints{} + 254);
  return std::bit_cast<Floats>(biased << 23);
}

[[gnu::always_inline]] inline Ints exponents_of(Ints power_bits) {
  return power_bits == 0 ? Ints{} - 10000 : (power_bits >> 23) - 127;
}

// The same where products are shifted, so that exponents can be beyond f32's.
template <bool kIsHalf>
[[gnu::always_inline]] inline void align_shifted(const MatrixUnit& unit, const TileCodec& result,
                                                 Ints largest, int at, Progress& p) {
  const auto addends = take_addends<kIsHalf>(result, p.sums + at);
  const auto shift = load<Ints>(p.shift + at);
  const Ints term = larger(exponents_of(largest) + shift, exponents_of(addends.powers));
  const Ints exponents = larger(term, Ints{} + unit.lowest_exponent);
  const Ints down = unit.fraction_bits - exponents;
  // A product's scale that is out of range does no harm: below, all products are cut to 0 anyway,
  // and above, they are 0.
  store(clamped_powers(down + shift), p.downs + at);
  store(clamped_powers(-down), p.ups + at);
  store(cut(addends.values * clamped_powers(down)), p.even + at);
  const Ints outside = (exponents < kLowestExponent) | (exponents > 127);
  store(load<Ints>(p.rare + at) | addends.special | outside, p.rare + at);
}

template <bool kIsHalf, bool kIsShifted>
void align_all(const TileSums& tile, const Operands& operands, Block block, Progress& p) {
  const auto [m, n, k] = tile.shape;
  alignas(16) std::int32_t largest[kMaxElements];
  const int b = block.from * kMaxTileN;
  for (int row = 0; row < m; row += 2) {
    const int a = row * k + block.from;
    const int at = row * n;
    largest_powers(operands.a.powers + a, operands.b.powers + b, k, block.count, largest + at);
  }
  const TileCodec result = tile_codec(tile.result);
  const MatrixUnit unit = tile.unit;
  for (int at = 0; at < m * n; at += kLanes) {
    const auto powers = load<Ints>(largest + at);
    if constexpr (kIsShifted) {
      align_shifted<kIsHalf>(unit, result, powers, at, p);
    } else {
      align<kIsHalf>(unit, result, powers, at, p);
    }
  }
}

// --- add -----------------------------------------------------------------------------------------

// Two rows of A with eight columns of B.
void add_products(const float* a, const float* b, int k, int count, int at, Progress& p) {
  const auto down0 = load<Floats>(p.downs + at);
  const auto down1 = load<Floats>(p.downs + at, 1);
  const auto down2 = load<Floats>(p.downs + at, 2);
  const auto down3 = load<Floats>(p.downs + at, 3);
  auto even0 = load<Ints>(p.even + at);
  auto even1 = load<Ints>(p.even + at, 1);
  auto even2 = load<Ints>(p.even + at, 2);
  auto even3 = load<Ints>(p.even + at, 3);
  Ints odd0{};
  Ints odd1{};
  Ints odd2{};
  Ints odd3{};
  constexpr int kTwoRows = 2 * kMaxTileN;
  for (int from = 0; from < count; from += 2, a += 2, b += kTwoRows) {
    const auto b0 = load<Floats>(b);
    const auto b1 = load<Floats>(b, 1);
    even0 += cut(a[0] * b0 * down0);
    even1 += cut(a[0] * b1 * down1);
    even2 += cut(a[k] * b0 * down2);
    even3 += cut(a[k] * b1 * down3);
    const auto b2 = load<Floats>(b, 2);
    const auto b3 = load<Floats>(b, 3);
    odd0 += cut(a[1] * b2 * down0);
    odd1 += cut(a[1] * b3 * down1);
    odd2 += cut(a[k + 1] * b2 * down2);
    odd3 += cut(a[k + 1] * b3 * down3);
  }
  store(even0, p.even + at);
  store(even1, p.even + at, 1);
  store(even2, p.even + at, 2);
  store(even3, p.even + at, 3);
  store(odd0, p.odd + at);
  store(odd1, p.odd + at, 1);
  store(odd2, p.odd + at, 2);
  store(odd3, p.odd + at, 3);
}

void add_all(const TileSums& tile, const Operands& operands, Block block, Progress& p) {
  const int k = tile.shape.k;
  const int b = block.from * kMaxTileN;
  for (int row = 0; row < tile.shape.m; row += 2) {
    const int a = row * k + block.from;
    add_products(operands.a.values + a, operands.b.values + b, k, block.count, row * kMaxTileN, p);
  }
}

// --- pack ----------------------------------------------------------------------------------------

template <bool kIsHalf>
void pack_all(int result_bits, int count, Progress& p) {
  const auto kept = static_cast<std::int32_t>(~0U << (23 - result_bits));
  for (int at = 0; at < count; at += kLanes) {
    const auto even = load<Ints>(p.even + at);
    const auto odd = load<Ints>(p.odd + at);
    const Ints total = wrapped_sum(even, odd);
    const Ints overflow = ((even ^ total) & (odd ^ total)) >> 31;
    const Floats values = whole_to_f32(total, kIsHalf) * load<Floats>(p.ups + at);
    if constexpr (kIsHalf) {
      const Ints codes = f16_codes(values);
      store(codes & ~(codes == 0x8000), p.sums + at);  // every zero is +0
    } else {
      store(std::bit_cast<Ints>(values) & kept, p.sums + at);
    }
    store(load<Ints>(p.rare + at) | overflow, p.rare + at);
  }
}

// --- tiles ---------------------------------------------------------------------------------------

void start(const TileSums& tile, const Operands& operands, const std::uint32_t* D, Progress& p) {
  for (int at = 0; at < tile.shape.m * kMaxTileN; at += kLanes) {
    const int row = at / kMaxTileN;
    const int column = at % kMaxTileN;
    const Ints reach = load<Ints>(operands.b.reach + column) + operands.a.reach[row];
    Ints shift = load<Ints>(operands.b.shift + column) + operands.a.shift[row];
    if (tile.row_scales != nullptr) shift += tile.row_scales[row];
    if (tile.column_scales != nullptr) shift += load<Ints>(tile.column_scales + column);
    store(load<Ints>(D + at), p.sums + at);
    store(shift, p.shift + at);
    store(reach > kProductReach, p.rare + at);
  }
}

template <bool kIsHalf, bool kIsShifted>
void run_blocks(const TileSums& tile, const Operands& operands, Progress& p) {
  const int step = tile.unit.block;
  for (int from = 0; from < tile.shape.k; from += step) {
    const Block block{from, std::min(step, tile.shape.k - from)};
    align_all<kIsHalf, kIsShifted>(tile, operands, block, p);
    add_all(tile, operands, block, p);
    pack_all<kIsHalf>(tile.unit.result_bits, tile.shape.m * kMaxTileN, p);
  }
}

void run(const TileSums& tile, const Operands& operands, Progress& p) {
  const bool is_half = tile.result == DType::Float16;
  const bool is_shifted =
      operands.is_shifted || tile.row_scales != nullptr || tile.column_scales != nullptr;
  if (is_half) {
    is_shifted ? run_blocks<true, true>(tile, operands, p)
               : run_blocks<true, false>(tile, operands, p);
  } else {
    is_shifted ? run_blocks<false, true>(tile, operands, p)
               : run_blocks<false, false>(tile, operands, p);
  }
}

std::uint32_t reference_sum(const TileSums& tile, int row, int column, std::uint32_t addend) {
  const auto k = static_cast<std::size_t>(tile.shape.k);
  const std::span a(tile.A + static_cast<std::size_t>(row) * k, k);
  const std::span b(tile.B + static_cast<std::size_t>(column) * k, k);
  const int scale = (tile.row_scales != nullptr ? tile.row_scales[row] : 0) +
                    (tile.column_scales != nullptr ? tile.column_scales[column] : 0);
  if (tile.result == DType::Float32) return dot_f32(tile.unit, tile.a, tile.b, a, b, addend, scale);
  return dot_f16(tile.unit, tile.a, tile.b, a, b, static_cast<std::uint16_t>(addend), scale);
}

// The results into D, which still holds the addends.
void finish(const TileSums& tile, const Progress& p, std::uint32_t* D) {
  const int count = tile.shape.m * kMaxTileN;
  Ints rare{};
  for (int at = 0; at < count; at += kLanes) rare |= load<Ints>(p.rare + at);
  if ((rare[0] | rare[1] | rare[2] | rare[3]) == 0) {
    std::memcpy(D, p.sums, static_cast<std::size_t>(count) * sizeof *D);
    return;
  }
  for (int at = 0; at < count; ++at) {
    D[at] = p.rare[at] == 0 ? static_cast<std::uint32_t>(p.sums[at])
                            : reference_sum(tile, at / kMaxTileN, at % kMaxTileN, D[at]);
  }
}

}  // namespace

void check_tile(TileShape shape, int step) {
  const auto [m, n, k] = shape;
  WW_CHECK((m == 8 || m == 16) && n == kMaxTileN && k > 0 && k <= kMaxTileK && k % step == 0,
           "a tile of m{}n{}k{}", m, n, k);
}

void exact_sums(const TileSums& tile, std::uint32_t* D) {
  const MatrixUnit& unit = tile.unit;
  WW_CHECK(unit.block > 0 && unit.block <= 32 && unit.block % 2 == 0 && unit.fraction_bits <= 25,
           "blocks of {} products, {} bits kept", unit.block, unit.fraction_bits);
  Operands operands;
  unpack_operands(tile, operands);
  Progress progress;
  start(tile, operands, D, progress);
  in_lanes([=, &operands, &progress] { run(tile, operands, progress); });
  finish(tile, progress, D);
}

}  // namespace ww::num
