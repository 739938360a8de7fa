// SPDX-License-Identifier: Apache-2.0
// gather, scatter, scatter_add / indexed: rows of a table in global or shared memory by numbers known
// at run time.
//
// Where the tile is in registers, the threads that hold an element move it (of a scatter, the first
// of them); otherwise the threads of the unit share the tile, neighbours taking neighbours. An
// access has as many elements as one index names side by side, 16 bytes at most. Threads that need
// an index which others hold in registers get it through scratch memory.
//
//     Tx.cta.gather(tile[0:64, 0:64], table[:, 0:64], ids[0:64])    float32, tile shared, 128 threads
//
//     for f in T.unroll(8):
//         row: T.let = ids[f * 8 + threadIdx_x // 16]
//         T.cuda.copy_bytes(&part[0], &table[row * 64 + threadIdx_x % 16 * 4], 16)
//         T.cuda.copy_bytes(&tile[f * 512 + threadIdx_x * 4], &part[0], 16)
//     T.cuda.cta_sync()
//
// `fill_value=` and `clip=True` put the access to the table under `0 <= row < rows`. What is in
// shared memory is there for the whole unit afterwards: a barrier of the unit ends it.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "ir/elementwise.h"
#include "ir/indexed.h"
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/copy/phase_writer.h"
#include "lower/copy/problem.h"
#include "lower/elementwise/work.h"
#include "lower/index_formula.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower::gather_indexed {
namespace {

// --- work ----------------------------------------------------------------------------------------

// A gather or scatter (ir/indexed.h) as work: which thread moves which elements of the tile, in
// vectors of how many, and where it finds their indices and their place in a row of the table.

/// How far a row of the table is from the first one, in elements.
struct RowOffset {
  std::int64_t pitch = 0;                         // one for all rows, known now
  ir::ExprId stride = {};                         // one for all rows, known at launch only
  std::optional<layout::TileLayout> digits = {};  // otherwise by the digits of the row's number
  std::int64_t divisor = 0;                       // of all of them; 0: there is one row
};

/// Sides of the work: as ElementwiseProblem::sides.
constexpr std::size_t kTileSide = 0, kRowSide = 1, kIndexSide = 2;

struct IndexedProblem {
  ir::IndexedShape shape;
  RowOffset offset;
  ir::ExprId rows;      // of the table
  OperandPlaces index;  // as it is given, not stretched
  /// The tile; the first row of the table and the index, stretched to the tile.
  ElementwiseProblem sides;
  std::vector<Work> works;
  bool is_staged = false;  // the index goes through scratch memory: others hold it than need it
  std::int64_t piece = 0;  // elements of scratch memory of a unit

  [[nodiscard]] const OperandPlaces& tile() const { return sides.dst; }
  [[nodiscard]] const OperandPlaces& row() const { return *sides.sources[0].side; }
};

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
  } else if (!out.is_register()) {
    WW_TRY_VOID(check_one_place(call, out));
  }
  return out;
}

// The first row, with a base to which the offset of another is added.
Match<OperandPlaces> row_side(const Call& call, const RowOffset& offset) {
  OperandPlaces out = WW_TRY(table_part(call, 1, true));
  if (call.tile.op != TileOp::Gather) WW_TRY_VOID(check_one_place(call, out));
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

// Scratch memory that has the indices one after the other; the buffer and the start of the unit come
// when code is written.
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

// Do all elements that a thread moves at a time go by one index?
bool has_one_index(const Work& work) {
  const WorkSide& side = work.sides[kIndexSide];
  if (work.vec == 1 || side.access == WorkSide::Access::Single) return true;
  if (side.access == WorkSide::Access::Vector) return false;
  for (std::size_t step = 0; step < side.slots.size(); ++step)
    if (side.slots[step] != side.slots[step / as_index(work.vec) * as_index(work.vec)])
      return false;
  return true;
}

// Declines tables that are not in memory, elements smaller than a byte, rows that no formula
// places, operands that overlap, and threads that hold neither tile nor index as needed.
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

using ir::ExprId;
using ir::ExprOp;
using ir::TileOp;
using Access = WorkSide::Access;

struct Plan {
  IndexedProblem problem;
  std::string addition = {};  // the opcode that adds; empty: it moves
  CopyProblem staging = {};   // the index into scratch memory
  std::vector<CopyPhase> stages = {};
};

// --- match ---------------------------------------------------------------------------------------

std::string_view space_of(ir::Scope scope) { return ir::is_shared(scope) ? "shared" : "global"; }

std::string addition_of(const Call& call) {
  const num::DType type = call.buffer(0).dtype;
  const std::string_view word = type == num::DType::Int32      ? "s32"
                                : type == num::DType::Uint32   ? "u32"
                                : type == num::DType::Float16  ? "noftz.f16"
                                : type == num::DType::Bfloat16 ? "noftz.bf16"
                                : type == num::DType::Float32  ? "f32"
                                : type == num::DType::Float64  ? "f64"
                                                               : "u64";
  return fmt::format("red.{}.add.{}", space_of(call.memory(0)), word);
}

Match<Plan> match(const Call& call) {
  Plan plan{.problem = WW_TRY(indexed_problem(call))};
  const IndexedProblem& p = plan.problem;
  if (call.tile.op == TileOp::ScatterAdd) {
    plan.addition = addition_of(call);
    if (!is_on_target(plan.addition, call.context.target))
      return decline("arch", "{} does not have `{}`", target::info(call.context.target.arch).name,
                     plan.addition);
  }
  if (!p.is_staged) return plan;
  plan.staging = {
      .elements = std::ssize(p.index), .dst = index_in_scratch(p), .src = p.index, .predicate = {}};
  plan.stages = WW_TRY(register_phases(call, plan.staging));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan),
        p_(plan.problem),
        call_(call),
        code_(code),
        u_(p_.sides.has_registers() ? call.unit_thread(code) : call.worker(code)) {}

  void write() {
    if (p_.is_staged) stage();
    find_views();
    if (const ir::Setting* fill = ir::indexed_fill(call_.tile); fill != nullptr)
      fill_ = fill_value_of(call_, code_, fill);
    for (const Work& work : p_.works)
      code_.guarded(member_expr(code_, u_, work.used), [&] { rounds(work); });
    if (ir::is_shared(call_.memory(0))) write_barrier(call_, code_);
  }

 private:
  [[nodiscard]] bool is_gather() const { return call_.tile.op == TileOp::Gather; }
  [[nodiscard]] const OperandPlaces& side(std::size_t s) const { return *p_.sides.sides()[s]; }

  // --- before the rounds ---

  void stage() {
    const ScratchPiece scratch = scratch_piece(call_, code_, p_.index.dtype, p_.piece);
    index_view_ = scratch.view;
    index_start_ = scratch.start;
    CopyProblem to = plan_.staging;
    to.dst.buffer = scratch.view;
    to.dst.base = scratch.start;
    to.dst.base_divisor = scratch.start.valid() ? p_.piece : 0;
    write_barrier(call_, code_);
    PhaseWriter writer(call_, to, code_);
    for (const CopyPhase& phase : plan_.stages) writer.write(phase);
    write_barrier(call_, code_);
  }

  void find_views() {
    views_.push_back(flat_view(call_, code_, p_.tile()));
    // The simplifier takes the index into a single element for 0.
    views_.push_back(code_.flat_view(p_.row().buffer, p_.row().dtype,
                                     std::max<std::int64_t>(2, view_elements(call_, p_.row())),
                                     call_.f()[p_.row().buffer].name));
    views_.push_back(p_.is_staged ? index_view_ : flat_view(call_, code_, p_.index));
  }

  // --- addresses ---

  ExprId base(std::size_t s) {
    if (s == kIndexSide && p_.is_staged) return index_start_.valid() ? index_start_ : code_.n(0);
    return side(s).base_expr(code_);
  }
  static std::string name(std::size_t s) {
    return s == kTileSide ? "tile" : s == kRowSide ? "table" : "index";
  }
  // What does not depend on the round is computed once.
  void find_parts(const Work& work) {
    parts_.clear();
    for (std::size_t s = 0; s < work.sides.size(); ++s) {
      parts_.emplace_back();
      if (work.sides[s].access == Access::Register) continue;
      const PlaceForm& form = work.sides[s].form;
      parts_[s] = place_parts(code_, form, u_, base(s));
      if (form.form.kind != AddressForm::Kind::Joint && !form.form.base_inside)
        parts_[s][0].fixed = code_.let(name(s) + "_base", parts_[s][0].fixed);
    }
  }
  ExprId place(const Work& work, std::size_t s, ExprId k, ExprId offset = {}) {
    const PlaceForm& form = work.sides[s].form;
    std::vector<ThreadPart> parts = parts_[s];
    if (form.form.base_inside && offset.valid()) {
      parts[0] = thread_part(code_, form.form, u_, code_.simplify(code_.add(base(s), offset)));
      offset = {};
    }
    ExprId out = place_expr(code_, form, parts, u_, k, work.threads);
    if (offset.valid()) out = code_.add(out, offset);
    return code_.simplify(out);
  }
  // In 64 bits where the table is in global memory, so that an index out of range stays outside.
  ExprId row_offset(ExprId row) {
    const RowOffset& offset = p_.offset;
    if (ir::is_shared(p_.row().scope)) row = code_.as_int32(row);
    if (offset.stride.valid()) return wide_mul(code_, code_.as_int64(row), offset.stride);
    if (offset.digits) return digits_expr(code_, *offset.digits, row);
    if (offset.pitch == 0) return {};
    return ir::is_shared(p_.row().scope) ? code_.mul(row, offset.pitch)
                                         : wide_mul(code_, row, code_.n(offset.pitch));
  }
  ExprId slot(const Work& work, std::size_t s, ExprId k, std::int64_t i) {
    return slot_expr(code_, work, s, side(s), k, code_.n(i));
  }

  // --- rounds ---

  void rounds(const Work& work) {
    find_parts(work);
    part_ = code_.registers("part", p_.tile().dtype, work.vec);
    const bool has_vector = work.sides[kIndexSide].access == Access::Vector && work.vec > 1;
    numbers_ = has_vector ? code_.registers("rows", p_.index.dtype, work.vec) : ir::BufferId{};
    write_rounds(code_, work, u_, [&](ExprId k) { round(work, k); });
  }
  void round(const Work& work, ExprId k) {
    for (std::int64_t i = 0; fill_.valid() && i < work.vec; ++i) set(i, fill_);
    if (!is_gather()) take_tile(work, k);
    if (numbers_.valid()) {
      const ExprId near = code_.pointer(numbers_, code_.n(0));
      code_.copy_bytes(near, code_.pointer(views_[kIndexSide], place(work, kIndexSide, k)),
                       work.sides[kIndexSide].bytes);
    }
    if (has_one_index(work))
      row(work, k, 0, work.vec);
    else
      for (std::int64_t i = 0; i < work.vec; ++i) row(work, k, i, 1);
    if (is_gather()) give_tile(work, k);
  }

  // The elements of a round in registers.
  void set(std::int64_t i, ExprId value) { code_.store(part_, code_.n(i), value); }
  ExprId get(std::int64_t i) { return code_.load(part_, {code_.n(i)}); }

  // Elements i … i + count - 1 between the registers and a row of the table.
  void row(const Work& work, ExprId k, std::int64_t i, std::int64_t count) {
    const ExprId number = code_.let("row", index_value(work, k, i));
    code_.guarded(is_inside(number), [&] {
      ExprId at = place(work, kRowSide, k, row_offset(number));
      if (work.sides[kRowSide].access == Access::Vector) at = code_.add(at, i);
      table_access(work, code_.simplify(at), i, count);
    });
  }
  ExprId index_value(const Work& work, ExprId k, std::int64_t i) {
    if (numbers_.valid()) return code_.load(numbers_, {code_.n(i)});
    const bool is_register = work.sides[kIndexSide].access == Access::Register;
    return code_.load(views_[kIndexSide],
                      {is_register ? slot(work, kIndexSide, k, i) : place(work, kIndexSide, k)});
  }
  ExprId is_inside(ExprId row) {
    if (!ir::takes_any_index(call_.tile)) return {};
    const ExprId above = code_.binary(ExprOp::Ge, row, code_.zero(p_.index.dtype));
    return code_.both(above, code_.binary(ExprOp::Lt, row, p_.rows));
  }

  void table_access(const Work& work, ExprId at, std::int64_t i, std::int64_t count) {
    const ir::BufferId table = views_[kRowSide];
    if (!plan_.addition.empty()) {
      for (std::int64_t j = 0; j < count; ++j) {
        const ExprId to = code_.simplify(code_.add(at, j));
        const ExprId value = get(i + j);
        const ExprId pointer = code_.address(table, to);
        code_.evaluate(ir::Intrinsic::AtomicAdd, {pointer, value});
      }
    } else if (count > 1) {
      const ExprId far = code_.pointer(table, at), near = code_.pointer(part_, code_.n(0));
      code_.copy_bytes(is_gather() ? near : far, is_gather() ? far : near,
                       work.sides[kRowSide].bytes);
    } else if (is_gather()) {
      set(i, code_.load(table, {at}));
    } else {
      code_.store(table, at, get(i));
    }
  }

  // --- the tile ---

  void take_tile(const Work& work, ExprId k) {
    if (work.sides[kTileSide].access == Access::Register) {
      for (std::int64_t i = 0; i < work.vec; ++i)
        set(i, code_.load(views_[kTileSide], {slot(work, kTileSide, k, i)}));
      return;
    }
    const ExprId at = place(work, kTileSide, k);
    if (work.vec == 1) return set(0, code_.load(views_[kTileSide], {at}));
    const ExprId near = code_.pointer(part_, code_.n(0));
    code_.copy_bytes(near, code_.pointer(views_[kTileSide], at), work.sides[kTileSide].bytes);
  }
  void give_tile(const Work& work, ExprId k) {
    if (work.sides[kTileSide].access == Access::Register) {
      for (std::int64_t i = 0; i < work.vec; ++i) {
        const ExprId value = get(i);
        code_.store(views_[kTileSide], slot(work, kTileSide, k, i), value);
      }
      return;
    }
    const ExprId at = place(work, kTileSide, k);
    if (work.vec == 1) return code_.store(views_[kTileSide], at, get(0));
    const ExprId far = code_.pointer(views_[kTileSide], at);
    code_.copy_bytes(far, code_.pointer(part_, code_.n(0)), work.sides[kTileSide].bytes);
  }

  const Plan& plan_;
  const IndexedProblem& p_;
  const Call& call_;
  CodeWriter& code_;
  ExprId u_;
  ExprId fill_ = {};
  ir::BufferId index_view_ = {};  // of scratch memory
  ExprId index_start_ = {};
  std::vector<ir::BufferId> views_;             // by side
  std::vector<std::vector<ThreadPart>> parts_;  // by side: of the work being written
  ir::BufferId part_ = {};                      // the elements of a round
  ir::BufferId numbers_ = {};                   // their indices, where each has its own
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Writer(plan, call, code).write();
}

// --- report --------------------------------------------------------------------------------------

// Which banks the rows of a table are in is known at run time only.
void add_side(PlanReport& out, const Plan& plan, const Call& call, std::size_t s) {
  const OperandPlaces& side = *plan.problem.sides.sides()[s];
  if (side.is_register()) return;
  AccessLog log(side);
  for (const Work& work : plan.problem.works) {
    const WorkSide& reached = work.sides[s];
    const bool has_one = has_one_index(work);
    const bool is_table = s == kRowSide;
    const bool is_single = is_table && (!has_one || !plan.addition.empty());
    const std::int64_t bytes = is_single ? side.bits / 8 : reached.bytes;
    const std::int64_t times = is_single ? work.vec : 1;
    const bool is_stored = call.tile.op == TileOp::Gather ? s == kTileSide : is_table;
    const std::string opcode = is_table && !plan.addition.empty()
                                   ? plan.addition
                                   : access_opcode(is_stored ? "st" : "ld", side, bytes);
    out.add_instruction(opcode, work.rounds * times, bytes);
    out.vector_bits = std::max(out.vector_bits, static_cast<int>(bytes * 8));
    if (s == kTileSide) log_rounds(log, work, reached.bytes, reached.places, reached.is_fixed);
  }
  if (s == kTileSide && ir::is_shared(side.scope)) add_costs(out, call, log);
}

PlanReport report(const Plan& plan, const Call& call) {
  const IndexedProblem& p = plan.problem;
  PlanReport out;
  out.elements = p.shape.elements();
  out.bytes = out.elements * p.tile().bits / 8;
  for (const CopyPhase& phase : plan.stages) add_phase(out, plan.staging, phase);
  out.rounds = 0;
  add_rounds(out, p.works);
  const bool is_gather = call.tile.op == TileOp::Gather;
  add_side(out, plan, call, kIndexSide);
  add_side(out, plan, call, is_gather ? kRowSide : kTileSide);
  add_side(out, plan, call, is_gather ? kTileSide : kRowSide);
  if (p.is_staged)
    out.notes.push_back(fmt::format("the index goes through {} bytes of scratch memory",
                                    p.piece * p.index.bits / 8));
  if (ir::takes_any_index(call.tile))
    out.notes.emplace_back("the table is accessed where the index is in range");
  return out;
}

constexpr Variant row_of(TileOp op) {
  return variant<Plan, match, emit, report>(
      {.op = op,
       .name = "indexed",
       .about = "threads move vectors between a tile and rows of a table"});
}

constexpr Variant kVariants[] = {row_of(TileOp::Gather), row_of(TileOp::Scatter),
                                 row_of(TileOp::ScatterAdd)};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::gather_indexed
