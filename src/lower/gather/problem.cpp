// SPDX-License-Identifier: Apache-2.0
#include "lower/gather/problem.h"

#include <algorithm>
#include <numeric>

#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/copy/problem.h"
#include "lower/index_formula.h"
#include "lower/scratch.h"

namespace ww::lower {
namespace {

using ir::TileOp;

Match<void> check_memories(const Call& call) {
  const ir::Buffer& table = call.buffer(ir::table_argument(call.tile.op));
  if (table.scope != ir::Scope::Global && !ir::is_shared(table.scope))
    return decline("memory",
                   "`{}`, whose rows are chosen at run time, is in {}, expected global or shared "
                   "memory",
                   table.name, table.scope == ir::Scope::Tmem ? "tensor memory" : "registers");
  for (const std::size_t argument : {ir::tile_argument(call.tile.op), ir::kIndexArgument})
    if (call.memory(argument) == ir::Scope::Tmem)
      return decline("memory",
                     "`{}` is in tensor memory, expected registers, shared or global memory",
                     call.buffer(argument).name);
  const int bits = num::storage_bits(table.dtype);
  if (bits < 8)
    return decline("sub_byte", "`{}` has elements of {} bits, expected whole bytes", table.name,
                   bits);
  return {};
}

// What is written must not be what others still read.
Match<void> check_apart(const Call& call) {
  const ir::Function& f = call.f();
  const ir::BufferId dst = call.region(0).buffer;
  for (const std::size_t argument : {std::size_t{1}, ir::kIndexArgument}) {
    const ir::BufferId src = call.region(argument).buffer;
    if (ir::storage_of(f, dst) == ir::storage_of(f, src) && !are_apart(f, dst, src))
      return decline("overlap", "`{}` and `{}` are in one buffer, and may overlap", f[dst].name,
                     f[src].name);
  }
  return {};
}

// --- rows ----------------------------------------------------------------------------------------

// The places of part of the table: `rows` of them, each whole or its first element.
Match<OperandPlaces> table_part(const Call& call, std::int64_t rows, bool is_whole) {
  CodeWriter code(call.f(), call.context.facts, call.span);
  const std::size_t argument = ir::table_argument(call.tile.op);
  const std::size_t axis = ir::indexed_axis(call.tile);
  ir::TileCall tile = call.tile;
  auto& ranges = std::get<ir::Region>(tile.args[argument]).ranges;
  for (std::size_t d = 0; d < ranges.size(); ++d)
    if (d == axis)
      ranges[d].extent = code.n(rows);
    else if (!is_whole)
      ranges[d].extent = code.n(1);
  const Call part{call.context, tile, call.span, call.active};
  return operand_places(part, argument);
}

// A buffer without a layout of its own has one stride for each dimension.
bool is_row_major(const Call& call) {
  return call.buffer(ir::table_argument(call.tile.op)).layout_kind != ir::LayoutKind::Explicit;
}

std::int64_t divisor_of(const std::vector<std::int64_t>& offsets) {
  std::int64_t out = 0;
  for (const std::int64_t each : offsets) out = std::gcd(out, each);
  return out;
}

Match<RowOffset> row_offset(const Call& call, std::optional<std::int64_t> rows) {
  if (rows == 1) return RowOffset{};
  const std::string& name = call.buffer(ir::table_argument(call.tile.op)).name;
  const bool has_stride = is_row_major(call);
  if (!has_stride && (!rows || *rows > kMaxElements))
    return decline("extents", "`{}` has a layout of its own and {}, expected at most {}", name,
                   rows ? fmt::format("{} rows", *rows) : "as many rows as are known at run time",
                   kMaxElements);
  OperandPlaces firsts = WW_TRY(table_part(call, has_stride ? 2 : *rows, false));
  if (!firsts.strides.empty() && firsts.strides[0].coef[1] != 0)
    return RowOffset{.stride = firsts.strides[0].stride, .divisor = firsts.strides[0].divisor};
  const std::int64_t start = firsts.linear[0];
  for (std::int64_t& place : firsts.linear) place -= start;
  RowOffset out{.pitch = firsts.linear[1], .divisor = divisor_of(firsts.linear)};
  bool is_strided = true;
  for (std::size_t r = 0; r < firsts.size(); ++r)
    is_strided = is_strided && firsts.linear[r] == out.pitch * static_cast<std::int64_t>(r);
  if (is_strided) return out;
  out.digits = fit_table(firsts.linear);
  if (!out.digits)
    return decline("irregular", "no formula gives where the rows of `{}` begin", name);
  return out;
}

// --- sides ---------------------------------------------------------------------------------------

// The tile: of a scatter, one thread moves an element, however many hold it.
Match<OperandPlaces> tile_side(const Call& call) {
  const std::size_t argument = ir::tile_argument(call.tile.op);
  OperandPlaces out = WW_TRY(operand_places(call, argument));
  if (out.is_register()) WW_TRY_VOID(check_cells(call, out, argument));
  if (call.tile.op != TileOp::Gather) {
    out.replicas = {{}};
    out.spread = {0};
  } else if (!out.is_register() && out.replicas.size() > 1) {
    return decline("replica", "`{}` holds each element at {} places", call.buffer(argument).name,
                   out.replicas.size());
  }
  return out;
}

// The first row, with a base to which the offset of another is added.
Match<OperandPlaces> row_side(const Call& call, const RowOffset& offset) {
  OperandPlaces out = WW_TRY(table_part(call, 1, true));
  if (out.replicas.size() > 1 && call.tile.op != TileOp::Gather)
    return decline("replica", "`{}` holds each element at {} places", call.buffer(0).name,
                   out.replicas.size());
  out.replicas.resize(1);
  out.base_divisor = std::gcd(out.base_divisor, offset.divisor);
  return out;
}

void set_sides(IndexedProblem& p, const OperandPlaces& row, const OperandPlaces& index) {
  p.sides.sources.clear();
  p.sides.elements = p.shape.elements();
  std::vector<std::int64_t> in_row, of_index;
  for (std::int64_t x = 0; x < p.sides.elements; ++x) {
    in_row.push_back(p.shape.in_row(x));
    of_index.push_back(p.shape.index_of(x));
  }
  p.sides.sources.push_back({.side = stretched_places(row, in_row), .operand = 0});
  p.sides.sources.push_back({.side = stretched_places(index, of_index), .operand = 1});
}

// --- who works -----------------------------------------------------------------------------------

// In which order threads share the work is a matter of the tile: rows come in any.
Match<std::vector<Work>> works_of(const Call& call, const ElementwiseProblem& sides) {
  ElementwiseProblem as_near = sides;
  for (ElementwiseSource& source : as_near.sources)
    if (!source.side->is_register()) source.side->scope = ir::Scope::Shared;
  return mixed_work(call, as_near);
}

// Through scratch memory every thread gets every index.
Match<void> stage(const Call& call, const OperandPlaces& row, IndexedProblem& p) {
  const std::int64_t unit = kScratchAlign * 8 / p.index.bits;
  p.piece = (std::ssize(p.index) + unit - 1) / unit * unit;
  WW_TRY_VOID(check_scratch_piece(call, p.index.dtype, p.piece));
  set_sides(p, row, index_in_scratch(p));
  p.works = WW_TRY(works_of(call, p.sides));
  p.is_staged = true;
  return {};
}

// A thread with the index of a row moves the whole row, unless the index goes to those who move
// parts of it side by side.
bool should_stage(const Call& call, const IndexedProblem& p) {
  return p.index.is_register() && !p.tile().is_register() && !p.shape.has_one_each &&
         p.shape.row_elements() > 1 && call.tile.scope != ir::Unit::Thread;
}

Match<void> share_work(const Call& call, const OperandPlaces& row, IndexedProblem& p) {
  if (should_stage(call, p) && stage(call, row, p)) return {};
  set_sides(p, row, p.index);
  auto works = works_of(call, p.sides);
  if (works) {
    p.works = *std::move(works);
    return {};
  }
  if (!p.index.is_register() || call.tile.scope == ir::Unit::Thread)
    return std::move(works).failure();
  return stage(call, row, p);
}

}  // namespace

OperandPlaces index_in_scratch(const IndexedProblem& p) {
  OperandPlaces out;
  out.scope = ir::Scope::Shared;
  out.dtype = p.index.dtype;
  out.bits = p.index.bits;
  out.align_bytes = kScratchAlign;
  out.linear.resize(p.index.size());
  std::iota(out.linear.begin(), out.linear.end(), std::int64_t{0});
  return out;
}

bool has_one_index(const Work& work) {
  const WorkSide& side = work.sides[kIndexSide];
  if (work.vec == 1 || side.access == WorkSide::Access::Single) return true;
  if (side.access == WorkSide::Access::Vector) return false;
  for (std::size_t step = 0; step < side.slots.size(); ++step)
    if (side.slots[step] != side.slots[step / as_index(work.vec) * as_index(work.vec)])
      return false;
  return true;
}

Match<IndexedProblem> indexed_problem(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  WW_TRY_VOID(check_memories(call));
  WW_TRY_VOID(check_apart(call));
  IndexedProblem p;
  const ir::Region& table = call.region(ir::table_argument(call.tile.op));
  const std::size_t axis = ir::indexed_axis(call.tile);
  p.rows = table.ranges[axis].extent;
  p.sides.dst = WW_TRY(tile_side(call));
  p.index = WW_TRY(operand_places(call, ir::kIndexArgument));
  if (p.index.is_register()) WW_TRY_VOID(check_cells(call, p.index, ir::kIndexArgument));
  const auto rows = ir::const_int(call.f(), p.rows);
  p.offset = WW_TRY(row_offset(call, rows));
  const OperandPlaces row = WW_TRY(row_side(call, p.offset));
  std::vector<std::int64_t> extents;
  for (std::size_t d = 0; d < table.ranges.size(); ++d)
    extents.push_back(
        d == axis ? 1 : WW_TRY(constant_extent(call, ir::table_argument(call.tile.op), d)));
  p.shape = ir::indexed_shape(extents, axis, std::ssize(p.tile()), std::ssize(p.index));
  if (p.shape.elements() != std::ssize(p.tile()) || p.shape.indices() != std::ssize(p.index))
    return decline("extents", "a tile of {} elements and {} indices with rows of {}",
                   p.tile().size(), p.index.size(), p.shape.row_elements());
  WW_TRY_VOID(share_work(call, row, p));
  return p;
}

}  // namespace ww::lower
