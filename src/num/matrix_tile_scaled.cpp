// SPDX-License-Identifier: Apache-2.0
// Block-scaled instructions of num/matrix_tile.h. Two ways, by the number of scales to a row:
//
//   one scale     (mxf8f6f4) it is a power of two, and is added to the exponent of every product;
//                 the rest is an ordinary sum
//   more of them  (mxf4, mxf4nvf4) e2m1 products are added exactly in groups of 16; a group's sum
//                 times both significands is a term whose exponent is that of the scales, even if
//                 the sum is 0; the terms and the addend are aligned, cut and added like products
//                 are
//
// A scale that is NaN makes everything it meets NaN.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>

#include "base/check.h"
#include "num/float_format.h"
#include "num/matrix_tile.h"
#include "num/tile_sums.h"

namespace ww::num {
namespace {

constexpr std::uint32_t kNanBits = 0x7FFFFFFF;
constexpr int kGroup = 16;
constexpr int kMaxScales = 4;
constexpr MatrixUnit kGroupUnit{kMaxScales, 35, -133};  // of all chips that have it

void check(DType a, DType b, TileShape shape, const TileScales& scales) {
  const bool one = scales.count == 1 && scales.type == DType::Float8E8M0;
  const bool fp4 = a == DType::Float4E2M1fn && b == a && shape.k == 64;
  const bool more = fp4 && (scales.count == 2 || scales.count == 4) &&
                    (scales.type == DType::Float8E8M0 || scales.type == DType::Float8E4M3fn);
  const bool narrow = bits_of(a) <= 8 && bits_of(b) <= 8;
  check_tile(shape, 4);
  WW_CHECK(narrow && (one || more), "m{}n{}k{} of {} and {} with {} scales of {}", shape.m, shape.n,
           shape.k, name_of(a), name_of(b), scales.count, name_of(scales.type));
}

// --- one scale -----------------------------------------------------------------------------------

bool is_nan_scale(std::uint8_t ue8m0) { return ue8m0 == 0xFF; }

void sum_with_one_scale(TileSums tile, const TileScales& scales, std::uint32_t* D) {
  std::int32_t rows[kMaxTileM] = {};
  std::int32_t columns[kMaxTileN] = {};
  for (int i = 0; i < tile.shape.m; ++i) rows[i] = scales.a[i] - 127;
  for (int i = 0; i < tile.shape.n; ++i) columns[i] = scales.b[i] - 127;
  tile.row_scales = rows;
  tile.column_scales = columns;
  exact_sums(tile, D);
  for (int i = 0; i < tile.shape.m * tile.shape.n; ++i) {
    if (is_nan_scale(scales.a[i / kMaxTileN]) || is_nan_scale(scales.b[i % kMaxTileN]))
      D[i] = kNanBits;
  }
}

// --- more scales ---------------------------------------------------------------------------------

struct Scale {
  bool is_nan;
  std::uint64_t significand;  // its binary point is 3 bits up
  int exponent;
};

Scale scale_of(DType type, std::uint8_t code) {
  if (type == DType::Float8E8M0) return {is_nan_scale(code), 8, code - 127};
  const Term term = unpack(type, code & 0x7FU);
  return {term.kind == Term::Kind::Nan, term.significand, term.exponent};
}

// Twice the value of an e2m1 code, an integer, as bits.
std::uint32_t doubled(std::uint32_t code) {
  constexpr std::int32_t kValues[] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  return static_cast<std::uint32_t>(kValues[code & 15U]);
}

// Elements `from` to `from` + 16 of each line, doubled.
void take_group(const std::uint32_t* words, int lines, int k, int from, std::uint32_t* out) {
  for (int line = 0; line < lines; ++line) {
    for (int i = 0; i < kGroup; ++i) *out++ = doubled(words[line * k + from + i]);
  }
}

// Four times the sums of the products of each group, exactly.
struct GroupSums {
  std::uint32_t of[kMaxScales][kMaxTileM * kMaxTileN];
};

void sum_groups(const TileSums& tile, GroupSums& out) {
  const auto [m, n, k] = tile.shape;
  for (int group = 0; group < kMaxScales; ++group) {
    std::uint32_t a[kMaxTileM * kGroup];
    std::uint32_t b[kMaxTileN * kGroup];
    take_group(tile.A, m, k, group * kGroup, a);
    take_group(tile.B, n, k, group * kGroup, b);
    std::fill(std::begin(out.of[group]), std::end(out.of[group]), 0U);
    product_s32(false, DType::Int8, DType::Int8, {m, n, kGroup}, a, b, out.of[group]);
  }
}

// One element of D; `scales` are those of its row and column.
std::uint32_t scaled_sum(const GroupSums& groups, int element, const TileScales& scales,
                         std::uint32_t addend) {
  Term terms[kMaxScales + 1];
  MatrixUnit unit = kGroupUnit;
  for (int group = 0; group < kMaxScales; ++group) {
    const int at = group * scales.count / kMaxScales;
    const Scale x = scale_of(scales.type, scales.a[at]);
    const Scale y = scale_of(scales.type, scales.b[at]);
    if (x.is_nan || y.is_nan) return kNanBits;
    const std::int64_t sum = static_cast<std::int32_t>(groups.of[group][element]);
    const std::uint64_t factor = x.significand * y.significand;
    if (factor != 0) unit.lowest_exponent = std::max(unit.lowest_exponent, x.exponent + y.exponent);
    terms[group] = {.kind = Term::Kind::Finite,
                    .negative = sum < 0,
                    .significand = static_cast<std::uint64_t>(std::abs(sum)) * factor,
                    .fraction = 2 + 3 + 3,
                    .exponent = x.exponent + y.exponent};
  }
  terms[kMaxScales] = unpack(DType::Float32, addend);
  return sum_f32(unit, terms);
}

void sum_with_more_scales(const TileSums& tile, const TileScales& scales, std::uint32_t* D) {
  GroupSums groups;
  sum_groups(tile, groups);
  for (int i = 0; i < tile.shape.m * tile.shape.n; ++i) {
    const int a = i / kMaxTileN * scales.count;
    const int b = i % kMaxTileN * scales.count;
    const TileScales own{scales.type, scales.count, scales.a + a, scales.b + b};
    D[i] = scaled_sum(groups, i, own, D[i]);
  }
}

// --- plain ---------------------------------------------------------------------------------------

float scale_value(DType type, std::uint8_t code) {
  const std::uint8_t magnitude = type == DType::Float8E4M3fn ? code & 0x7FU : code;
  return static_cast<float>(decode(type, magnitude));
}

// The elements of run `at` of `count` of each line.
void take_run(const std::uint32_t* words, int lines, int k, int count, int at, std::uint32_t* out) {
  const int length = k / count;
  for (int line = 0; line < lines; ++line) {
    const int from = line * k + at * length;
    out = std::copy_n(words + from, length, out);
  }
}

void add_plain_run(const TileSums& tile, const TileScales& scales, int at, std::uint32_t* D) {
  const auto [m, n, k] = tile.shape;
  std::uint32_t a[kMaxTileM * kMaxTileK];
  std::uint32_t b[kMaxTileN * kMaxTileK];
  std::uint32_t sums[kMaxTileM * kMaxTileN] = {};
  take_run(tile.A, m, k, scales.count, at, a);
  take_run(tile.B, n, k, scales.count, at, b);
  plain_sums({tile.unit, tile.a, tile.b, DType::Float32, {m, n, k / scales.count}, a, b}, sums);
  for (int i = 0; i < m * n; ++i) {
    const float row = scale_value(scales.type, scales.a[i / n * scales.count + at]);
    const float column = scale_value(scales.type, scales.b[i % n * scales.count + at]);
    const float sum = std::bit_cast<float>(D[i]) + std::bit_cast<float>(sums[i]) * row * column;
    D[i] = sum != sum ? kNanBits : std::bit_cast<std::uint32_t>(sum);
  }
}

}  // namespace

void product_scaled(const MatrixMode& mode, bool exact, DType a, DType b, TileShape shape,
                    const std::uint32_t* A, const std::uint32_t* B, const TileScales& scales,
                    std::uint32_t* D) {
  check(a, b, shape, scales);
  const TileSums tile{mode.fp8, a, b, DType::Float32, shape, A, B};
  if (!exact) {
    for (int at = 0; at < scales.count; ++at) add_plain_run(tile, scales, at, D);
  } else if (scales.count == 1) {
    sum_with_one_scale(tile, scales, D);
  } else {
    sum_with_more_scales(tile, scales, D);
  }
}

}  // namespace ww::num
