// SPDX-License-Identifier: Apache-2.0
// T.SMEMPool: one allocation in shared.dyn whose size is known at `commit`; its pieces are views of
// it. And what pools of both kinds have in common.
#include "script/api/pools.h"

#include <fmt/format.h>

#include <algorithm>

#include "layout/ready_made.h"
#include "layout/views.h"
#include "script/api/buffer_fields.h"
#include "script/api/builtins.h"
#include "script/interp/conversions.h"
#include "script/interp/layouts.h"
#include "script/syntax/errors.h"

namespace ww::script::pools_api {
namespace {

using num::DType;

constexpr std::int64_t kMmaAlign = 1024;  // of swizzled tiles
constexpr std::int64_t kDefaultAlign = 64;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;

Result<Value> shared_pool(Context& in, Args& a) {
  WW_TRY_VOID(require_device(in, a, DiagKind::BadBuffer));
  PoolObject pool;
  pool.span = a.call;
  if (a.has(0) && !a[0].is(Kind::None)) {
    pool.data = a[0];
    return in.heap.wrap(Kind::Pool, std::move(pool));  // there is no size to settle
  }
  // Of one byte until `commit`.
  ir::Buffer arena = new_buffer(in, ir::Scope::SharedDyn, DType::Uint8, kOne, a.call);
  pool.arena = declare_buffer(in, std::move(arena), ir::StmtKind::Alloc).buffer();
  return add_pool(in, std::move(pool));
}

// Bytes from the first to the last place of the elements.
Result<std::int64_t> bytes_of(Context& in, const ir::Buffer& buffer, Span span) {
  const std::optional<layout::Layout> layout = ir::layout_of(in.fn(), buffer);
  if (!layout || !layout::require_constant(*layout, "size"))
    return fail_at(span, DiagKind::NeedsConstant,
                   "a piece of a pool whose extents are known at launch only");
  const std::int64_t elements = WW_TRY(layout::memory_span(*layout));
  return (elements * num::storage_bits(buffer.dtype) + 7) / 8;
}

Result<Value> shared_alloc(Context& in, Args& a) {
  PoolObject& pool = pool_of(a);
  WW_TRY_VOID(require_open(pool, "alloc", a.call));
  constexpr BufferField kPlaces[] = {Shape, Dtype,      Strides,    ScopeName,
                                     Align, BufferType, Separators, LayoutArg};
  const Args fields = as_fields(a, kPlaces);
  ir::Buffer buffer = WW_TRY(read_buffer_fields(in, fields, 0, ir::Scope::SharedDyn));
  if (!ir::is_shared(buffer.scope))
    return fail_at(fields.spans[ScopeName], DiagKind::BadBuffer,
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
  if (!fields.has(Dtype)) fields.values[Dtype] = in.heap.str("float16");
  if (!fields.has(Align)) fields.values[Align] = of_int(kMmaAlign);
  ir::Buffer buffer = WW_TRY(read_buffer_fields(in, fields, 0, ir::Scope::SharedDyn));
  const layout::Shape shape = WW_TRY(as_int_list(in, a[0], "the shape", a.spans[0]));
  const int bits = num::storage_bits(buffer.dtype);
  const layout::SwizzleMode mode =
      a.has(at) ? WW_TRY(tile_swizzle_arg(in, a[at], a.spans[at], shape, bits))
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
    return fail_at(a.spans[0], DiagKind::BadBuffer,
                   "{} bytes for {}, expected the {} that are used to {}", size, pool_text(pool),
                   pool.end, kMaxBytes);
  const ir::ExprId extent =
      ir::int_imm(in.fn(), DType::Int32, std::max<std::int64_t>(size, 1), a.call);
  ir::Buffer& arena = in.fn().at(pool.arena);
  arena.shape = {extent};
  if (pool.align > kDefaultAlign) arena.align = pool.align;
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
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::pools_api

namespace ww::script {

// --- pools of both kinds -------------------------------------------------------------------------

PoolObject& pool_of(const Args& a) { return a.self.as<PoolObject>(); }

std::string pool_text(const PoolObject& pool) {
  return pool.name.empty() ? "the pool" : fmt::format("`{}`", pool.name);
}

Value add_pool(Context& in, PoolObject pool) {
  const Value out = in.heap.wrap(Kind::Pool, std::move(pool));
  in.kernel->pools.push_back(&out.as<PoolObject>());
  return out;
}

Result<void> require_open(const PoolObject& pool, std::string_view what, Span span) {
  if (!pool.is_committed) return {};
  return fail(diag_at(span, DiagKind::BadBuffer, "`{}` after `commit` of {}", what, pool_text(pool))
                  .with_note("it was made here", pool.span));
}

void advance(PoolObject& pool, std::int64_t to) {
  pool.offset = to;
  pool.end = std::max(pool.end, to);
}

Result<Value> move_base(Context& in, Args& a) {
  PoolObject& pool = pool_of(a);
  WW_TRY_VOID(require_open(pool, "move_base_to", a.call));
  const std::int64_t most = pool.is_tensor ? pool.columns : pools_api::kMaxBytes;
  const std::int64_t to = WW_TRY(as_integer(in, a[0], "the offset", a.spans[0]));
  if (to < 0 || to > most)
    return fail_at(a.spans[0], DiagKind::BadArgument, "`move_base_to` {} in {}, expected 0 to {}",
                   to, pool_text(pool), most);
  advance(pool, to);
  return none();
}

// --- shared memory -------------------------------------------------------------------------------

Result<Value> take_bytes(Context& in, PoolObject& pool, ir::Buffer buffer, Span span) {
  const std::int64_t element = std::max(1, num::storage_bits(buffer.dtype) / 8);
  const std::int64_t align = std::max(buffer.align, element);
  const std::int64_t begin = (pool.offset + align - 1) / align * align;
  const std::int64_t bytes = WW_TRY(pools_api::bytes_of(in, buffer, span));
  if (begin + bytes > pools_api::kMaxBytes)
    return fail_at(span, DiagKind::BadBuffer, "{} bytes at byte {} of {}, which takes {} at most",
                   bytes, begin, pool_text(pool), pools_api::kMaxBytes);
  WW_TRY_VOID(apply_data(in, buffer, pool.arena.valid() ? of_buffer(pool.arena) : pool.data, span));
  if (buffer.origin == ir::BufferOrigin::View) {
    const ir::Buffer& storage = in.fn()[buffer.base];
    buffer.scope = storage.scope;
    const std::int64_t has = std::max(storage.align, pools_api::kDefaultAlign);
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

std::optional<Result<Value>> pool_attribute(Context& in, const Value& value, std::string_view name,
                                            Span span) {
  const auto& pool = value.as<PoolObject>();
  if (name == "offset") return of_int(pool.offset);
  if (name == "max_offset") return of_int(pool.end);
  if (pool.is_tensor) {
    if (name == "total_cols") return of_int(pool.columns);
    if (name != "addr") return std::nullopt;
    const Result<ir::ExprId> address = pool_address(in, pool, span);
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
                   pool_text(*pool),
                   pool->is_tensor ? "nothing allocates its columns" : "it has no size")
        .with_note("`.commit()` follows the last `.alloc`");
  }
  return std::nullopt;
}

}  // namespace ww::script
