// SPDX-License-Identifier: Apache-2.0
// Register tiles of tcgen05.ld and tcgen05.st (PTX manual, "tcgen05 data movement shapes").
//
// A warp reaches only its own window of 32 tensor-memory lanes. The 16-lane shapes touch half a
// window, rows 16w … 16w+15 of a 64-row tile; two of them, 16 lanes apart, cover 128 rows. Within a
// warp all of them place row digit g = row%8 on lane/4; they differ in what holds the other row bit
// ("half") and the columns. Each is a row of the table below, its strides counted in 32-bit
// registers.
#include <fmt/format.h>

#include <array>
#include <bit>

#include "base/join.h"
#include "base/suggest.h"
#include "layout/ready_made.h"

namespace ww::layout {
namespace {

enum class On : std::uint8_t { Lane, Register };

struct AtomDigit {
  std::int64_t extent;
  std::int64_t stride;
  On on;
};

struct AtomShape {
  std::string_view name;
  std::int64_t columns;     // 32-bit columns of one repetition
  std::int64_t registers;   // 32-bit registers of one repetition
  std::int64_t max_repeat;  // largest .xN
  AtomDigit half;           // rows 0..7 or 8..15 of the sixteen
  AtomDigit column;         // within a repetition, outer and
  AtomDigit pair;           // inner digit of the column
};

// clang-format off
constexpr std::array kShapes = {
    AtomShape{"32x32b",  1, 1, 128, {},                   {},               {}},
    AtomShape{"16x64b",  2, 1, 128, {2, 1, On::Lane},     {2, 2, On::Lane}, {1, 1, On::Register}},
    AtomShape{"16x128b", 4, 2, 64,  {2, 1, On::Register}, {4, 1, On::Lane}, {1, 1, On::Register}},
    AtomShape{"16x256b", 8, 4, 32,  {2, 2, On::Register}, {4, 1, On::Lane}, {2, 1, On::Register}},
};
// clang-format on

Result<AtomShape> find_shape(std::string_view name) {
  std::array<std::string_view, kShapes.size()> names;
  for (std::size_t i = 0; i < kShapes.size(); ++i) {
    if (kShapes[i].name == name) return kShapes[i];
    names[i] = kShapes[i].name;
  }
  return fail(DiagKind::BadArgument, "no tcgen05.ld shape is named `{}`; there are {}{}", name,
              join(names, ", "), did_you_mean(name, names));
}

Result<std::int64_t> check_repeat(const AtomShape& atom, std::int64_t columns32) {
  const std::int64_t repeat = columns32 / atom.columns;
  const bool whole = columns32 > 0 && columns32 % atom.columns == 0;
  if (!whole || repeat > atom.max_repeat ||
      !std::has_single_bit(static_cast<std::uint64_t>(repeat)))
    return fail(DiagKind::BadArgument,
                "{} columns of 32 bits are not a repetition count of tcgen05.ld.{}; it takes {}·N "
                "columns, N a "
                "power of two up to {}",
                columns32, atom.name, atom.columns, atom.max_repeat);
  return repeat;
}

// An accumulator with its column halves on two sets of 64 lanes, read one lane per thread.
Result<Layout> folded_rows(const AtomShape& atom, std::int64_t cols, int bits) {
  if (bits != 32)
    return fail(
        DiagKind::BadArgument,
        "{}-bit elements in a 64-row tile of 32x32b; it is the image of an accumulator, which has "
        "one element to a 32-bit column",
        bits);
  if (cols % 2 != 0)
    return fail(DiagKind::BadArgument,
                "{} columns in a 64-row tile of 32x32b; its two column halves need an even number",
                cols);
  WW_TRY_VOID(check_repeat(atom, cols / 2));
  const Axis thread = axes::tid_in_wg();
  return TileLayout::make({{64, 1, thread}, {2, 64, thread}, {cols / 2, 1, axes::m()}});
}

Iter place(const AtomDigit& digit, std::int64_t per_register) {
  if (digit.on == On::Lane) return {digit.extent, digit.stride, axes::laneid()};
  return {digit.extent, digit.stride * per_register, axes::m()};
}

Result<Layout> sixteen_lanes(const AtomShape& atom, std::int64_t rows, std::int64_t repeat,
                             std::int64_t per_register) {
  const std::int64_t repetition = atom.registers * per_register;
  Iters shard = {{4, 1, axes::wid_in_wg()}};
  if (rows == 128) shard.push_back({2, repeat * repetition, axes::m()});
  shard.push_back(place(atom.half, per_register));
  shard.push_back({8, 4, axes::laneid()});
  shard.push_back({repeat, repetition, axes::m()});
  shard.push_back(place(atom.column, per_register));
  if (atom.pair.extent > 1) shard.push_back(place(atom.pair, per_register));
  if (per_register > 1) shard.push_back({per_register, 1, axes::m()});
  return TileLayout::make(std::move(shard));
}

}  // namespace

Result<Layout> tcgen05_atom(std::string_view shape, std::int64_t rows, std::int64_t cols,
                            int bits) {
  const AtomShape atom = WW_TRY(find_shape(shape));
  if (rows != 64 && rows != 128)
    return fail(DiagKind::BadArgument, "{} rows; a warpgroup's tcgen05.ld tile has 64 or 128",
                rows);
  if (bits != 8 && bits != 16 && bits != 32)
    return fail(DiagKind::BadArgument,
                "{}-bit elements; tcgen05.ld moves 32-bit columns of 8-, 16- or 32-bit elements",
                bits);
  if (cols < 1) return fail(DiagKind::BadArgument, "{} columns; a tile has at least one", cols);
  const bool one_lane_per_thread = atom.name == "32x32b";
  if (one_lane_per_thread && rows == 64) return folded_rows(atom, cols, bits);

  const std::int64_t per_register = 32 / bits;
  if (cols % per_register != 0)
    return fail(DiagKind::BadArgument,
                "{} columns of {} bits do not fill 32-bit columns; multiples of {} do", cols, bits,
                per_register);
  const std::int64_t repeat = WW_TRY(check_repeat(atom, cols / per_register));
  if (one_lane_per_thread) return wg_local(cols, rows);
  return sixteen_lanes(atom, rows, repeat, per_register);
}

Result<Layout> wg_local(std::int64_t cols, std::int64_t rows) {
  if (rows < 1 || rows > 128)
    return fail(DiagKind::BadArgument, "{} rows for the threads of a warpgroup; it has 128", rows);
  if (cols < 1) return fail(DiagKind::BadArgument, "{} columns; a tile has at least one", cols);
  return TileLayout::make({{rows, 1, axes::tid_in_wg()}, {cols, 1, axes::m()}});
}

}  // namespace ww::layout
