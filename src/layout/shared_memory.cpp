// SPDX-License-Identifier: Apache-2.0
// Shared-memory operand tiles of TMA, wgmma and tcgen05.
//
// The hardware cuts a row into 16-byte units and stores them, unit u of row r, at unit
// u ^ (r % 8 scaled to the mode), so that eight rows read at one column touch all 32 banks. A
// swizzle width of 32, 64 or 128 bytes is 2, 4 or 8 units; in terms of addresses the pattern takes
// the bits above the low 128 bytes and XORs them into the unit number.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <utility>

#include "base/join.h"
#include "base/suggest.h"
#include "layout/canonical.h"
#include "layout/ready_made.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

constexpr std::int64_t kUnitBits = 128;  // 16 bytes stay together
constexpr std::int64_t kAtomRows = 8;
constexpr int kAtomLog = 3;

constexpr std::array<std::string_view, 4> kModeNames = {"none", "32B", "64B", "128B"};

Result<std::int64_t> elements_per_unit(int bits) {
  if (bits != 4 && bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return fail(DiagKind::BadArgument,
                "{}-bit elements; swizzle modes exist for 4, 8, 16, 32 and 64", bits);
  return kUnitBits / bits;
}

int swizzle_len(SwizzleMode mode) { return std::to_underlying(mode); }

Result<std::int64_t> width(SwizzleMode mode, int bits) {
  return WW_TRY(elements_per_unit(bits)) << swizzle_len(mode);
}

// Columns of `w` elements, one after another, each holding all rows.
Result<TileLayout> column_blocks(std::span<const std::int64_t> shape, std::int64_t w) {
  const std::size_t batches = shape.size() - 2;
  const std::int64_t rows = shape[batches];
  const std::int64_t k = shape[batches + 1];
  const TileLayout plain = WW_TRY(TileLayout::row_major(shape));
  Iters shard(std::span<const Iter>(plain.shard().data(), batches));
  shard.push_back({rows, w, axes::m()});
  shard.push_back({k / w, rows * w, axes::m()});
  shard.push_back({w, 1, axes::m()});
  return TileLayout::make(std::move(shard));
}

}  // namespace

std::string_view name_of(SwizzleMode mode) { return kModeNames[std::to_underlying(mode)]; }

Result<SwizzleMode> swizzle_mode(std::string_view name) {
  for (std::size_t i = 0; i < kModeNames.size(); ++i)
    if (kModeNames[i] == name) return static_cast<SwizzleMode>(i);
  return fail(DiagKind::BadArgument, "no swizzle mode is named `{}`; there are {}{}", name,
              join(kModeNames, ", "), did_you_mean(name, kModeNames));
}

Result<Swizzle> swizzle_for(SwizzleMode mode, int bits) {
  const std::int64_t unit = WW_TRY(elements_per_unit(bits));
  return Swizzle::make(std::countr_zero(static_cast<std::uint64_t>(unit)), swizzle_len(mode),
                       kAtomLog);
}

Result<Shape> mma_atom_shape(SwizzleMode mode, int bits) {
  return Shape{kAtomRows, WW_TRY(width(mode, bits))};
}

Result<Layout> mma_atom(SwizzleMode mode, int bits) {
  const std::int64_t size = kAtomRows * WW_TRY(width(mode, bits));
  const Swizzle swizzle = WW_TRY(swizzle_for(mode, bits));
  return Layout::make(WW_TRY(TileLayout::make({{size, 1, axes::m()}})), swizzle);
}

SwizzleMode widest_swizzle(std::span<const std::int64_t> shape, int bits) {
  if (shape.size() < 2 || shape[shape.size() - 2] % kAtomRows != 0) return SwizzleMode::None;
  for (const SwizzleMode mode : {SwizzleMode::B128, SwizzleMode::B64, SwizzleMode::B32}) {
    const auto w = width(mode, bits);
    if (w && shape.back() % *w == 0) return mode;
  }
  return SwizzleMode::None;
}

Result<Layout> mma_shared(std::span<const std::int64_t> shape, SwizzleMode mode, int bits) {
  const std::int64_t w = WW_TRY(width(mode, bits));
  if (shape.size() < 2)
    return fail(DiagKind::BadArgument,
                "shape {} has no rows and columns; it needs at least two dimensions",
                shape_text(shape));
  WW_TRY_VOID(element_count(shape));
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t k = shape[shape.size() - 1];
  if (mode == SwizzleMode::None && k % w != 0)
    return canonicalize(Layout(WW_TRY(TileLayout::row_major(shape))));
  if (mode != SwizzleMode::None && rows % kAtomRows != 0)
    return fail(DiagKind::BadArgument, "shape {} has {} rows; mode {} takes multiples of {}",
                shape_text(shape), rows, name_of(mode), kAtomRows);
  if (k % w != 0)
    return fail(DiagKind::BadArgument,
                "shape {} has {} columns; mode {} takes multiples of {} for {}-bit elements",
                shape_text(shape), k, name_of(mode), w, bits);
  const TileLayout blocks = WW_TRY(column_blocks(shape, w));
  const Swizzle swizzle = WW_TRY(swizzle_for(mode, bits));
  return canonicalize(WW_TRY(Layout::make(blocks, swizzle)));
}

}  // namespace ww::layout
