// SPDX-License-Identifier: Apache-2.0
// Tensor memory as tcgen05.mma and tcgen05.cp use it: 128 lanes by 512 columns of 32 bits.
//
// Which lanes an MMA writes depends on how many rows it has. 128 rows fill the lanes. Fewer rows
// either *fold* the columns, the n-th part of them going to the n-th group of lanes (B, E, G), or
// leave every other 16 lanes alone (C, F), so that two such tiles share the columns, one *sub-slab*
// each.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "base/join.h"
#include "base/suggest.h"
#include "layout/canonical.h"
#include "layout/ready_made.h"
#include "layout/text.h"

namespace ww::layout {

namespace {

enum class Lanes : std::uint8_t { Full, Fold, Half };

struct Datapath {
  char letter;
  std::int64_t rows;
  Lanes lanes;
  std::int64_t folds;  // groups of lanes that share the columns
};

constexpr std::array kDatapaths = {
    Datapath{'A', 128, Lanes::Full, 1}, Datapath{'B', 64, Lanes::Fold, 2},
    Datapath{'C', 64, Lanes::Half, 1},  Datapath{'D', 128, Lanes::Full, 1},
    Datapath{'E', 64, Lanes::Fold, 2},  Datapath{'F', 64, Lanes::Half, 1},
    Datapath{'G', 32, Lanes::Fold, 4},
};

// The forms of tcgen05.mma; an absent flag means that either will do.
struct MmaForm {
  int m;
  int cta_group;
  std::optional<bool> ws;
  std::optional<bool> sparse;
  char letter;
};

// clang-format off
constexpr std::array kForms = {
    MmaForm{256, 2, false,        std::nullopt, 'A'},
    MmaForm{128, 2, false,        false,        'B'},
    MmaForm{128, 2, false,        true,         'C'},
    MmaForm{128, 1, std::nullopt, std::nullopt, 'D'},
    MmaForm{64,  1, true,         std::nullopt, 'E'},
    MmaForm{64,  1, false,        std::nullopt, 'F'},
    MmaForm{32,  1, true,         std::nullopt, 'G'},
};
// clang-format on

Result<Datapath> find_datapath(char letter) {
  const auto* const found = std::find_if(kDatapaths.begin(), kDatapaths.end(),
                                         [&](const Datapath& d) { return d.letter == letter; });
  if (found != kDatapaths.end()) return *found;
  return fail(DiagKind::BadArgument, "no datapath is named `{}`; there are A to G", letter);
}

Result<Layout> on_lanes(const Datapath& path, std::int64_t cols, std::int64_t sub_slab) {
  const Axis lane = axes::tlane();
  const Axis column = axes::tcol();
  if (path.lanes == Lanes::Full) return TileLayout::make({{path.rows, 1, lane}, {cols, 1, column}});
  if (path.lanes == Lanes::Fold)
    return TileLayout::make(
        {{path.rows, 1, lane}, {path.folds, path.rows, lane}, {cols / path.folds, 1, column}});
  return TileLayout::make({{4, 32, lane}, {16, 1, lane}, {cols, 1, column}}, {},
                          {{lane, 16 * sub_slab}});
}

// The form, spelt as the instruction would be.
std::string form_text(const TmemOperand& op) {
  return fmt::format("tcgen05.mma{}{}.cta_group::{} with M = {}", op.sparse ? ".sp" : "",
                     op.ws ? ".ws" : "", op.cta_group, op.m);
}

Result<void> check_rows(const TmemOperand& op, std::int64_t seen,
                        std::span<const std::int64_t> shape) {
  const std::int64_t rows = op.m / op.cta_group;
  if (seen == rows) return {};
  return fail(DiagKind::BadArgument, "shape {} has {} rows; {} has {} to a CTA", shape_text(shape),
              seen, form_text(op), rows);
}

Result<Layout> refuse_shape(const TmemOperand& op, std::span<const std::int64_t> shape, char letter,
                            std::string_view accepted) {
  return fail(DiagKind::BadArgument, "shape {} for operand {} on datapath {}; accepted is {}",
              shape_text(shape), op.operand, letter, accepted);
}

Iter lanes(std::int64_t rows) { return {rows, 1, axes::tlane()}; }
Iter upper_half() { return {2, 64, axes::tlane()}; }
Iter columns(std::int64_t count, std::int64_t stride = 1) { return {count, stride, axes::tcol()}; }

// (rows, s, 2, n): s segments of columns, the two halves of each on the two halves of the lanes.
Result<Layout> segmented(std::int64_t rows, std::int64_t s, std::int64_t n) {
  return TileLayout::make({lanes(rows), columns(s, n), upper_half(), columns(n)});
}

Result<Layout> grouped_accumulator(std::span<const std::int64_t> shape, const TmemOperand& op,
                                   const Datapath& path) {
  const std::span<const std::int64_t> g = op.group;
  if (path.folds != 2)
    return fail(DiagKind::BadArgument, "group {} on datapath {}; only B and E have column halves",
                shape_text(g), path.letter);
  if (shape.size() != 2)
    return fail(DiagKind::BadArgument,
                "group {} with shape {}; it divides the columns of a 2-D shape", shape_text(g),
                shape_text(shape));
  if (g.size() != 3 || g[1] != 2)
    return fail(DiagKind::BadArgument, "group {} is not of the form (s,2,n)", shape_text(g));
  if (WW_TRY(element_count(g)) != shape[1])
    return fail(DiagKind::BadArgument, "group {} does not multiply to the {} columns of shape {}",
                shape_text(g), shape[1], shape_text(shape));
  WW_TRY_VOID(check_rows(op, shape[0], shape));
  return segmented(shape[0], g[0], g[2]);
}

Result<Layout> accumulator(std::span<const std::int64_t> shape, const TmemOperand& op,
                           const Datapath& path) {
  if (!op.group.empty()) return grouped_accumulator(shape, op, path);
  const bool has_halves = path.folds == 2;
  if (shape.size() == 2) {
    WW_TRY_VOID(check_rows(op, shape[0], shape));
    return tmem_datapath(path.letter, shape[0], shape[1]);
  }
  if (has_halves && shape.size() == 3 && shape[0] == 2) {
    WW_TRY_VOID(check_rows(op, shape[1], shape));
    return TileLayout::make({upper_half(), lanes(shape[1]), columns(shape[2])});
  }
  if (has_halves && shape.size() == 3 && shape[1] == 2) {
    WW_TRY_VOID(check_rows(op, shape[0], shape));
    return TileLayout::make({lanes(shape[0]), upper_half(), columns(shape[2])});
  }
  if (has_halves && shape.size() == 4 && shape[2] == 2) {
    WW_TRY_VOID(check_rows(op, shape[0], shape));
    return segmented(shape[0], shape[1], shape[3]);
  }
  return refuse_shape(op, shape, path.letter,
                      has_halves ? "(rows,N), (2,rows,n), (rows,2,n) or (rows,s,2,n)" : "(rows,N)");
}

// A in tensor memory. The lanes are those of D wherever the MMA reads A once; on B and E both
// halves of the lanes read it, so it must be there twice, or its halves be named.
Result<Layout> multiplicand(std::span<const std::int64_t> shape, const TmemOperand& op,
                            const Datapath& path) {
  if (op.sparse)
    return fail(DiagKind::BadArgument,
                "operand A of {}; the compressed rows of a sparse A are not described here",
                form_text(op));
  if (path.letter == 'G')
    return fail(DiagKind::BadArgument, "operand A of {}; on datapath G only D is described",
                form_text(op));
  if (path.folds == 2 && shape.size() == 3 && shape[0] == 2) {
    WW_TRY_VOID(check_rows(op, shape[1], shape));
    return TileLayout::make({upper_half(), lanes(shape[1]), columns(shape[2])});
  }
  if (path.letter == 'E')
    return refuse_shape(op, shape, 'E', "(2,rows,K), because both halves of the lanes are read");
  if (shape.size() != 2)
    return refuse_shape(op, shape, path.letter,
                        path.letter == 'B' ? "(rows,K) or (2,rows,K)" : "(rows,K)");
  WW_TRY_VOID(check_rows(op, shape[0], shape));
  if (path.letter == 'B')
    return TileLayout::make({lanes(shape[0]), columns(shape[1])}, {upper_half()});
  return on_lanes(path, shape[1], 0);
}

struct CpShape {
  std::string_view name;
  std::int64_t windows, window_stride;  // outer digit of the rows
  std::int64_t rows;                    // inner digit, consecutive lanes
  std::int64_t copies, copy_stride;
};

constexpr std::array kCpShapes = {
    CpShape{"128x256b", 1, 0, 128, 1, 0},       CpShape{"128x128b", 1, 0, 128, 1, 0},
    CpShape{"4x256b", 4, 32, 1, 1, 0},          CpShape{"64x128b_02_13", 1, 0, 64, 2, 64},
    CpShape{"64x128b_01_23", 2, 64, 32, 2, 32}, CpShape{"32x128b_warpx4", 1, 0, 32, 4, 32},
};

}  // namespace

Result<Layout> tmem_datapath(char letter, std::int64_t rows, std::int64_t cols, int sub_slab) {
  const Datapath path = WW_TRY(find_datapath(letter));
  if (rows != path.rows)
    return fail(DiagKind::BadArgument, "{} rows on datapath {}; it has {}", rows, letter,
                path.rows);
  if (cols < 1 || cols % path.folds != 0)
    return fail(DiagKind::BadArgument,
                "{} columns on datapath {}; it takes positive multiples of {}", cols, letter,
                path.folds);
  if (sub_slab != 0 && path.lanes != Lanes::Half)
    return fail(DiagKind::BadArgument,
                "sub-slab {} on datapath {}; only C and F leave lanes for another", sub_slab,
                letter);
  if (sub_slab != 0 && sub_slab != 1)
    return fail(DiagKind::BadArgument, "sub-slab {}; there are 0 and 1", sub_slab);
  return on_lanes(path, cols, sub_slab);
}

Result<char> tmem_datapath_letter(const TmemOperand& operand) {
  for (const MmaForm& form : kForms) {
    if (form.m == operand.m && form.cta_group == operand.cta_group &&
        form.ws.value_or(operand.ws) == operand.ws &&
        form.sparse.value_or(operand.sparse) == operand.sparse)
      return form.letter;
  }
  return fail(
      DiagKind::BadArgument,
      "there is no {}; cta_group::1 has M = 64 and 128, with .ws also 32, cta_group::2 has M = 128 "
      "and 256 without .ws",
      form_text(operand));
}

Result<Layout> tmem_mma_operand(std::span<const std::int64_t> shape, const TmemOperand& operand) {
  const char letter = WW_TRY(tmem_datapath_letter(operand));
  const Datapath path = WW_TRY(find_datapath(letter));
  WW_TRY_VOID(element_count(shape));
  if (operand.operand == 'D') return canonicalize(WW_TRY(accumulator(shape, operand, path)));
  if (operand.operand != 'A')
    return fail(DiagKind::BadArgument, "operand `{}`; tensor memory holds A and D",
                operand.operand);
  if (!operand.group.empty())
    return fail(DiagKind::BadArgument, "group {} for operand A; only the columns of D are grouped",
                shape_text(operand.group));
  return canonicalize(WW_TRY(multiplicand(shape, operand, path)));
}

Result<Layout> tcgen05_cp_lanes(std::string_view shape) {
  std::array<std::string_view, kCpShapes.size()> names;
  for (std::size_t i = 0; i < kCpShapes.size(); ++i) {
    const CpShape& cp = kCpShapes[i];
    names[i] = cp.name;
    if (cp.name != shape) continue;
    Iters rows;
    if (cp.windows > 1) rows.push_back({cp.windows, cp.window_stride, axes::tlane()});
    if (cp.rows > 1) rows.push_back({cp.rows, 1, axes::tlane()});
    Iters copies;
    if (cp.copies > 1) copies.push_back({cp.copies, cp.copy_stride, axes::tlane()});
    return TileLayout::make(std::move(rows), std::move(copies));
  }
  return fail(DiagKind::BadArgument, "no tcgen05.cp shape is named `{}`; there are {}{}", shape,
              join(names, ", "), did_you_mean(shape, names));
}

// --- tcgen05 atom --------------------------------------------------------------------------------
//
// Register tiles of tcgen05.ld and tcgen05.st (PTX manual, "tcgen05 data movement shapes").
//
// A warp reaches only its own window of 32 tensor-memory lanes. The 16-lane shapes touch half a
// window, rows 16w … 16w+15 of a 64-row tile; two of them, 16 lanes apart, cover 128 rows. Within a
// warp all of them place row digit g = row%8 on lane/4; they differ in what holds the other row bit
// ("half") and the columns. Each is a row of the table below, its strides counted in 32-bit
// registers.

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

// --- scale factors -------------------------------------------------------------------------------
//
// Scale factors of block-scaled MMAs: one byte per row and block of K.
//
// In tensor memory a 32-bit column holds four bytes of 32 rows, one row per lane, and all four lane
// windows hold a copy. With M = rows / 32, the columns of one group of four factors are
//
//     TCol / 4:   0        1              M-1      M        …
//                 rows 0+  rows 32+  …    last     rows 0+  …
//                 └──── factors 0..3 ──────┘        └ factors 4..7
//
// In shared memory the same 128 rows × 4 factors are 32 lanes of 16 bytes, the four row groups side
// by side: one tcgen05.cp.32x128b.warpx4 moves them as they lie.

namespace {

constexpr std::int64_t kPerColumn = 4;        // bytes in a column
constexpr std::int64_t kTmemBytes = 4 * 512;  // of a lane
constexpr std::int64_t kSmemBlock = 512;      // bytes of 128 rows × 4 factors

Result<void> check(std::int64_t rows, std::int64_t row_unit, std::int64_t sf_k,
                   std::int64_t sf_unit, std::int64_t q, std::int64_t reuse, std::int64_t pipe) {
  if (q != 1 && q != 2 && q != 4)
    return fail(DiagKind::BadArgument, "{} scale factors per MMA; accepted are 1, 2 and 4", q);
  if (rows < 1 || rows % row_unit != 0)
    return fail(DiagKind::BadArgument,
                "{} rows of scale factors; accepted are positive multiples of {}", rows, row_unit);
  if (sf_k < 1 || sf_k % sf_unit != 0)
    return fail(DiagKind::BadArgument,
                "{} scale factors along K; accepted are positive multiples of {}", sf_k, sf_unit);
  if (reuse < 1 || pipe < 1)
    return fail(DiagKind::BadArgument, "reuse {} and pipe {}; both are at least 1", reuse, pipe);
  return {};
}

// How many factors share a column: whole MMA steps, as many as fit and divide the row evenly.
std::int64_t shared_column(std::int64_t sf_k, std::int64_t q) {
  std::int64_t together = kPerColumn;
  while (together > q && sf_k % together != 0) together /= 2;
  return together;
}

}  // namespace

Result<Layout> scale_factor_tmem(std::int64_t rows, std::int64_t sf_k, std::int64_t q,
                                 std::int64_t reuse, std::int64_t pipe) {
  WW_TRY_VOID(check(rows, 32, sf_k, q, q, reuse, pipe));
  const std::int64_t together = shared_column(sf_k, q);
  const std::int64_t blocks = sf_k / together;
  const std::int64_t row_groups = rows / 32;
  const std::int64_t fit = kTmemBytes / kPerColumn;
  if (row_groups > fit || blocks > fit / row_groups || pipe > fit / row_groups / blocks)
    return fail(DiagKind::BadArgument,
                "{} × {} × {} columns for {} stages, {} groups of 32 rows and {} columns of "
                "factors; tensor "
                "memory has {}",
                pipe, row_groups, blocks, pipe, row_groups, blocks, fit);
  const Axis lane = axes::tlane();
  const Axis col = axes::tcol();
  const std::int64_t block = kPerColumn * row_groups;
  return canonicalize(Layout(WW_TRY(TileLayout::make({{pipe, block * blocks, col},
                                                      {row_groups, kPerColumn, col},
                                                      {32, 1, lane},
                                                      {blocks, block, col},
                                                      {together, 1, col},
                                                      {reuse, 0, col}},
                                                     {{4, 32, lane}}))));
}

Result<Layout> scale_factor_smem(std::int64_t rows, std::int64_t sf_k, std::int64_t q,
                                 std::int64_t reuse, std::int64_t pipe) {
  WW_TRY_VOID(check(rows, 128, sf_k, kPerColumn, q, reuse, pipe));
  const std::int64_t blocks = sf_k / kPerColumn;
  const std::int64_t supers = rows / 128;
  if (blocks > kMaxSize / kSmemBlock / supers || pipe > kMaxSize / kSmemBlock / supers / blocks)
    return fail(DiagKind::BadArgument,
                "{} stages of {} × {} scale factors; at most {} fit a layout", pipe, rows, sf_k,
                kMaxSize);
  const Axis m = axes::m();
  return canonicalize(Layout(WW_TRY(TileLayout::make({{pipe, kSmemBlock * blocks * supers, m},
                                                      {supers, kSmemBlock * blocks, m},
                                                      {4, kPerColumn, m},
                                                      {32, 16, m},
                                                      {blocks, kSmemBlock, m},
                                                      {kPerColumn, 1, m},
                                                      {reuse, 0, m}}))));
}

}  // namespace ww::layout
