// SPDX-License-Identifier: Apache-2.0
// T.TMEMPool: one tcgen05.alloc, which `commit` emits for one warp. Its pieces are declared at the
// address that the allocation writes, plus columns.
#include <fmt/format.h>

#include <algorithm>

#include "ir/visit.h"
#include "layout/ready_made.h"
#include "script/api/buffer_fields.h"
#include "script/api/builtins.h"
#include "script/api/pools.h"
#include "script/api/ptx_functions.h"
#include "script/interp/conversions.h"
#include "script/interp/implicit.h"
#include "script/interp/layouts.h"
#include "script/interp/operators.h"
#include "script/syntax/errors.h"

namespace ww::script::tensor_pools_api {
namespace {

using num::DType;

constexpr std::int64_t kColumns = 512;

// The element of shared memory that an address is written to.
Result<ir::BufferId> slot_of(Context& in, const Value& value, Span span) {
  const ir::Function& f = in.fn();
  ir::BufferId slot;
  if (value.is(Kind::Buffer)) slot = value.buffer();
  const bool is_load = value.is(Kind::Ir) && f[value.expr()].op == ir::ExprOp::Load;
  if (is_load) slot = f[value.expr()].buffer;
  if (!slot.valid() || !ir::is_shared(f[slot].scope) || f[slot].dtype != DType::Uint32 ||
      f[slot].shape.size() != 1 || !ir::has_one_element(f, f[slot]))
    return fail_at(span, DiagKind::BadBuffer,
                   "`tmem_addr` is {}, expected a buffer of one uint32 in shared memory",
                   slot.valid()
                       ? fmt::format("`{}` of `{}` in {}", f[slot].name,
                                     num::name_of(f[slot].dtype), ir::name_of(f[slot].scope))
                       : std::string(type_name(value)));
  return slot;
}

enum TensorArg : std::size_t { PoolArg, TotalCols, CtaGroup, AllocWarp, DeallocWarp, Slot, Sync };
constexpr std::string_view kTensorPool =
    "pool, total_cols?, cta_group?, alloc_warp?, dealloc_warp?, tmem_addr?, sync_after_alloc?";

// The address of a pool that is not told where to keep it.
Result<ir::BufferId> new_slot(Context& in, const Args& a) {
  if (!a[PoolArg].is(Kind::Pool) || a[PoolArg].as<PoolObject>().is_tensor)
    return fail_at(a.spans[PoolArg], DiagKind::BadType,
                   "`T.TMEMPool` on {} without `tmem_addr`, expected a `T.SMEMPool`",
                   type_name(a[PoolArg]));
  auto& shared = a[PoolArg].as<PoolObject>();
  WW_TRY_VOID(require_open(shared, "T.TMEMPool", a.call));
  ir::Buffer slot = new_buffer(in, ir::Scope::SharedDyn, DType::Uint32, kOne, a.call);
  return WW_TRY(take_bytes(in, shared, std::move(slot), a.call)).buffer();
}

Result<Value> tensor_pool(Context& in, Args& a) {
  WW_TRY_VOID(require_device(in, a, DiagKind::BadBuffer));
  PoolObject pool;
  pool.is_tensor = true;
  pool.span = a.call;
  pool.columns = WW_TRY(integer_or(in, a, TotalCols, "`total_cols`", kColumns));
  if (pool.columns < 32 || pool.columns > kColumns || (pool.columns & (pool.columns - 1)) != 0)
    return fail_at(a.spans[TotalCols], DiagKind::BadArgument,
                   "`total_cols` is {}, expected 32, 64, 128, 256 or 512", pool.columns);
  pool.cta_group = WW_TRY(integer_or(in, a, CtaGroup, "`cta_group`", 1));
  if (pool.cta_group != 1 && pool.cta_group != 2)
    return fail_at(a.spans[CtaGroup], DiagKind::BadArgument, "`cta_group` is {}, expected 1 or 2",
                   pool.cta_group);
  pool.alloc_warp = WW_TRY(integer_or(in, a, AllocWarp, "`alloc_warp`", 0));
  pool.dealloc_warp = WW_TRY(integer_or(in, a, DeallocWarp, "`dealloc_warp`", pool.alloc_warp));
  for (const std::size_t i : {AllocWarp, DeallocWarp}) {
    const std::int64_t warp = i == AllocWarp ? pool.alloc_warp : pool.dealloc_warp;
    if (warp < 0)
      return fail_at(a.spans[i], DiagKind::BadArgument, "`{}` is {}, expected a warp of the CTA",
                     i == AllocWarp ? "alloc_warp" : "dealloc_warp", warp);
  }
  if (a.has(Sync)) pool.syncs = WW_TRY(as_bool(in, a[Sync], "`sync_after_alloc`", a.spans[Sync]));
  pool.owns_slot = !a.has(Slot) || a[Slot].is(Kind::None);
  pool.slot =
      pool.owns_slot ? WW_TRY(new_slot(in, a)) : WW_TRY(slot_of(in, a[Slot], a.spans[Slot]));
  return add_pool(in, std::move(pool));
}

// Columns of 32 bits that a layout reaches.
std::int64_t columns_of(const layout::Layout& layout, int bits) {
  return ((layout.tile().range_on(layout::axes::tcol()).max + 1) * bits + 31) / 32;
}

Result<Value> take_columns(Context& in, PoolObject& pool, ir::Buffer buffer,
                           std::optional<std::int64_t> given, Span span) {
  const std::int64_t needed = columns_of(*buffer.layout, num::bits_of(buffer.dtype));
  const std::int64_t columns = given.value_or(needed);
  if (columns < needed)
    return fail_at(span, DiagKind::BadBuffer, "`cols` is {}, but the layout reaches {} columns",
                   columns, needed);
  if (columns > pool.columns - pool.offset)
    return fail(diag_at(span, DiagKind::BadBuffer, "{} columns from column {} of {}, which has {}",
                        columns, pool.offset, pool_text(pool), pool.columns)
                    .with_note("it was made here", pool.span));
  Value address = of_expr(WW_TRY(pool_address(in, pool, span)));
  if (pool.offset != 0) address = WW_TRY(binary(in, Op::Add, address, of_int(pool.offset), span));
  buffer.allocated_addr = WW_TRY(expression_as(in, address, ir::Type::of(DType::Uint32), span));
  pool.addresses.push_back(buffer.allocated_addr);
  advance(pool, pool.offset + columns);
  return declare_buffer(in, std::move(buffer), ir::StmtKind::Declare);
}

// Shape and type of a piece of tensor memory: arguments 0 and 1.
Result<ir::Buffer> tensor_fields(Context& in, const Args& a) {
  constexpr BufferField kPlaces[] = {Shape, Dtype};
  return read_buffer_fields(in, as_fields(a, kPlaces), 0, ir::Scope::Tmem);
}

enum PieceArg : std::size_t { PieceShape, PieceType, PieceLayout, PieceCols, PieceDatapath };

Result<layout::Layout> piece_layout(Context& in, const Args& a) {
  const bool has_layout = a.has(PieceLayout) && !a[PieceLayout].is(Kind::None);
  const bool has_path = a.has(PieceDatapath) && !a[PieceDatapath].is(Kind::None);
  if (has_layout && has_path)
    return fail_at(a.call, DiagKind::BadArgument, "`layout` and `datapath` together");
  if (has_layout) return as_layout(in, a[PieceLayout], "`layout`", a.spans[PieceLayout]);
  const layout::Shape shape =
      WW_TRY(as_int_list(in, a[PieceShape], "the shape", a.spans[PieceShape]));
  if (shape.size() != 2)
    return fail_at(a.spans[PieceShape], DiagKind::RankMismatch,
                   "{} extents, expected (rows, columns) or a `layout`", shape.size());
  if (has_path) {
    const std::string letter =
        WW_TRY(as_text(in, a[PieceDatapath], "`datapath`", a.spans[PieceDatapath]));
    if (letter.size() != 1)
      return fail_at(a.spans[PieceDatapath], DiagKind::BadArgument,
                     "datapath \"{}\", expected A to G", letter);
    return layout::tmem_datapath(letter[0], shape[0], shape[1]);
  }
  layout::Iters iters;
  iters.push_back({shape[0], 1, layout::axes::tlane()});
  iters.push_back({shape[1], 1, layout::axes::tcol()});
  return layout::Layout(WW_TRY(layout::TileLayout::make(iters)));
}

Result<Value> tensor_alloc(Context& in, Args& a) {
  PoolObject& pool = pool_of(a);
  WW_TRY_VOID(require_open(pool, "alloc", a.call));
  ir::Buffer buffer = WW_TRY(tensor_fields(in, a));
  Result<layout::Layout> layout = piece_layout(in, a);
  if (!layout) return fail(std::move(layout).error().with_span(a.call));
  set_layout(buffer, *std::move(layout));
  std::optional<std::int64_t> columns;
  if (a.has(PieceCols) && !a[PieceCols].is(Kind::None))
    columns = WW_TRY(as_integer(in, a[PieceCols], "`cols`", a.spans[PieceCols]));
  return take_columns(in, pool, std::move(buffer), columns, a.call);
}

// alloc_sf((pipe, rows, factors · reuse), dtype, sf_per_mma, sf_reuse): scale factors.
Result<Value> tensor_alloc_factors(Context& in, Args& a) {
  PoolObject& pool = pool_of(a);
  WW_TRY_VOID(require_open(pool, "alloc_sf", a.call));
  ir::Buffer buffer = WW_TRY(tensor_fields(in, a));
  const layout::Shape shape = WW_TRY(as_int_list(in, a[0], "the shape", a.spans[0]));
  const std::int64_t reuse = WW_TRY(integer_or(in, a, 3, "`sf_reuse`", 1));
  if (shape.size() < 2 || shape.size() > 3)
    return fail_at(a.spans[0], DiagKind::RankMismatch,
                   "{} extents, expected (rows, factors) or (pipe, rows, factors)", shape.size());
  if (reuse < 1 || shape.back() % reuse != 0)
    return fail_at(a.call, DiagKind::Indivisible, "{} factors in steps of {}", shape.back(), reuse);
  const std::int64_t per_mma = WW_TRY(as_integer(in, a[2], "`sf_per_mma`", a.spans[2]));
  set_layout(buffer, WW_TRY(placed(layout::scale_factor_tmem(shape[shape.size() - 2],
                                                             shape.back() / reuse, per_mma, reuse,
                                                             shape.size() == 3 ? shape[0] : 1),
                                   a.call)));
  return take_columns(in, pool, std::move(buffer), std::nullopt, a.call);
}

// --- what it emits -------------------------------------------------------------------------------

// The number of the warp in the CTA: an id of the program, or a new one.
ir::ExprId warp_id(Context& in, Span span) {
  for (const ir::Block& block : in.kernel->blocks)
    for (const ir::StmtId id : block) {
      const ir::Stmt& stmt = in.fn()[id];
      if (stmt.kind == ir::StmtKind::ScopeIds && stmt.scope_id == ir::ScopeIdKind::WarpId)
        return ir::var_ref(in.fn(), stmt.vars[0], span);
    }
  ir::Stmt out = stmt_node(ir::StmtKind::ScopeIds, span);
  out.scope_id = ir::ScopeIdKind::WarpId;
  out.vars.push_back(new_var(in, ir::VarKind::ScopeId, ir::Type::of(DType::Int32), span, "warp"));
  const ir::VarId id = out.vars[0];
  emit(in, std::move(out));
  return ir::var_ref(in.fn(), id, span);
}

Result<void> emit_tcgen05(Context& in, std::string_view name, std::vector<Value> arguments,
                          Span span) {
  CallArgs args = CallArgs::at(span, std::move(arguments));
  WW_TRY_VOID(call_ptx_function(in, *find_ptx_function(name), args));
  return {};
}

template <typename Body>
Result<void> by_warp(Context& in, std::int64_t warp, Span span, const Body& body) {
  const Value is_warp = WW_TRY(compare(in, Op::Eq, of_expr(warp_id(in, span)), of_int(warp), span));
  in.kernel->blocks.emplace_back();
  Result<void> done = body();
  ir::Stmt out = stmt_node(ir::StmtKind::If, span);
  out.expr = is_warp.expr();
  out.body = std::move(in.kernel->blocks.back());
  in.kernel->blocks.pop_back();
  WW_TRY_VOID(std::move(done));
  emit(in, std::move(out));
  return {};
}

// The first statement that reaches a piece of the pool.
std::optional<Span> first_use(const ir::Function& f, const PoolObject& pool,
                              const std::vector<ir::Block>& blocks) {
  // Expressions with the address of a piece in them; operands are made before their users.
  std::vector<bool> holds(f.expr_count());
  for (const ir::ExprId address : pool.addresses) holds[address.index] = true;
  const auto is_held = [&](ir::ExprId id) { return id.valid() && holds[id.index]; };
  for (std::uint32_t i = 0; i < f.expr_count(); ++i) {
    const auto& args = f[ir::ExprId{i}].args;
    if (std::any_of(args.begin(), args.end(), is_held)) holds[i] = true;
  }
  const auto is_use = [&](const ir::Stmt& stmt) {
    if (stmt.kind == ir::StmtKind::Declare) return false;
    bool out = false;
    ir::for_each_root(f, stmt, [&](ir::ExprId id) { out = out || is_held(id); });
    if (stmt.kind != ir::StmtKind::Tile) return out;
    for (const ir::TileArg& arg : f[stmt.tile].args)
      if (const auto* region = std::get_if<ir::Region>(&arg))
        out = out || is_held(f[region->buffer].allocated_addr);
    return out;
  };
  std::optional<Span> out;
  for (const ir::Block& block : blocks)
    ir::for_each_stmt(f, block, [&](ir::StmtId id) {
      if (!out && is_use(f[id])) out = f[id].span;
    });
  return out;
}

Result<Value> tensor_commit(Context& in, Args& a) {
  PoolObject& pool = pool_of(a);
  WW_TRY_VOID(require_open(pool, "commit", a.call));
  pool.is_committed = true;
  if (const std::optional<Span> use = first_use(in.fn(), pool, in.kernel->blocks))
    return fail(diag_at(*use, DiagKind::BadBuffer,
                        "tensor memory of {} is used before `commit`, which allocates it",
                        pool_text(pool))
                    .with_note("committed here", a.call));
  WW_TRY_VOID(by_warp(in, pool.alloc_warp, a.call, [&]() -> Result<void> {
    const Value slot = of_expr(WW_TRY(first_address(in, pool.slot, a.call)));
    WW_TRY_VOID(emit_tcgen05(in, "tcgen05.alloc",
                             {slot, of_int(pool.columns), of_int(pool.cta_group)}, a.call));
    if (!pool.syncs) return {};
    ir::Stmt sync = stmt_node(ir::StmtKind::Evaluate, a.call);
    sync.expr = WW_TRY(ir::call(in.fn(), ir::Intrinsic::WarpSync, {}, a.call));
    emit(in, std::move(sync));
    return {};
  }));
  return none();
}

Result<Value> tensor_dealloc(Context& in, Args& a) {
  PoolObject& pool = pool_of(a);
  if (!pool.is_committed || pool.is_freed)
    return fail(diag_at(a.call, DiagKind::BadBuffer, "`dealloc` of {} {}", pool_text(pool),
                        pool.is_freed ? "twice" : "before `commit`")
                    .with_note("it was made here", pool.span));
  pool.is_freed = true;
  WW_TRY_VOID(by_warp(in, pool.dealloc_warp, a.call, [&]() -> Result<void> {
    WW_TRY_VOID(
        emit_tcgen05(in, "tcgen05.relinquish_alloc_permit", {of_int(pool.cta_group)}, a.call));
    const Value address = of_expr(WW_TRY(pool_address(in, pool, a.call)));
    return emit_tcgen05(in, "tcgen05.dealloc",
                        {address, of_int(pool.columns), of_int(pool.cta_group)}, a.call);
  }));
  return none();
}

constexpr BuiltinRow kRows[] = {
    {"T.TMEMPool", kTensorPool, tensor_pool, true},
    {"tmem_pool.alloc", "shape, dtype?, layout?, cols?, datapath?", tensor_alloc, true},
    {"tmem_pool.alloc_sf", "shape, dtype, sf_per_mma, sf_reuse?", tensor_alloc_factors, true},
    {"tmem_pool.move_base_to", "col", move_base, true},
    {"tmem_pool.commit", "", tensor_commit, true},
    {"tmem_pool.dealloc", "", tensor_dealloc, true},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::tensor_pools_api

namespace ww::script {

Result<ir::ExprId> pool_address(Context& in, const PoolObject& pool, Span span) {
  const ir::ExprId zero = ir::int_imm(in.fn(), num::DType::Int32, 0, span);
  return ir::load(in.fn(), pool.slot, std::span(&zero, 1), 1, span);
}

}  // namespace ww::script
