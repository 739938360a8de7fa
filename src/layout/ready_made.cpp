// SPDX-License-Identifier: Apache-2.0
#include "layout/ready_made.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <numeric>
#include <string>
#include <utility>

#include "base/join.h"
#include "base/suggest.h"
#include "layout/canonical.h"
#include "layout/group.h"
#include "layout/layout.h"
#include "layout/text.h"

namespace ww::layout {

// --- compact -------------------------------------------------------------------------------------
//
// Layouts put together from iters of which some may have one value only, as in tiles of one column.

namespace {

/// Without the iters that take one value only.
inline Result<Layout> compact(std::initializer_list<Iter> iters) {
  Iters shard;
  for (const Iter& each : iters)
    if (each.extent != 1) shard.push_back(each);
  return TileLayout::make(std::move(shard));
}

}  // namespace

// --- fragments -----------------------------------------------------------------------------------
//
// Fragments of the warp-wide matrix instructions, in the register order of the PTX manual ("Matrix
// Fragments for mma", "ldmatrix"). One picture holds for all of them: lanes form an 8 × 4 grid,
// lane 4g + t, that covers 8 rows (or columns) by four runs of consecutive elements; a run is one
// register, or a pair of elements in an accumulator. What is larger than the grid goes to further
// registers.

namespace {

struct MmaRow {
  MmaShape shape;
  int bits;        // of A and B
  bool short_sum;  // 16-bit C and D, besides the full ones
  [[nodiscard]] int sum_bits() const { return bits == 64 ? 64 : 32; }
};

// clang-format off
constexpr std::array kMmaRows = {
    MmaRow{{8, 8, 128}, 1,  false}, MmaRow{{16, 8, 128}, 1, false}, MmaRow{{16, 8, 256}, 1, false},
    MmaRow{{8, 8, 32},  4,  false}, MmaRow{{16, 8, 32},  4, false}, MmaRow{{16, 8, 64},  4, false},
    MmaRow{{8, 8, 16},  8,  false}, MmaRow{{16, 8, 16},  8, true},  MmaRow{{16, 8, 32},  8, true},
    MmaRow{{16, 8, 8},  16, true},  MmaRow{{16, 8, 16}, 16, true},
    MmaRow{{16, 8, 4},  32, false}, MmaRow{{16, 8, 8},  32, false},
    MmaRow{{8, 8, 4},   64, false}, MmaRow{{16, 8, 4},  64, false}, MmaRow{{16, 8, 8},  64, false},
    MmaRow{{16, 8, 16}, 64, false},
};
// clang-format on

std::string shape_name(const MmaShape& s) { return fmt::format("m{}n{}k{}", s.m, s.n, s.k); }

bool is_sum(char operand) { return operand == 'C' || operand == 'D'; }

bool has_width(const MmaRow& row, char operand, int bits) {
  if (!is_sum(operand)) return row.bits == bits;
  return row.sum_bits() == bits || (row.short_sum && bits == 16);
}

// The widths this operand has in this shape, for the refusal.
std::string widths(char operand, const MmaShape& shape) {
  std::string out;
  for (const int bits : {1, 4, 8, 16, 32, 64}) {
    const bool any = std::any_of(kMmaRows.begin(), kMmaRows.end(), [&](const MmaRow& row) {
      return row.shape == shape && has_width(row, operand, bits);
    });
    if (any) out += fmt::format("{}{}", out.empty() ? "" : ", ", bits);
  }
  return out;
}

Result<void> check(char operand, const MmaShape& shape, int bits) {
  if (operand != 'A' && operand != 'B' && !is_sum(operand))
    return fail(DiagKind::BadArgument, "operand `{}` of mma.sync; there are A, B, C and D",
                operand);
  const std::string accepted = widths(operand, shape);
  if (accepted.empty())
    return fail(DiagKind::BadArgument,
                "mma.sync has no shape {}; k runs over 128, 256 for 1-bit operands, 32, 64 for 4, "
                "16, 32 for "
                "8, 8, 16 for 16, 4, 8 for 32 and 4, 8, 16 for 64",
                shape_name(shape));
  const bool good = std::any_of(kMmaRows.begin(), kMmaRows.end(), [&](const MmaRow& row) {
    return row.shape == shape && has_width(row, operand, bits);
  });
  if (!good)
    return fail(DiagKind::BadArgument, "{}-bit elements for operand {} of {}; accepted are {}",
                bits, operand, shape_name(shape), accepted);
  return {};
}

Iter row_of_grid() { return {8, 4, axes::laneid()}; }
Iter run_of_grid() { return {4, 1, axes::laneid()}; }
Iter registers(std::int64_t count, std::int64_t stride) { return {count, stride, axes::m()}; }

}  // namespace

Result<Layout> mma_fragment(char operand, const MmaShape& shape, int bits) {
  WW_TRY_VOID(check(operand, shape, bits));
  const std::int64_t halves = shape.m / 8;
  if (is_sum(operand))
    return compact({registers(halves, 2), row_of_grid(), run_of_grid(), registers(2, 1)});
  const std::int64_t e = bits < 32 ? 32 / bits : 1;
  const std::int64_t steps = shape.k / (4 * e);
  if (operand == 'B')
    return compact({registers(steps, e), run_of_grid(), registers(e, 1), row_of_grid()});
  return compact({registers(halves, e), row_of_grid(), registers(steps, halves * e), run_of_grid(),
                  registers(e, 1)});
}

Result<Layout> mma_fragment(char operand, int k, int bits) {
  return mma_fragment(operand, MmaShape{k == 4 && bits == 64 ? 8 : 16, 8, k}, bits);
}

Result<Layout> ldmatrix_fragment(int num, bool trans) {
  if (num != 1 && num != 2 && num != 4)
    return fail(DiagKind::BadArgument, "ldmatrix of {} matrices; accepted are 1, 2 and 4", num);
  if (trans) return compact({run_of_grid(), registers(2, 1), registers(num, 2), row_of_grid()});
  return compact({row_of_grid(), registers(num, 2), run_of_grid(), registers(2, 1)});
}

// --- register tiles ------------------------------------------------------------------------------
//
// Register tiles over several warps or threads: operands of mma.sync, vectors side by side, whole
// rows and whole columns; and what a reduction leaves of any of them.

namespace {

constexpr std::int64_t kVectorBits = 128;

// --- operands of mma.sync ------------------------------------------------------------------------

// The instruction that a tile is made of: the deepest that all architectures with the type have.
MmaShape instruction_for(int bits) {
  switch (bits) {
    case 4:
      return {16, 8, 64};
    case 8:
      return {16, 8, 32};
    case 32:
      return {16, 8, 8};
    case 64:
      return {8, 8, 4};
    default:
      return {16, 8, 16};
  }
}

struct Extents2 {
  std::int64_t rows, cols;
};

Extents2 atom_extents(char operand, const MmaShape& shape) {
  if (operand == 'A') return {shape.m, shape.k};
  if (operand == 'B') return {shape.k, shape.n};
  return {shape.m, shape.n};
}

// How one dimension of a tile is cut: into warps, then into instructions, then as the fragment is.
struct MmaDim {
  std::int64_t extent, atom;
  std::int64_t warps, warp_stride;
  [[nodiscard]] std::int64_t atoms() const { return extent / (atom * warps); }
};

Result<void> check_dim(const MmaDim& dim, char operand, std::string_view what,
                       std::span<const std::int64_t> shape) {
  if (dim.extent > 0 && dim.extent % (dim.atom * dim.warps) == 0) return {};
  return fail(DiagKind::BadArgument,
              "shape {} has {} {}; operand {} over {} warp{} takes multiples of {}",
              shape_text(shape), dim.extent, what, operand, dim.warps, dim.warps == 1 ? "" : "s",
              dim.atom * dim.warps);
}

Iters iters_of(const MmaDim& dim, std::int64_t register_stride, std::span<const Iter> fragment) {
  Iters out;
  if (dim.warps > 1) out.push_back({dim.warps, dim.warp_stride, axes::warpid()});
  if (dim.atoms() > 1) out.push_back({dim.atoms(), register_stride, axes::m()});
  for (const Iter& each : fragment) out.push_back(each);
  return out;
}

// --- elements over threads -----------------------------------------------------------------------

struct Rows {
  std::int64_t count, length;
};

Result<Rows> rows_of(std::span<const std::int64_t> shape, std::int64_t threads) {
  const std::int64_t elements = WW_TRY(element_count(shape));
  if (shape.empty()) return fail(DiagKind::BadArgument, "shape () has no dimension to share");
  if (threads < 1 || threads > 1024)
    return fail(DiagKind::BadArgument, "{} threads, expected 1 to 1024", threads);
  return Rows{shape.back() == 0 ? 0 : elements / shape.back(), shape.back()};
}

Result<void> check_shares(std::span<const std::int64_t> shape, std::int64_t extent,
                          std::string_view what, std::int64_t parts) {
  if (extent > 0 && extent % parts == 0) return {};
  return fail(DiagKind::BadArgument, "shape {} has {} {}, which {} threads cannot share evenly",
              shape_text(shape), extent, what, parts);
}

}  // namespace

Result<Layout> mma_tile(char operand, std::span<const std::int64_t> shape, int bits,
                        const WarpGrid& warps, bool is_transposed) {
  if (shape.size() != 2)
    return fail(DiagKind::RankMismatch, "shape {} for operand {}, expected rows and columns",
                shape_text(shape), operand);
  if (warps.m < 1 || warps.n < 1 || warps.m > 32 || warps.n > 32 || warps.m * warps.n > 32)
    return fail(DiagKind::BadArgument, "{} x {} warps, expected 1 to 32 in all", warps.m, warps.n);
  const bool is_sum = operand == 'C' || operand == 'D';
  // Sums are the same in all instructions of a type.
  const bool is_plain = is_sum && (bits == 16 || bits == 32);
  const MmaShape instruction = is_plain ? MmaShape{} : instruction_for(bits);
  const Layout fragment = WW_TRY(mma_fragment(operand, instruction, bits));
  const Extents2 atom = atom_extents(operand, instruction);
  const std::array<std::int64_t, 2> atom_shape = {atom.rows, atom.cols};
  const Grouped parts = WW_TRY(group(fragment, atom_shape));
  MmaDim rows{shape[is_transposed ? 1 : 0], atom.rows, operand == 'B' ? 1 : warps.m, 1};
  MmaDim cols{shape[is_transposed ? 0 : 1], atom.cols, operand == 'A' ? 1 : warps.n, warps.m};
  WW_TRY_VOID(check_dim(rows, operand, is_transposed ? "columns" : "rows", shape));
  WW_TRY_VOID(check_dim(cols, operand, is_transposed ? "rows" : "columns", shape));
  // What belongs to one step along K stands together.
  const std::int64_t registers = fragment.size() / 32;
  const bool is_row_inner = operand == 'A';
  Iters first = iters_of(rows, is_row_inner ? registers : registers * cols.atoms(), parts.dim(0));
  Iters second = iters_of(cols, is_row_inner ? registers * rows.atoms() : registers, parts.dim(1));
  if (is_transposed) std::swap(first, second);
  for (const Iter& each : second) first.push_back(each);
  Iters replica;
  if (operand == 'A' && warps.n > 1) replica.push_back({warps.n, warps.m, axes::warpid()});
  if (operand == 'B' && warps.m > 1) replica.push_back({warps.m, 1, axes::warpid()});
  return TileLayout::make(std::move(first), std::move(replica));
}

Result<Layout> wgmma_tile(char operand, std::span<const std::int64_t> shape, int bits,
                          std::int64_t warpgroups) {
  constexpr std::int64_t kRows = 64;
  const bool is_sum = operand == 'C' || operand == 'D';
  if (operand != 'A' && !is_sum)
    return fail(DiagKind::BadArgument, "operand `{}` of wgmma in registers; there are A, C and D",
                operand);
  if (shape.size() != 2)
    return fail(DiagKind::RankMismatch, "shape {} for operand {}, expected rows and columns",
                shape_text(shape), operand);
  if ((bits != 8 || is_sum) && bits != 16 && bits != 32)
    return fail(DiagKind::BadArgument, "{}-bit elements for operand {} of wgmma; accepted are {}",
                bits, operand, is_sum ? "16 and 32" : "8, 16 and 32");
  if (warpgroups < 1 || warpgroups > 8)
    return fail(DiagKind::BadArgument, "{} warpgroups, expected 1 to 8", warpgroups);
  const std::int64_t e = 32 / bits;  // elements of a register of A
  const std::int64_t step = is_sum ? 8 : 8 * e;
  const std::int64_t rows = kRows * warpgroups;
  if (shape[0] < rows || shape[0] % rows != 0 || shape[1] < step || shape[1] % step != 0)
    return fail(DiagKind::BadArgument,
                "shape {} for operand {} of wgmma over {} warpgroup{}, expected multiples of {} "
                "rows and {} columns",
                shape_text(shape), operand, warpgroups, warpgroups == 1 ? "" : "s", rows, step);
  const std::int64_t atoms = shape[0] / rows, steps = shape[1] / step;
  const std::int64_t each = is_sum ? 4 : 4 * e;  // elements of a thread of an atom and a step
  const Axis warp = warpgroups == 1 ? axes::wid_in_wg() : axes::warpid();
  // Sums of an atom stand together, and registers of A of one step along K.
  Iters shard;
  if (warpgroups > 1) shard.push_back({warpgroups, 4, warp});
  if (atoms > 1) shard.push_back({atoms, is_sum ? steps * each : each, axes::m()});
  shard.push_back({4, 1, warp});
  shard.push_back({2, is_sum ? 2 : e, axes::m()});
  shard.push_back({8, 4, axes::laneid()});
  if (steps > 1) shard.push_back({steps, is_sum ? each : atoms * each, axes::m()});
  if (!is_sum) shard.push_back({2, 2 * e, axes::m()});
  shard.push_back({4, 1, axes::laneid()});
  if (is_sum || e > 1) shard.push_back({is_sum ? 2 : e, 1, axes::m()});
  return TileLayout::make(std::move(shard), {});
}

Result<Layout> coalesced(std::span<const std::int64_t> shape, std::int64_t threads, int bits,
                         Axis axis) {
  const Rows rows = WW_TRY(rows_of(shape, threads));
  const std::int64_t vector = std::gcd(rows.length, std::max<std::int64_t>(1, kVectorBits / bits));
  const std::int64_t side_by_side =
      std::gcd(rows.length / std::max<std::int64_t>(1, vector), threads);
  const std::int64_t at_a_time = side_by_side == 0 ? threads : threads / side_by_side;
  WW_TRY_VOID(check_shares(shape, rows.count, "rows", at_a_time));
  const std::int64_t steps = rows.length / (vector * side_by_side);
  return compact({{rows.count / at_a_time, steps * vector, axes::m()},
                  {at_a_time, side_by_side, axis},
                  {steps, vector, axes::m()},
                  {side_by_side, 1, axis},
                  {vector, 1, axes::m()}});
}

Result<Layout> row_owned(std::span<const std::int64_t> shape, std::int64_t threads, Axis axis) {
  const Rows rows = WW_TRY(rows_of(shape, threads));
  const std::int64_t owners = std::gcd(rows.count, threads);
  const std::int64_t parts = threads / std::max<std::int64_t>(1, owners);
  WW_TRY_VOID(check_shares(shape, rows.length, "columns", parts));
  return compact({{rows.count / owners, rows.length / parts, axes::m()},
                  {owners, parts, axis},
                  {parts, 1, axis},
                  {rows.length / parts, 1, axes::m()}});
}

Result<Layout> column_owned(std::span<const std::int64_t> shape, std::int64_t threads, Axis axis) {
  const Rows rows = WW_TRY(rows_of(shape, threads));
  const std::int64_t owners = std::gcd(rows.length, threads);
  const std::int64_t parts = threads / std::max<std::int64_t>(1, owners);
  WW_TRY_VOID(check_shares(shape, rows.count, "rows", parts));
  const std::int64_t columns = rows.length / owners;
  return compact({{parts, owners, axis},
                  {rows.count / parts, columns, axes::m()},
                  {columns, 1, axes::m()},
                  {owners, 1, axis}});
}

// Registers are numbered anew, in the order that they had.
Result<Layout> reduced(const Layout& layout, std::span<const std::int64_t> shape,
                       std::span<const std::int64_t> dims) {
  if (layout.is_swizzled())
    return fail(DiagKind::BadArgument, "a swizzled layout, expected registers of threads");
  for (const std::int64_t dim : dims)
    if (dim < 0 || dim >= static_cast<std::int64_t>(shape.size()))
      return fail(DiagKind::BadArgument, "dimension {} of a shape of {}", dim, shape.size());
  const Grouped parts = WW_TRY(group(layout, shape));
  const TileLayout& whole = parts.layout.tile();
  Iters shard, replica;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool is_reduced = std::ranges::find(dims, static_cast<std::int64_t>(d)) != dims.end();
    for (const Iter& each : parts.dim(d))
      if (!is_reduced)
        shard.push_back(each);
      else if (each.axis.kind() == AxisKind::Thread && each.extent > 1)
        replica.push_back(each);
  }
  for (const Iter& each : whole.replica())
    if (each.axis.kind() == AxisKind::Thread) replica.push_back(each);
  std::vector<Iter*> registers;
  for (Iter& each : shard)
    if (each.axis == axes::m()) registers.push_back(&each);
  std::ranges::stable_sort(registers, {}, [](const Iter* each) { return each->stride; });
  std::int64_t next = 1;
  for (Iter* each : registers) each->stride = std::exchange(next, next * each->extent);
  Offsets offset;
  for (const OffsetTerm& term : whole.offset().terms())
    if (term.axis.kind() == AxisKind::Thread && !term.is_symbolic) offset.add(term.axis, term.coef);
  return canonicalize(
      Layout(WW_TRY(TileLayout::make(std::move(shard), std::move(replica), std::move(offset)))));
}

// --- shared memory -------------------------------------------------------------------------------
//
// Shared-memory operand tiles of TMA, wgmma and tcgen05.
//
// The hardware cuts a row into 16-byte units and stores them, unit u of row r, at unit
// u ^ (r % 8 scaled to the mode), so that eight rows read at one column touch all 32 banks. A
// swizzle width of 32, 64 or 128 bytes is 2, 4 or 8 units; in terms of addresses the pattern takes
// the bits above the low 128 bytes and XORs them into the unit number.

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
