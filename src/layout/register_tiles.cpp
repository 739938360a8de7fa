// SPDX-License-Identifier: Apache-2.0
// Register tiles over several warps or threads: operands of mma.sync, vectors side by side, whole
// rows and whole columns; and what a reduction leaves of any of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "layout/canonical.h"
#include "layout/compact.h"
#include "layout/group.h"
#include "layout/ready_made.h"
#include "layout/text.h"

namespace ww::layout {
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

}  // namespace ww::layout
