// SPDX-License-Identifier: Apache-2.0
// Functions of CUDA and of TVM that are made of others: conversions of bits and of packed pairs,
// reductions by other names, loads and conversions through pointers. Nothing of them is left behind
// the front end, so that every engine knows them.
//
// TVM packs two float32 into a uint64 and two 16-bit numbers into a uint32, the first one low.
#include <fmt/format.h>

#include <array>

#include "script/api/builtins.h"
#include "script/api/params.h"
#include "script/api/ptx_functions.h"
#include "script/interp/conversions.h"
#include "script/interp/implicit.h"
#include "script/syntax/errors.h"

namespace ww::script::cuda_values_api {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::Intrinsic;
using num::DType;

ir::Type type(DType dtype) { return ir::Type::of(dtype); }

// Expressions of one call, at its place.
class Maker {
 public:
  Maker(Context& in, Span span) : in_(in), span_(span) {}

  Result<ExprId> bits(ExprId value, DType to) {
    return ir::reinterpret(in_.fn(), value, type(to), span_);
  }
  Result<ExprId> cast(ExprId value, DType to) { return ir::cast(in_.fn(), value, type(to), span_); }
  Result<ExprId> binary(ExprOp op, ExprId a, ExprId b) {
    return ir::binary(in_.fn(), op, {a, false}, {b, false}, span_);
  }
  ExprId constant(DType dtype, std::int64_t value) {
    return ir::int_imm(in_.fn(), dtype, value, span_);
  }
  // The upper half of a word, as a word of half its width, or the lower one.
  Result<ExprId> half(ExprId word, DType wide, DType narrow, bool upper) {
    if (!upper) return cast(word, narrow);
    const ExprId by = constant(wide, num::bits_of(narrow));
    return cast(WW_TRY(binary(ExprOp::Shr, word, by)), narrow);
  }
  Result<ExprId> join(ExprId low, ExprId high, DType wide, int width) {
    const ExprId shifted =
        WW_TRY(binary(ExprOp::Shl, WW_TRY(cast(high, wide)), constant(wide, width)));
    return binary(ExprOp::BitOr, WW_TRY(cast(low, wide)), shifted);
  }

 private:
  Context& in_;
  Span span_;
};

// A pair of float32: a uint64, or a vector of two.
Result<ExprId> packed_floats(Context& in, const Args& a, std::size_t i) {
  const ExprId value = WW_TRY(expression(in, a[i], a.spans[i]));
  if (in.fn()[value].type == ir::Type::of(DType::Float32, 2))
    return Maker(in, a.call).bits(value, DType::Uint64);
  return expression_as(in, a[i], type(DType::Uint64), a.spans[i]);
}

Result<ExprId> float_of_pair(Context& in, const Args& a, ExprId pair, bool upper) {
  Maker make(in, a.call);
  return make.bits(WW_TRY(make.half(pair, DType::Uint64, DType::Uint32, upper)), DType::Float32);
}
Result<ExprId> pair_of_floats(Context& in, const Args& a, ExprId low, ExprId high) {
  Maker make(in, a.call);
  return make.join(WW_TRY(make.bits(low, DType::Uint32)), WW_TRY(make.bits(high, DType::Uint32)),
                   DType::Uint64, 32);
}

// --- one number ----------------------------------------------------------------------------------

// half2float(x): x is a float16, or its bits.
template <DType kFrom>
Result<Value> to_float(Context& in, Args& a) {
  Maker make(in, a.call);
  const ExprId given = WW_TRY(expression(in, a[0], a.spans[0]));
  const bool is_bits = in.fn()[given].type == type(DType::Uint16);
  const ExprId value = is_bits ? WW_TRY(make.bits(given, kFrom))
                               : WW_TRY(expression_as(in, a[0], type(kFrom), a.spans[0]));
  return of_expr(WW_TRY(make.cast(value, DType::Float32)));
}

template <DType kFrom, DType kTo>
Result<Value> bits_as(Context& in, Args& a) {
  return of_expr(WW_TRY(
      Maker(in, a.call).bits(WW_TRY(expression_as(in, a[0], type(kFrom), a.spans[0])), kTo)));
}

Result<Value> fdividef(Context& in, Args& a) {
  const ExprId x = WW_TRY(expression_as(in, a[0], type(DType::Float32), a.spans[0]));
  const ExprId y = WW_TRY(expression_as(in, a[1], type(DType::Float32), a.spans[1]));
  return of_expr(WW_TRY(Maker(in, a.call).binary(ExprOp::Div, x, y)));
}

// The place of the lowest bit, counted from 1: 32 - clz of that bit alone; 0 has none, and clz 32.
Result<Value> ffs(Context& in, Args& a) {
  Maker make(in, a.call);
  const ExprId x = WW_TRY(expression_as(in, a[0], type(DType::Uint32), a.spans[0]));
  const ExprId negative = WW_TRY(make.binary(ExprOp::Sub, make.constant(DType::Uint32, 0), x));
  const ExprId lowest = WW_TRY(make.binary(ExprOp::BitAnd, x, negative));
  const ExprId zeros = WW_TRY(ir::call(in.fn(), Intrinsic::Clz, std::span(&lowest, 1), a.call));
  return of_expr(WW_TRY(make.binary(ExprOp::Sub, make.constant(DType::Int32, 32),
                                    WW_TRY(make.cast(zeros, DType::Int32)))));
}

Result<Value> low_word(Context& in, Args& a) {
  const ExprId address = WW_TRY(expression_as(in, a[0], type(DType::Uint64), a.spans[0]));
  return of_expr(WW_TRY(Maker(in, a.call).cast(address, DType::Uint32)));
}

// --- pairs ---------------------------------------------------------------------------------------

template <bool kUpper>
Result<Value> float2_part(Context& in, Args& a) {
  return of_expr(WW_TRY(float_of_pair(in, a, WW_TRY(packed_floats(in, a, 0)), kUpper)));
}

template <ExprOp kOp>
Result<Value> float2_op(Context& in, Args& a) {
  Maker make(in, a.call);
  const ExprId left = WW_TRY(packed_floats(in, a, 0));
  const ExprId right = WW_TRY(packed_floats(in, a, 1));
  std::array<ExprId, 2> out;
  for (const bool upper : {false, true})
    out[upper ? 1 : 0] = WW_TRY(make.binary(kOp, WW_TRY(float_of_pair(in, a, left, upper)),
                                            WW_TRY(float_of_pair(in, a, right, upper))));
  return of_expr(WW_TRY(pair_of_floats(in, a, out[0], out[1])));
}

Result<ExprId> bfloat_bits(Context& in, const Args& a, ExprId value) {
  Maker make(in, a.call);
  return make.bits(WW_TRY(make.cast(value, DType::Bfloat16)), DType::Uint16);
}
Result<Value> bfloat_pair(Context& in, const Args& a, ExprId low, ExprId high) {
  return of_expr(WW_TRY(Maker(in, a.call)
                            .join(WW_TRY(bfloat_bits(in, a, low)), WW_TRY(bfloat_bits(in, a, high)),
                                  DType::Uint32, 16)));
}
Result<Value> floats_to_bfloat2(Context& in, Args& a) {
  const ExprId low = WW_TRY(expression_as(in, a[0], type(DType::Float32), a.spans[0]));
  const ExprId high = WW_TRY(expression_as(in, a[1], type(DType::Float32), a.spans[1]));
  return bfloat_pair(in, a, low, high);
}
Result<Value> float2_to_bfloat2(Context& in, Args& a) {
  const ExprId pair = WW_TRY(packed_floats(in, a, 0));
  return bfloat_pair(in, a, WW_TRY(float_of_pair(in, a, pair, false)),
                     WW_TRY(float_of_pair(in, a, pair, true)));
}

Result<ExprId> bfloat_of_pair(Context& in, const Args& a, ExprId pair, bool upper) {
  Maker make(in, a.call);
  return make.bits(WW_TRY(make.half(pair, DType::Uint32, DType::Uint16, upper)), DType::Bfloat16);
}
Result<Value> bfloat2_to_float2(Context& in, Args& a) {
  Maker make(in, a.call);
  const ExprId pair = WW_TRY(expression_as(in, a[0], type(DType::Uint32), a.spans[0]));
  std::array<ExprId, 2> out;
  for (const bool upper : {false, true})
    out[upper ? 1 : 0] =
        WW_TRY(make.cast(WW_TRY(bfloat_of_pair(in, a, pair, upper)), DType::Float32));
  return of_expr(WW_TRY(pair_of_floats(in, a, out[0], out[1])));
}
template <ExprOp kOp>
Result<Value> bfloat2_op(Context& in, Args& a) {
  Maker make(in, a.call);
  const ExprId left = WW_TRY(expression_as(in, a[0], type(DType::Uint32), a.spans[0]));
  const ExprId right = WW_TRY(expression_as(in, a[1], type(DType::Uint32), a.spans[1]));
  std::array<ExprId, 2> out;
  for (const bool upper : {false, true})
    out[upper ? 1 : 0] =
        WW_TRY(make.bits(WW_TRY(make.binary(kOp, WW_TRY(bfloat_of_pair(in, a, left, upper)),
                                            WW_TRY(bfloat_of_pair(in, a, right, upper)))),
                         DType::Uint16));
  return of_expr(WW_TRY(make.join(out[0], out[1], DType::Uint32, 16)));
}

// --- all threads ---------------------------------------------------------------------------------

enum class Reduce : std::uint8_t { Sum, Max, Min };
constexpr std::string_view text_of(Reduce op) {
  return op == Reduce::Sum ? "sum" : op == Reduce::Max ? "max" : "min";
}

template <Reduce kOp>
Result<Value> warp_reduce(Context& in, Args& a) {
  const Value width = a.has(1) ? a[1] : of_int(32);
  const ExprId args[] = {WW_TRY(expression(in, a[0], a.spans[0])),
                         ir::text_imm(in.fn(), std::string(text_of(kOp)), a.call),
                         WW_TRY(used_here(in, width, a.has(1) ? a.spans[1] : a.call))};
  return of_expr(WW_TRY(ir::call(in.fn(), Intrinsic::WarpReduce, args, a.call)));
}

template <Reduce kOp>
Result<Value> cta_reduce(Context& in, Args& a) {
  const ExprId args[] = {WW_TRY(used_here(in, a[0], a.spans[0])),
                         ir::text_imm(in.fn(), std::string(text_of(kOp)), a.call),
                         WW_TRY(used_here(in, a[1], a.spans[1])),
                         WW_TRY(used_here(in, a[2], a.spans[2]))};
  return of_expr(WW_TRY(ir::call(in.fn(), Intrinsic::CtaReduce, args, a.call)));
}

// reduce_add_sync_u32(mask, value), of the whole warp.
template <Reduce kOp>
Result<Value> reduce_sync(Context& in, Args& a) {
  const ExprId mask = WW_TRY(expression_as(in, a[0], type(DType::Uint32), a.spans[0]));
  const auto lanes = ir::const_int(in.fn(), mask);
  if (!lanes || static_cast<std::uint32_t>(*lanes) != 0xffffffffU)
    return fail(
        diag_at(a.spans[0], DiagKind::BadArgument, "a mask {}, expected 0xffffffff: the whole warp",
                lanes ? fmt::format("of {:#x}", static_cast<std::uint32_t>(*lanes))
                      : "that is not constant")
            .with_note(fmt::format("`T.ptx[\"redux.sync.{}.u32\"](d, a, mask)` takes any mask",
                                   kOp == Reduce::Sum ? "add" : text_of(kOp))));
  const ExprId args[] = {WW_TRY(expression_as(in, a[1], type(DType::Uint32), a.spans[1])),
                         ir::text_imm(in.fn(), std::string(text_of(kOp)), a.call),
                         ir::int_imm(in.fn(), DType::Int32, 32, a.call)};
  return of_expr(WW_TRY(ir::call(in.fn(), Intrinsic::WarpReduce, args, a.call)));
}

// --- statements ----------------------------------------------------------------------------------

Result<Value> trap_unless(Context& in, Args& a) {
  ir::Stmt out = stmt_node(ir::StmtKind::Assert, a.call);
  out.expr = WW_TRY(condition_of(in, a[0], a.spans[0]));
  emit(in, std::move(out));
  return none();
}

Result<Value> nano_sleep(Context& in, Args& a) {
  ir::PtxCall call{.opcode = isa::opcode_of("nanosleep.u32")};
  call.operands.push_back(
      {.expr = WW_TRY(expression_as(in, a[0], type(DType::Uint32), a.spans[0]))});
  emit_ptx(in, std::move(call), a.call);
  return none();
}

// --- through pointers ----------------------------------------------------------------------------

// The element that a pointer leads to, `count` of them, where it is an address in a buffer.
struct Elements {
  ir::BufferId buffer;
  std::vector<ExprId> indices;
};
Result<Elements> elements_at(Context& in, const Value& pointer, DType dtype, const Args& a,
                             Span span) {
  const ExprId id = WW_TRY(expression(in, pointer, span));
  const ir::Expr& e = in.fn()[id];
  const bool is_place = e.op == ExprOp::AddressOf || e.op == ExprOp::BufferData;
  if (!is_place || in.fn()[e.buffer].dtype != dtype)
    return fail(diag_at(span, DiagKind::BadArgument,
                        "`{}` through this pointer, expected the address of `{}` in a buffer",
                        a.row->name, num::name_of(dtype))
                    .with_note("`B.ptr_to([i])`, `T.address_of(B[i])` or `B.data`"));
  Elements out{e.buffer, {}};
  if (e.op == ExprOp::AddressOf)
    out.indices.assign(e.args.begin(), e.args.end());
  else
    out.indices.assign(in.fn()[e.buffer].shape.size(), ir::int_imm(in.fn(), DType::Int32, 0, span));
  return out;
}

Result<ExprId> element(Context& in, const Elements& first, std::int64_t i, Span span) {
  std::vector<ExprId> indices = first.indices;
  if (i != 0)
    indices.back() = WW_TRY(ir::binary(in.fn(), ExprOp::Add, {indices.back(), false},
                                       {ir::int_imm(in.fn(), DType::Int32, i, span), true}, span));
  return ir::load(in.fn(), first.buffer, indices, 1, span);
}

Result<void> store(Context& in, const Elements& first, std::int64_t i, ExprId value, Span span) {
  const ExprId place = WW_TRY(element(in, first, i, span));
  ir::Stmt out = stmt_node(ir::StmtKind::Store, span);
  out.buffer = first.buffer;
  out.args = in.fn()[place].args;
  out.expr = WW_TRY(ir::cast(in.fn(), value, type(in.fn()[first.buffer].dtype), span));
  emit(in, std::move(out));
  return {};
}

// half8tofloat8(src, dst), float22half2(dst, src): so many numbers of one type as those of another.
template <DType kFrom, DType kTo, std::int64_t kCount, std::size_t kSrc>
Result<Value> convert_at(Context& in, Args& a) {
  const Elements src = WW_TRY(elements_at(in, a[kSrc], kFrom, a, a.spans[kSrc]));
  const Elements dst = WW_TRY(elements_at(in, a[1 - kSrc], kTo, a, a.spans[1 - kSrc]));
  for (std::int64_t i = 0; i < kCount; ++i)
    WW_TRY_VOID(store(in, dst, i, WW_TRY(element(in, src, i, a.call)), a.call));
  return none();
}

// ldg(pointer), ldg(pointer, dtype), ldg(pointer, dtype, dst=(p, q), vec="v2")
Result<Value> ldg(Context& in, Args& a) {
  ExprId pointer = WW_TRY(expression(in, a[0], a.spans[0]));
  const auto load = [&](std::int64_t i) -> Result<ExprId> {
    ExprId at = pointer;
    if (i != 0) {
      const ExprId args[] = {pointer, ir::int_imm(in.fn(), DType::Int32, i, a.call)};
      at = WW_TRY(ir::call(in.fn(), Intrinsic::PointerOffset, args, a.call));
    }
    return ir::call(in.fn(), Intrinsic::Ldg, std::span(&at, 1), a.call);
  };
  if (a.has(1)) {
    const ir::Type wanted = WW_TRY(as_type(in, a[1], "the type", a.spans[1]));
    const ExprId args[] = {pointer, ir::int_imm(in.fn(), DType::Int32, 0, a.call)};
    if (in.fn()[pointer].type != ir::Type::pointer(wanted.dtype))
      pointer = WW_TRY(
          ir::call(in.fn(), Intrinsic::ByteOffset, args, a.call, ir::Type::pointer(wanted.dtype)));
  }
  if (!a.has(2)) return of_expr(WW_TRY(load(0)));
  const std::string vec = a.has(3) ? WW_TRY(as_text(in, a[3], "`vec`", a.spans[3])) : "";
  const std::vector<Value> places = WW_TRY(as_sequence(in, a[2], "`dst`", a.spans[2]));
  const std::size_t lanes = vec == "v2" ? 2 : vec == "v4" ? 4 : 0;
  if (lanes == 0 || places.size() != lanes)
    return fail_at(a.call, DiagKind::BadArgument,
                   "`vec` is \"{}\" and `dst` has {} pointers, expected \"v2\" and 2 or \"v4\" "
                   "and 4",
                   vec, places.size());
  const DType dtype = in.fn()[WW_TRY(load(0))].type.dtype;
  for (std::size_t i = 0; i < lanes; ++i) {
    const Elements dst = WW_TRY(elements_at(in, places[i], dtype, a, a.spans[2]));
    WW_TRY_VOID(store(in, dst, 0, WW_TRY(load(static_cast<std::int64_t>(i))), a.call));
  }
  return none();
}

constexpr BuiltinRow kRows[] = {
    {"T.cuda.half2float", "x", to_float<DType::Float16>, true},
    {"T.cuda.bfloat162float", "x", to_float<DType::Bfloat16>, true},
    {"T.cuda.uint_as_float", "bits", bits_as<DType::Uint32, DType::Float32>, true},
    {"T.cuda.float_as_uint", "x", bits_as<DType::Float32, DType::Uint32>, true},
    {"T.cuda.fdividef", "x, y", fdividef, true},
    {"T.cuda.ffs_u32", "value", ffs, true},
    {"T.cuda.smem_addr_from_uint64", "address", low_word, true},
    {"T.cuda.float2_x", "pair", float2_part<false>, true},
    {"T.cuda.float2_y", "pair", float2_part<true>, true},
    {"T.cuda.fadd2_rn", "a, b", float2_op<ExprOp::Add>, true},
    {"T.cuda.fmul2_rn", "a, b", float2_op<ExprOp::Mul>, true},
    {"T.cuda.float22bfloat162_rn", "x, y", floats_to_bfloat2, true},
    {"T.cuda.float22bfloat162_rn_from_float2", "pair", float2_to_bfloat2, true},
    {"T.cuda.bfloat1622float2", "pair", bfloat2_to_float2, true},
    {"T.cuda.hmin2", "a, b", bfloat2_op<ExprOp::Min>, true},
    {"T.cuda.hmax2", "a, b", bfloat2_op<ExprOp::Max>, true},
    {"T.cuda.warp_sum", "value, width?", warp_reduce<Reduce::Sum>, true},
    {"T.cuda.warp_max", "value, width?", warp_reduce<Reduce::Max>, true},
    {"T.cuda.warp_min", "value, width?", warp_reduce<Reduce::Min>, true},
    {"T.cuda.cta_max", "value, num_warps, scratch", cta_reduce<Reduce::Max>, true},
    {"T.cuda.cta_min", "value, num_warps, scratch", cta_reduce<Reduce::Min>, true},
    {"T.cuda.reduce_add_sync_u32", "mask, value", reduce_sync<Reduce::Sum>, true},
    {"T.cuda.reduce_min_sync_u32", "mask, value", reduce_sync<Reduce::Min>, true},
    {"T.cuda.reduce_max_sync_u32", "mask, value", reduce_sync<Reduce::Max>, true},
    {"T.cuda.trap_when_assert_failed", "condition", trap_unless, true},
    {"T.cuda.nano_sleep", "time", nano_sleep, true},
    {"T.cuda.half8tofloat8", "src, dst", convert_at<DType::Float16, DType::Float32, 8, 0>, true},
    {"T.cuda.float8tohalf8", "src, dst", convert_at<DType::Float32, DType::Float16, 8, 0>, true},
    {"T.cuda.float22half2", "dst, src", convert_at<DType::Float32, DType::Float16, 2, 1>, true},
    {"T.cuda.ldg", "pointer, dtype?, dst?, vec?", ldg, true},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::cuda_values_api
