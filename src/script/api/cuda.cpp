// SPDX-License-Identifier: Apache-2.0
// Functions of ir/intrinsics.def that are called by other names or with other arguments than they
// have; intrinsics.cpp has all others.
#include "ir/signatures.h"
#include "script/api/builtins.h"
#include "script/api/params.h"
#include "script/api/ptx_functions.h"
#include "script/interp/conversions.h"
#include "script/interp/implicit.h"
#include "script/interp/operators.h"
#include "script/interp/regions.h"
#include "script/syntax/errors.h"

namespace ww::script::cuda_api {
namespace {

using ir::Intrinsic;
using num::DType;

template <std::int64_t kBytes>
Result<Value> copy_bytes(Context& in, Args& a) {
  const ir::ExprId args[] = {WW_TRY(expression(in, a[0], a.spans[0])),
                             WW_TRY(expression(in, a[1], a.spans[1])),
                             ir::int_imm(in.fn(), DType::Int32, kBytes, a.call)};
  return of_expr(WW_TRY(ir::call(in.fn(), Intrinsic::CopyBytes, args, a.call)));
}

// The lanes of a segment, where their number is known.
Result<ir::ExprId> segment_width(Context& in, const Value& value, Span span) {
  const ir::ExprId width = WW_TRY(expression_as(in, value, ir::Type::of(DType::Int32), span));
  const auto lanes = ir::const_int(in.fn(), width);
  if (!lanes || (*lanes >= 1 && *lanes <= 32 && (*lanes & (*lanes - 1)) == 0)) return width;
  return fail_at(span, DiagKind::BadArgument, "a width of {} lanes, expected 1, 2, 4, 8, 16 or 32",
                 *lanes);
}

// CUDA's own names: __shfl_xor_sync(mask, value, lane, width).
template <Intrinsic kCallee>
Result<Value> shuffle(Context& in, Args& a) {
  const ir::Type u32 = ir::Type::of(DType::Uint32);
  const ir::Type i32 = ir::Type::of(DType::Int32);
  const Value width = a.has(3) ? a[3] : of_int(32);
  const ir::ExprId args[] = {WW_TRY(expression_as(in, a[0], u32, a.spans[0])),
                             WW_TRY(expression(in, a[1], a.spans[1])),
                             WW_TRY(expression_as(in, a[2], i32, a.spans[2])),
                             WW_TRY(segment_width(in, width, a.has(3) ? a.spans[3] : a.call)),
                             ir::int_imm(in.fn(), DType::Int32, 32, a.call)};
  return of_expr(WW_TRY(ir::call(in.fn(), kCallee, args, a.call)));
}

// The mask is a bit per lane, so a literal of it is no int32.
template <Intrinsic kCallee>
Result<Value> tvm_shuffle(Context& in, Args& a) {
  const ir::Type i32 = ir::Type::of(DType::Int32);
  const ir::ExprId args[] = {
      WW_TRY(expression_as(in, a[0], ir::Type::of(DType::Uint32), a.spans[0])),
      WW_TRY(expression(in, a[1], a.spans[1])), WW_TRY(expression_as(in, a[2], i32, a.spans[2])),
      WW_TRY(segment_width(in, a[3], a.spans[3])),
      WW_TRY(expression_as(in, a[4], i32, a.spans[4]))};
  return of_expr(WW_TRY(ir::call(in.fn(), kCallee, args, a.call)));
}

template <Intrinsic kCallee>
Result<Value> vote(Context& in, Args& a) {
  const ir::ExprId value = WW_TRY(expression(in, a[1], a.spans[1]));
  const ir::ExprId args[] = {
      WW_TRY(expression_as(in, a[0], ir::Type::of(DType::Uint32), a.spans[0])),
      WW_TRY(ir::condition(in.fn(), value, a.spans[1]))};
  return of_expr(WW_TRY(ir::call(in.fn(), kCallee, args, a.call)));
}

// The value takes the type of what the pointer points to.
template <Intrinsic kCallee, int kValues>
Result<Value> atomic(Context& in, Args& a) {
  const ir::ExprId pointer = WW_TRY(expression(in, a[0], a.spans[0]));
  const ir::Type to = in.fn()[pointer].type;
  if (!to.is_pointer() || to.opaque)
    return fail_at(a.spans[0], DiagKind::BadType, "`{}` of `{}`, expected a pointer to elements",
                   a.row->name, ir::to_text(to));
  constexpr bool kIsBits = kCallee == Intrinsic::AtomicAnd || kCallee == Intrinsic::AtomicOr ||
                           kCallee == Intrinsic::AtomicXor;
  if (kIsBits && num::kind_of(to.dtype) == num::DTypeKind::Float)
    return fail_at(a.spans[0], DiagKind::BadType, "`{}` of `{}`, expected a pointer to integers",
                   a.row->name, ir::to_text(to));
  std::vector<ir::ExprId> args = {pointer};
  for (std::size_t i = 1; i <= kValues; ++i)
    args.push_back(WW_TRY(expression_as(in, a[i], ir::Type::of(to.dtype), a.spans[i])));
  return of_expr(WW_TRY(ir::call(in.fn(), kCallee, args, a.call)));
}

Result<Value> cta_sum(Context& in, Args& a) {
  const ir::ExprId args[] = {
      WW_TRY(used_here(in, a[0], a.spans[0])), ir::text_imm(in.fn(), "sum", a.call),
      WW_TRY(used_here(in, a[1], a.spans[1])), WW_TRY(used_here(in, a[2], a.spans[2]))};
  return of_expr(WW_TRY(ir::call(in.fn(), Intrinsic::CtaReduce, args, a.call)));
}

Result<Value> warp_reduce(Context& in, Args& a) {
  const Value width = a.has(2) ? a[2] : of_int(32);
  const ir::ExprId args[] = {
      WW_TRY(expression(in, a[0], a.spans[0])),
      a.has(1) ? WW_TRY(used_here(in, a[1], a.spans[1])) : ir::text_imm(in.fn(), "sum", a.call),
      WW_TRY(used_here(in, width, a.has(2) ? a.spans[2] : a.call))};
  return of_expr(WW_TRY(ir::call(in.fn(), Intrinsic::WarpReduce, args, a.call)));
}

Result<Value> storage_sync(Context& in, Args& a) {
  const std::string scope = WW_TRY(as_text(in, a[0], "the scope", a.spans[0]));
  if (scope != "shared" && scope != "shared.dyn" && scope != "warp")
    return fail_at(a.spans[0], DiagKind::BadArgument,
                   "`T.tvm_storage_sync` of \"{}\", expected shared, shared.dyn or warp", scope);
  const ir::ExprId text = ir::text_imm(in.fn(), scope, a.spans[0]);
  return of_expr(WW_TRY(ir::call(in.fn(), Intrinsic::StorageSync, std::span(&text, 1), a.call)));
}

// __syncthreads_count and its like: a barrier of the CTA that counts where a condition holds.
enum class Votes : std::uint8_t { Count, All, Any };
template <Votes kVotes>
Result<Value> sync_votes(Context& in, Args& a) {
  Value condition = a[0];
  if (kVotes == Votes::All) condition = WW_TRY(unary(in, Op::Not, condition, a.spans[0]));
  const ir::ExprId count = WW_TRY(alloc_register(in, DType::Int32, a.call));
  ir::PtxCall call{.opcode = isa::opcode_of("barrier.cta.red.popc.aligned.u32")};
  call.operands.resize(3);
  call.operands[0].expr = count;
  call.operands[1].expr = ir::int_imm(in.fn(), DType::Uint32, 0, a.call);
  call.operands[2].kind = ir::PtxOperandKind::Predicate;
  call.operands[2].expr = WW_TRY(condition_of(in, condition, a.spans[0]));
  emit_ptx(in, std::move(call), a.call);
  if (kVotes == Votes::Count) return of_expr(count);
  const Value holds = WW_TRY(
      compare(in, kVotes == Votes::All ? Op::Eq : Op::Ne, of_expr(count), of_int(0), a.call));
  return of_expr(WW_TRY(cast_as(in, holds, ir::Type::of(DType::Int32), a.call)));
}

Result<Value> active_mask(Context& in, Args& a) {
  return of_expr(WW_TRY(ir::call(in.fn(), Intrinsic::ActiveMask, {}, a.call)));
}

// func_call(name, *args, source_code=, return_type=): the text of a function, and a call of it. The
// text may stand last among the arguments, too, and the type be called `ty`.
Result<Value> func_call(Context& in, Args& a) {
  const std::string name = WW_TRY(as_text(in, a[0], "the name", a.spans[0]));
  std::string source;
  ir::Type type = ir::Type::none();
  const bool is_named = std::any_of(a.extra.begin(), a.extra.end(),
                                    [](const auto& named) { return named.name == "source_code"; });
  if (!is_named && !a.rest.empty() && a.rest.back().is(Kind::Str)) {
    source = text_of(a.rest.back());
    a.rest.pop_back();
  }
  for (const CallArgs::Named& named : a.extra) {
    if (named.name == "source_code")
      source = WW_TRY(as_text(in, named.value, "`source_code`", named.span));
    else if (named.name == "return_type" || named.name == "ty") {
      const bool is_void = named.value.is(Kind::Str) && text_of(named.value) == "void";
      if (!is_void)
        type = WW_TRY(as_type(in, named.value, fmt::format("`{}`", named.name), named.span));
    } else {
      return fail(no_parameter("T.cuda.func_call", named));
    }
  }
  if (name == "tvm_builtin_pointer_offset" && a.rest.size() == 2) {
    const ir::ExprId args[] = {WW_TRY(expression(in, a.rest[0], a.rest_spans[0])),
                               WW_TRY(index_expr(in, a.rest[1], a.rest_spans[1]))};
    return of_expr(WW_TRY(ir::call(in.fn(), Intrinsic::PointerOffset, args, a.call)));
  }
  std::vector<ir::ExprId> args = {ir::text_imm(in.fn(), name, a.call),
                                  ir::text_imm(in.fn(), source, a.call)};
  for (std::size_t i = 0; i < a.rest.size(); ++i)
    args.push_back(WW_TRY(expression(in, a.rest[i], a.rest_spans[i])));
  return of_expr(WW_TRY(ir::call(in.fn(), Intrinsic::FuncCall, args, a.call, type)));
}

Result<Value> tmem_addr(Context& in, Args& a) {
  const ir::Type u32 = ir::Type::of(DType::Uint32);
  const ir::Type i32 = ir::Type::of(DType::Int32);
  const ir::ExprId args[] = {WW_TRY(expression_as(in, a[0], u32, a.spans[0])),
                             WW_TRY(expression_as(in, a[1], i32, a.spans[1])),
                             WW_TRY(expression_as(in, a[2], i32, a.spans[2]))};
  return of_expr(WW_TRY(ir::call(in.fn(), Intrinsic::TmemAddr, args, a.call)));
}

// make_float2(x, y) and its like: a vector of the arguments.
template <DType kDtype, std::size_t kLanes>
Result<Value> make_vector(Context& in, Args& a) {
  ir::Expr e;
  e.op = ir::ExprOp::Shuffle;
  e.span = a.call;
  e.type = ir::Type::of(kDtype, kLanes);
  for (std::size_t i = 0; i < kLanes; ++i)
    e.args.push_back(WW_TRY(expression_as(in, a[i], ir::Type::of(kDtype), a.spans[i])));
  e.integer = kLanes;
  for (std::size_t i = 0; i < kLanes; ++i)
    e.args.push_back(ir::int_imm(in.fn(), DType::Int32, static_cast<std::int64_t>(i), a.call));
  return of_expr(in.fn().add(std::move(e)));
}

constexpr std::string_view kShuffle = "mask, value, lane, width?";
constexpr std::string_view kTvmShuffle = "mask, value, lane, width, warp_size";

constexpr BuiltinRow kRows[] = {
    {"T.cuda.copy_128b", "dst, src", copy_bytes<16>, true},
    {"T.cuda.copy_64b", "dst, src", copy_bytes<8>, true},
    {"T.cuda.copy_32b", "dst, src", copy_bytes<4>, true},
    {"T.cuda.copy_16b", "dst, src", copy_bytes<2>, true},
    {"T.cuda.copy_8b", "dst, src", copy_bytes<1>, true},
    {"T.cuda.shfl_sync", kShuffle, shuffle<Intrinsic::Shfl>, true},
    {"T.cuda.shfl_up_sync", kShuffle, shuffle<Intrinsic::ShflUp>, true},
    {"T.cuda.shfl_down_sync", kShuffle, shuffle<Intrinsic::ShflDown>, true},
    {"T.cuda.shfl_xor_sync", kShuffle, shuffle<Intrinsic::ShflXor>, true},
    {"T.tvm_warp_shuffle", kTvmShuffle, tvm_shuffle<Intrinsic::Shfl>, true},
    {"T.tvm_warp_shuffle_up", kTvmShuffle, tvm_shuffle<Intrinsic::ShflUp>, true},
    {"T.tvm_warp_shuffle_down", kTvmShuffle, tvm_shuffle<Intrinsic::ShflDown>, true},
    {"T.tvm_warp_shuffle_xor", kTvmShuffle, tvm_shuffle<Intrinsic::ShflXor>, true},
    {"T.gpu_warp_shuffle", kTvmShuffle, tvm_shuffle<Intrinsic::Shfl>, true},
    {"T.gpu_warp_shuffle_up", kTvmShuffle, tvm_shuffle<Intrinsic::ShflUp>, true},
    {"T.gpu_warp_shuffle_down", kTvmShuffle, tvm_shuffle<Intrinsic::ShflDown>, true},
    {"T.gpu_warp_shuffle_xor", kTvmShuffle, tvm_shuffle<Intrinsic::ShflXor>, true},
    {"T.cuda.__shfl_sync", kShuffle, shuffle<Intrinsic::Shfl>, true},
    {"T.cuda.__shfl_up_sync", kShuffle, shuffle<Intrinsic::ShflUp>, true},
    {"T.cuda.__shfl_down_sync", kShuffle, shuffle<Intrinsic::ShflDown>, true},
    {"T.cuda.__shfl_xor_sync", kShuffle, shuffle<Intrinsic::ShflXor>, true},
    {"T.cuda.syncthreads_count", "condition", sync_votes<Votes::Count>, true},
    {"T.cuda.syncthreads_and", "condition", sync_votes<Votes::All>, true},
    {"T.cuda.syncthreads_or", "condition", sync_votes<Votes::Any>, true},
    {"T.gpu_warp_activemask", "", active_mask, true},
    {"T.cuda.__activemask", "", active_mask, true},
    {"T.cuda.ballot_sync", "mask, predicate", vote<Intrinsic::Ballot>, true},
    {"T.cuda.any_sync", "mask, predicate", vote<Intrinsic::AnySync>, true},
    {"T.cuda.all_sync", "mask, predicate", vote<Intrinsic::AllSync>, true},
    {"T.cuda.atomic_add", "pointer, value", atomic<Intrinsic::AtomicAdd, 1>, true},
    {"T.cuda.atomic_min", "pointer, value", atomic<Intrinsic::AtomicMin, 1>, true},
    {"T.cuda.atomic_max", "pointer, value", atomic<Intrinsic::AtomicMax, 1>, true},
    {"T.cuda.atomic_and", "pointer, value", atomic<Intrinsic::AtomicAnd, 1>, true},
    {"T.cuda.atomic_or", "pointer, value", atomic<Intrinsic::AtomicOr, 1>, true},
    {"T.cuda.atomic_xor", "pointer, value", atomic<Intrinsic::AtomicXor, 1>, true},
    {"T.cuda.atomic_exch", "pointer, value", atomic<Intrinsic::AtomicExch, 1>, true},
    {"T.cuda.atomic_cas", "pointer, compare, value", atomic<Intrinsic::AtomicCas, 2>, true},
    {"T.cuda.cta_sum", "value, num_warps, scratch", cta_sum, true},
    {"T.cuda.warp_reduce", "value, op?, width?", warp_reduce, true},
    {"T.cuda.get_tmem_addr", "base, row, col", tmem_addr, true},
    {"T.cuda.func_call", "name, *args, **options", func_call, true},
    {"T.tvm_storage_sync", "scope", storage_sync, true},
    {"T.gpu_storage_sync", "scope", storage_sync, true},
    {"T.cuda.make_float2", "x, y", make_vector<DType::Float32, 2>, true},
    {"T.cuda.make_float4", "x, y, z, w", make_vector<DType::Float32, 4>, true},
    {"T.cuda.make_int2", "x, y", make_vector<DType::Int32, 2>, true},
    {"T.cuda.make_int4", "x, y, z, w", make_vector<DType::Int32, 4>, true},
    {"T.cuda.make_uint2", "x, y", make_vector<DType::Uint32, 2>, true},
    {"T.cuda.make_uint4", "x, y, z, w", make_vector<DType::Uint32, 4>, true},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::cuda_api
