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

}  // namespace ww::layout
