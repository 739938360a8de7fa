// SPDX-License-Identifier: Apache-2.0
// T.SMEMPool: one allocation in shared.dyn whose size is known at `commit`; its pieces are views of
// it. T.TMEMPool: one tcgen05.alloc, which `commit` emits for one warp; its pieces are declared at
// the address that the allocation writes, plus columns.
#include "script/api/builtins.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail_at.h"
#include "ir/visit.h"
#include "layout/ready_made.h"
#include "layout/views.h"
#include "script/interp/evaluator.h"

namespace ww::script::pools_api {
namespace {

using num::DType;

constexpr std::int64_t kMmaAlign = 1024;  // of swizzled tiles
constexpr std::int64_t kDefaultAlign = 64;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;

PoolObject& pool_of(const Args& a) { return a.self.as<PoolObject>(); }

// Its name in messages.
std::string pool_text(const PoolObject& pool) {
  return pool.name.empty() ? "the pool" : fmt::format("`{}`", pool.name);
}

// A pool that the kernel must commit.
Value add_pool(Context& in, PoolObject pool) {
  const Value out = in.heap.wrap(Kind::Pool, std::move(pool));
  in.kernel->pools.push_back(&out.as<PoolObject>());
  return out;
}

// Fails when it is committed: it has nothing left to give.
Result<void> require_open(const PoolObject& pool, std::string_view what, Span span) {
  if (!pool.is_committed) return {};
  return fail(diag_at(span, DiagKind::BadBuffer, "`{}` after `commit` of {}", what, pool_text(pool))
                  .with_note("it was made here", pool.span));
}

// The next piece begins there.
void advance(PoolObject& pool, std::int64_t to) {
  pool.offset = to;
  pool.end = std::max(pool.end, to);
}

Result<Value> move_base(Context& in, Args& a) {
  PoolObject& pool = pool_of(a);
  WW_TRY_VOID(require_open(pool, "move_base_to", a.call));
  const std::int64_t most = pool.is_tensor ? pool.columns : kMaxBytes;
  const std::int64_t to = WW_TRY(as_integer(in, a[0], "the offset"));
  if (to < 0 || to > most)
    return fail_at(a.span(0), DiagKind::BadArgument, "`move_base_to` {} in {}, expected 0 to {}",
                   to, pool_text(pool), most);
  advance(pool, to);
  return none();
}

// --- shared memory -------------------------------------------------------------------------------

// Bytes from the first to the last place of the elements.
Result<std::int64_t> bytes_of(Context& in, const ir::Buffer& buffer, Span span) {
  const std::optional<layout::Layout> layout = ir::layout_of(in.fn(), buffer);
  if (!layout || !layout::require_constant(*layout, "size"))
    return fail_at(span, DiagKind::NeedsConstant,
                   "a piece of a pool whose extents are known at launch only");
  const std::int64_t elements = WW_TRY(layout::memory_span(*layout));
  return (elements * num::storage_bits(buffer.dtype) + 7) / 8;
}

// A piece of shared memory: everything but where it lies is set.
Result<Value> take_bytes(Context& in, PoolObject& pool, ir::Buffer buffer, Span span) {
  const std::int64_t element = std::max(1, num::storage_bits(buffer.dtype) / 8);
  const std::int64_t align = std::max(buffer.align, element);
  const std::int64_t begin = (pool.offset + align - 1) / align * align;
  const std::int64_t bytes = WW_TRY(bytes_of(in, buffer, span));
  if (begin + bytes > kMaxBytes)
    return fail_at(span, DiagKind::BadBuffer, "{} bytes at byte {} of {}, which takes {} at most",
                   bytes, begin, pool_text(pool), kMaxBytes);
  WW_TRY_VOID(
      apply_data(in, buffer, {pool.arena.valid() ? of_buffer(pool.arena) : pool.data, span}));
  if (buffer.origin == ir::BufferOrigin::View) {
    const ir::Buffer& storage = in.fn()[buffer.base];
    buffer.scope = storage.scope;
    const std::int64_t has = std::max(storage.align, kDefaultAlign);
    if (!pool.arena.valid() && align > has)
      return fail_at(span, DiagKind::BadBuffer,
                     "an alignment of {} in `{}`, which is aligned to {} bytes itself", align,
                     storage.name, has);
  }
  if (begin != 0) buffer.byte_offset = ir::int_imm(in.fn(), num::DType::Int32, begin, span);
  buffer.align = 0;  // the arena has it
  pool.align = std::max(pool.align, align);
  advance(pool, begin + bytes);
  return declare_buffer(in, std::move(buffer), ir::StmtKind::Declare);
}

Result<Value> shared_pool(Context& in, Args& a) {
  WW_TRY_VOID(require_device(in, a, DiagKind::BadBuffer));
  PoolObject pool;
  pool.span = a.call;
  if (a.given(0)) {
    pool.data = a[0];
    return in.heap.wrap(Kind::Pool, std::move(pool));  // there is no size to settle
  }
  // Of one byte until `commit`.
  ir::Buffer arena = new_buffer(in, ir::Scope::SharedDyn, DType::Uint8, kOne, a.call);
  pool.arena = declare_buffer(in, std::move(arena), ir::StmtKind::Alloc).buffer();
  return add_pool(in, std::move(pool));
}

Result<Value> shared_alloc(Context& in, Args& a) {
  PoolObject& pool = pool_of(a);
  WW_TRY_VOID(require_open(pool, "alloc", a.call));
  constexpr BufferField kPlaces[] = {Shape, Dtype,      Strides,    ScopeName,
                                     Align, BufferType, Separators, LayoutArg};
  const Args fields = as_fields(a, kPlaces);
  ir::Buffer buffer = WW_TRY(read_buffer_fields(in, fields, 0, ir::Scope::SharedDyn));
  if (!ir::is_shared(buffer.scope))
    return fail_at(fields.span(ScopeName), DiagKind::BadBuffer,
                   "scope \"{}\" for a piece of {}, which is in shared memory",
                   ir::name_of(buffer.scope), pool_text(pool));
  return take_bytes(in, pool, std::move(buffer), a.call);
}

// alloc_mma(shape, dtype, swizzle_mode, align): a tile that matrix instructions and bulk copies
// take.
Result<Value> shared_alloc_mma(Context& in, Args& a) {
  PoolObject& pool = pool_of(a);
  WW_TRY_VOID(require_open(pool, "alloc_mma", a.call));
  const std::size_t at = a.has(4) ? 4 : 2;  // `swizzle` is another name of `swizzle_mode`
  constexpr BufferField kPlaces[] = {Shape, Dtype, LayoutArg, Align};
  Args fields = as_fields(a, kPlaces);
  fields.values[LayoutArg].reset();  // it is the swizzle here
  if (!fields.has(Dtype)) fields.values[Dtype] = Given{in.heap.str("float16"), a.call};
  if (!fields.has(Align)) fields.values[Align] = Given{of_int(kMmaAlign), a.call};
  ir::Buffer buffer = WW_TRY(read_buffer_fields(in, fields, 0, ir::Scope::SharedDyn));
  const layout::Shape shape = WW_TRY(as_int_list(in, a[0], "the shape"));
  const int bits = num::storage_bits(buffer.dtype);
  const layout::SwizzleMode mode = a.has(at) ? WW_TRY(tile_swizzle_arg(in, a[at], shape, bits))
                                             : layout::widest_swizzle(shape, bits);
  set_layout(buffer, WW_TRY(placed(layout::mma_shared(shape, mode, bits), a.call)));
  return take_bytes(in, pool, std::move(buffer), a.call);
}

Result<Value> shared_commit(Context& in, Args& a) {
  PoolObject& pool = pool_of(a);
  if (!pool.arena.valid()) return none();
  WW_TRY_VOID(require_open(pool, "commit", a.call));
  pool.is_committed = true;
  const std::int64_t size = WW_TRY(integer_or(in, a, 0, "`size`", pool.end));
  if (size < pool.end || size > kMaxBytes)
    return fail_at(a.span(0), DiagKind::BadBuffer,
                   "{} bytes for {}, expected the {} that are used to {}", size, pool_text(pool),
                   pool.end, kMaxBytes);
  const ir::ExprId extent =
      ir::int_imm(in.fn(), DType::Int32, std::max<std::int64_t>(size, 1), a.call);
  ir::Buffer& arena = in.fn().at(pool.arena);
  arena.shape = {extent};
  if (pool.align > kDefaultAlign) arena.align = pool.align;
  return none();
}

// --- tensor memory -------------------------------------------------------------------------------

// The address of a pool of tensor memory, as it is at run time.
Result<ir::ExprId> pool_address(Context& in, const PoolObject& pool, Span span) {
  const ir::ExprId zero = ir::int_imm(in.fn(), num::DType::Int32, 0, span);
  return ir::load(in.fn(), pool.slot, std::span(&zero, 1), 1, span);
}

constexpr std::int64_t kColumns = 512;

// The element of shared memory that an address is written to.
Result<ir::BufferId> slot_of(Context& in, const Given& value) {
  const ir::Function& f = in.fn();
  ir::BufferId slot;
  if (value.is(Kind::Buffer)) slot = value.buffer();
  const bool is_load = value.is(Kind::Ir) && f[value.expr()].op == ir::ExprOp::Load;
  if (is_load) slot = f[value.expr()].buffer;
  if (!slot.valid() || !ir::is_shared(f[slot].scope) || f[slot].dtype != DType::Uint32 ||
      f[slot].shape.size() != 1 || !ir::has_one_element(f, f[slot]))
    return fail_at(value.span, DiagKind::BadBuffer,
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
    return fail_at(a.span(PoolArg), DiagKind::BadType,
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
    return fail_at(a.span(TotalCols), DiagKind::BadArgument,
                   "`total_cols` is {}, expected 32, 64, 128, 256 or 512", pool.columns);
  pool.cta_group = WW_TRY(integer_or(in, a, CtaGroup, "`cta_group`", 1));
  if (pool.cta_group != 1 && pool.cta_group != 2)
    return fail_at(a.span(CtaGroup), DiagKind::BadArgument, "`cta_group` is {}, expected 1 or 2",
                   pool.cta_group);
  pool.alloc_warp = WW_TRY(integer_or(in, a, AllocWarp, "`alloc_warp`", 0));
  pool.dealloc_warp = WW_TRY(integer_or(in, a, DeallocWarp, "`dealloc_warp`", pool.alloc_warp));
  for (const std::size_t i : {AllocWarp, DeallocWarp}) {
    const std::int64_t warp = i == AllocWarp ? pool.alloc_warp : pool.dealloc_warp;
    if (warp < 0)
      return fail_at(a.span(i), DiagKind::BadArgument, "`{}` is {}, expected a warp of the CTA",
                     i == AllocWarp ? "alloc_warp" : "dealloc_warp", warp);
  }
  if (a.has(Sync)) pool.syncs = WW_TRY(as_bool(in, a[Sync], "`sync_after_alloc`"));
  pool.owns_slot = !a.given(Slot);
  pool.slot = pool.owns_slot ? WW_TRY(new_slot(in, a)) : WW_TRY(slot_of(in, a[Slot]));
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
  buffer.allocated_addr = WW_TRY(expression_as(in, {address, span}, ir::Type::of(DType::Uint32)));
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
  const bool has_layout = a.given(PieceLayout);
  const bool has_path = a.given(PieceDatapath);
  if (has_layout && has_path)
    return fail_at(a.call, DiagKind::BadArgument, "`layout` and `datapath` together");
  if (has_layout) return as_layout(in, a[PieceLayout], "`layout`");
  const layout::Shape shape = WW_TRY(as_int_list(in, a[PieceShape], "the shape"));
  if (shape.size() != 2)
    return fail_at(a.span(PieceShape), DiagKind::RankMismatch,
                   "{} extents, expected (rows, columns) or a `layout`", shape.size());
  if (has_path) {
    const std::string letter = WW_TRY(as_text(in, a[PieceDatapath], "`datapath`"));
    if (letter.size() != 1)
      return fail_at(a.span(PieceDatapath), DiagKind::BadArgument,
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
  if (a.given(PieceCols)) columns = WW_TRY(as_integer(in, a[PieceCols], "`cols`"));
  return take_columns(in, pool, std::move(buffer), columns, a.call);
}

// alloc_sf((pipe, rows, factors · reuse), dtype, sf_per_mma, sf_reuse): scale factors.
Result<Value> tensor_alloc_factors(Context& in, Args& a) {
  PoolObject& pool = pool_of(a);
  WW_TRY_VOID(require_open(pool, "alloc_sf", a.call));
  ir::Buffer buffer = WW_TRY(tensor_fields(in, a));
  const layout::Shape shape = WW_TRY(as_int_list(in, a[0], "the shape"));
  const std::int64_t reuse = WW_TRY(integer_or(in, a, 3, "`sf_reuse`", 1));
  if (shape.size() < 2 || shape.size() > 3)
    return fail_at(a.span(0), DiagKind::RankMismatch,
                   "{} extents, expected (rows, factors) or (pipe, rows, factors)", shape.size());
  if (reuse < 1 || shape.back() % reuse != 0)
    return fail_at(a.call, DiagKind::Indivisible, "{} factors in steps of {}", shape.back(), reuse);
  const std::int64_t per_mma = WW_TRY(as_integer(in, a[2], "`sf_per_mma`"));
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
    if (std::ranges::any_of(args, is_held)) holds[i] = true;
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
    if (pool.syncs)
      emit_call(in, WW_TRY(ir::call(in.fn(), ir::Intrinsic::WarpSync, {}, a.call)), a.call);
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

constexpr std::string_view kSharedPiece =
    "shape, dtype?, strides?, scope?, align?, buffer_type?, axis_separators?, layout?";
constexpr std::string_view kMmaPiece = "shape, dtype?, swizzle_mode?, align?, swizzle?";

constexpr BuiltinRow kRows[] = {
    {"T.SMEMPool", "ptr?", shared_pool, true},
    {"smem_pool.alloc", kSharedPiece, shared_alloc, true},
    {"smem_pool.alloc_mma", kMmaPiece, shared_alloc_mma, true},
    {"smem_pool.alloc_tcgen05_mma_AB", kMmaPiece, shared_alloc_mma, true},
    {"smem_pool.move_base_to", "offset", move_base, true},
    {"smem_pool.commit", "size?", shared_commit, true},
    {"T.TMEMPool", kTensorPool, tensor_pool, true},
    {"tmem_pool.alloc", "shape, dtype?, layout?, cols?, datapath?", tensor_alloc, true},
    {"tmem_pool.alloc_sf", "shape, dtype, sf_per_mma, sf_reuse?", tensor_alloc_factors, true},
    {"tmem_pool.move_base_to", "col", move_base, true},
    {"tmem_pool.commit", "", tensor_commit, true},
    {"tmem_pool.dealloc", "", tensor_dealloc, true},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::pools_api

namespace ww::script {

std::optional<Result<Value>> pool_attribute(Context& in, const Value& value, std::string_view name,
                                            Span span) {
  const auto& pool = value.as<PoolObject>();
  if (name == "offset") return of_int(pool.offset);
  if (name == "max_offset") return of_int(pool.end);
  if (pool.is_tensor) {
    if (name == "total_cols") return of_int(pool.columns);
    if (name != "addr") return std::nullopt;
    const Result<ir::ExprId> address = pools_api::pool_address(in, pool, span);
    if (!address) return fail(address.error());
    return of_expr(*address);
  }
  if (name == "ptr" && pool.arena.valid())
    return of_expr(ir::buffer_data(in.fn(), pool.arena, span));
  if (name == "ptr") return pool.data;
  if (name == "buf" && pool.arena.valid()) return of_buffer(pool.arena);
  return std::nullopt;
}

void name_pool(ir::Function& f, PoolObject& pool, const std::string& name) {
  if (!pool.name.empty()) return;
  pool.name = name;
  const ir::BufferId buffer = pool.is_tensor ? pool.slot : pool.arena;
  if (!buffer.valid() || !f[buffer].name.empty()) return;
  f.at(buffer).name = pool.is_tensor ? name + "_addr" : name;
}

std::optional<Diag> unfinished_pool(const KernelContext& kernel) {
  for (const PoolObject* pool : kernel.pools) {
    // With an address of its own the program may allocate by itself.
    if (pool->is_committed || (pool->is_tensor && !pool->owns_slot)) continue;
    return diag_at(pool->span, DiagKind::BadBuffer, "{} is never committed, so {}",
                   pools_api::pool_text(*pool),
                   pool->is_tensor ? "nothing allocates its columns" : "it has no size")
        .with_note("`.commit()` follows the last `.alloc`");
  }
  return std::nullopt;
}

}  // namespace ww::script
