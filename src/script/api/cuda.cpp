// SPDX-License-Identifier: Apache-2.0
// Functions of ir/intrinsics.def that are called by other names or with other arguments than they
// have (intrinsic_rows has all others), and functions of CUDA and of TVM that are made of others.
#include <fmt/format.h>

#include <array>

#include "base/fail_at.h"
#include "ir/signatures.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script::cuda_api {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::Intrinsic;
using num::DType;

template <std::int64_t kBytes>
Result<Value> copy_bytes(Context& in, Args& a) {
  const ir::ExprId args[] = {WW_TRY(expression(in, a[0])), WW_TRY(expression(in, a[1])),
                             ir::int_imm(in.fn(), DType::Int32, kBytes, a.call)};
  return of_expr(ir::call(in.fn(), Intrinsic::CopyBytes, args, a.call));
}

// The lanes of a segment, where their number is known.
Result<ir::ExprId> segment_width(Context& in, const Given& value) {
  const ir::ExprId width = WW_TRY(expression_as(in, value, ir::Type::of(DType::Int32)));
  const auto lanes = ir::const_int(in.fn(), width);
  if (!lanes || (*lanes >= 1 && *lanes <= 32 && (*lanes & (*lanes - 1)) == 0)) return width;
  return fail_at(value.span, DiagKind::BadArgument,
                 "a width of {} lanes, expected 1, 2, 4, 8, 16 or 32", *lanes);
}

// CUDA's own names: __shfl_xor_sync(mask, value, lane, width).
template <Intrinsic kCallee>
Result<Value> shuffle(Context& in, Args& a) {
  const ir::Type u32 = ir::Type::of(DType::Uint32);
  const ir::Type i32 = ir::Type::of(DType::Int32);
  const ir::ExprId args[] = {WW_TRY(expression_as(in, a[0], u32)), WW_TRY(expression(in, a[1])),
                             WW_TRY(expression_as(in, a[2], i32)),
                             WW_TRY(segment_width(in, a.get(3, of_int(32)))),
                             ir::int_imm(in.fn(), DType::Int32, 32, a.call)};
  return of_expr(ir::call(in.fn(), kCallee, args, a.call));
}

// The mask is a bit per lane, so a literal of it is no int32.
template <Intrinsic kCallee>
Result<Value> tvm_shuffle(Context& in, Args& a) {
  const ir::Type i32 = ir::Type::of(DType::Int32);
  const ir::ExprId args[] = {WW_TRY(expression_as(in, a[0], ir::Type::of(DType::Uint32))),
                             WW_TRY(expression(in, a[1])), WW_TRY(expression_as(in, a[2], i32)),
                             WW_TRY(segment_width(in, a[3])), WW_TRY(expression_as(in, a[4], i32))};
  return of_expr(ir::call(in.fn(), kCallee, args, a.call));
}

template <Intrinsic kCallee>
Result<Value> vote(Context& in, Args& a) {
  const ir::ExprId value = WW_TRY(expression(in, a[1]));
  const ir::ExprId args[] = {WW_TRY(expression_as(in, a[0], ir::Type::of(DType::Uint32))),
                             WW_TRY(ir::condition(in.fn(), value, a.span(1)))};
  return of_expr(ir::call(in.fn(), kCallee, args, a.call));
}

// The value takes the type of what the pointer points to.
template <Intrinsic kCallee, int kValues>
Result<Value> atomic(Context& in, Args& a) {
  const ir::ExprId pointer = WW_TRY(expression(in, a[0]));
  const ir::Type to = in.fn()[pointer].type;
  if (!to.is_pointer() || to.opaque)
    return fail_at(a.span(0), DiagKind::BadType, "`{}` of `{}`, expected a pointer to elements",
                   a.row->name, ir::to_text(to));
  constexpr bool kIsBits = kCallee == Intrinsic::AtomicAnd || kCallee == Intrinsic::AtomicOr ||
                           kCallee == Intrinsic::AtomicXor;
  if (kIsBits && num::kind_of(to.dtype) == num::DTypeKind::Float)
    return fail_at(a.span(0), DiagKind::BadType, "`{}` of `{}`, expected a pointer to integers",
                   a.row->name, ir::to_text(to));
  std::vector<ir::ExprId> args = {pointer};
  for (std::size_t i = 1; i <= kValues; ++i)
    args.push_back(WW_TRY(expression_as(in, a[i], ir::Type::of(to.dtype))));
  return of_expr(ir::call(in.fn(), kCallee, args, a.call));
}

Result<Value> warp_reduce(Context& in, Args& a) {
  const ir::ExprId args[] = {
      WW_TRY(expression(in, a[0])),
      a.has(1) ? WW_TRY(used_here(in, a[1])) : ir::text_imm(in.fn(), "sum", a.call),
      WW_TRY(used_here(in, a.get(2, of_int(32))))};
  return of_expr(ir::call(in.fn(), Intrinsic::WarpReduce, args, a.call));
}

Result<Value> storage_sync(Context& in, Args& a) {
  const std::string scope = WW_TRY(as_text(in, a[0], "the scope"));
  if (scope != "shared" && scope != "shared.dyn" && scope != "warp")
    return fail_at(a.span(0), DiagKind::BadArgument,
                   "`T.tvm_storage_sync` of \"{}\", expected shared, shared.dyn or warp", scope);
  const ir::ExprId text = ir::text_imm(in.fn(), scope, a.span(0));
  return of_expr(ir::call(in.fn(), Intrinsic::StorageSync, std::span(&text, 1), a.call));
}

// __syncthreads_count and its like: a barrier of the CTA that counts where a condition holds.
enum class Votes : std::uint8_t { Count, All, Any };
template <Votes kVotes>
Result<Value> sync_votes(Context& in, Args& a) {
  Value condition = a[0];
  if (kVotes == Votes::All) condition = WW_TRY(unary(in, Op::Not, condition, a.span(0)));
  const ir::ExprId count = WW_TRY(alloc_register(in, DType::Int32, a.call));
  ir::PtxCall call{.opcode = isa::opcode_of("barrier.cta.red.popc.aligned.u32")};
  call.operands.resize(3);
  call.operands[0].expr = count;
  call.operands[1].expr = ir::int_imm(in.fn(), DType::Uint32, 0, a.call);
  call.operands[2].kind = ir::PtxOperandKind::Predicate;
  call.operands[2].expr = WW_TRY(condition_of(in, {condition, a.span(0)}));
  emit_ptx(in, std::move(call), a.call);
  if (kVotes == Votes::Count) return of_expr(count);
  const Value holds = WW_TRY(
      compare(in, kVotes == Votes::All ? Op::Eq : Op::Ne, of_expr(count), of_int(0), a.call));
  return of_expr(cast_as(in, {holds, a.call}, ir::Type::of(DType::Int32)));
}

Result<Value> active_mask(Context& in, Args& a) {
  return of_expr(ir::call(in.fn(), Intrinsic::ActiveMask, {}, a.call));
}

// func_call(name, *args, source_code=, return_type=): the text of a function, and a call of it. The
// text may stand last among the arguments, too, and the type be called `ty`.
Result<Value> func_call(Context& in, Args& a) {
  const std::string name = WW_TRY(as_text(in, a[0], "the name"));
  std::string source;
  ir::Type type = ir::Type::none();
  const bool is_named =
      std::ranges::any_of(a.extra, [](const auto& named) { return named.name == "source_code"; });
  if (!is_named && !a.rest.empty() && a.rest.back().is(Kind::Str)) {
    source = text_of(a.rest.back());
    a.rest.pop_back();
  }
  for (const CallArgs::Named& named : a.extra) {
    if (named.name == "source_code")
      source = WW_TRY(as_text(in, named, "`source_code`"));
    else if (named.name == "return_type" || named.name == "ty") {
      const bool is_void = named.is(Kind::Str) && text_of(named) == "void";
      if (!is_void) type = WW_TRY(as_type(in, named, fmt::format("`{}`", named.name)));
    } else {
      return fail(no_parameter("T.cuda.func_call", named));
    }
  }
  if (name == "tvm_builtin_pointer_offset" && a.rest.size() == 2) {
    const ir::ExprId args[] = {WW_TRY(expression(in, a.rest[0])),
                               WW_TRY(index_expr(in, a.rest[1]))};
    return of_expr(ir::call(in.fn(), Intrinsic::PointerOffset, args, a.call));
  }
  std::vector<ir::ExprId> args = {ir::text_imm(in.fn(), name, a.call),
                                  ir::text_imm(in.fn(), source, a.call)};
  for (std::size_t i = 0; i < a.rest.size(); ++i) args.push_back(WW_TRY(expression(in, a.rest[i])));
  return of_expr(ir::call(in.fn(), Intrinsic::FuncCall, args, a.call, type));
}

Result<Value> tmem_addr(Context& in, Args& a) {
  const ir::Type u32 = ir::Type::of(DType::Uint32);
  const ir::Type i32 = ir::Type::of(DType::Int32);
  const ir::ExprId args[] = {WW_TRY(expression_as(in, a[0], u32)),
                             WW_TRY(expression_as(in, a[1], i32)),
                             WW_TRY(expression_as(in, a[2], i32))};
  return of_expr(ir::call(in.fn(), Intrinsic::TmemAddr, args, a.call));
}

// make_float2(x, y) and its like: a vector of the arguments.
template <DType kDtype, std::size_t kLanes>
Result<Value> make_vector(Context& in, Args& a) {
  ir::Expr e;
  e.op = ir::ExprOp::Shuffle;
  e.span = a.call;
  e.type = ir::Type::of(kDtype, kLanes);
  for (std::size_t i = 0; i < kLanes; ++i)
    e.args.push_back(WW_TRY(expression_as(in, a[i], ir::Type::of(kDtype))));
  e.integer = kLanes;
  for (std::size_t i = 0; i < kLanes; ++i)
    e.args.push_back(ir::int_imm(in.fn(), DType::Int32, static_cast<std::int64_t>(i), a.call));
  return of_expr(in.fn().add(std::move(e)));
}

// --- made of others ------------------------------------------------------------------------------
//
// Conversions of bits and of packed pairs, reductions by other names, loads and conversions through
// pointers. Nothing of them is left behind the front end, so that every engine knows them. TVM
// packs two float32 into a uint64 and two 16-bit numbers into a uint32, the first one low.

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

// Two floats in one word, the first one low: an integer of twice their width.
template <DType kWord, DType kHalf, DType kFloat>
struct Packed {
  static constexpr DType kPart = kFloat;

  static Result<ExprId> word(Context& in, const Args& a, std::size_t i) {
    const ExprId value = WW_TRY(expression(in, a[i]));
    if (in.fn()[value].type == ir::Type::of(kFloat, 2)) return Maker(in, a.call).bits(value, kWord);
    return expression_as(in, a[i], type(kWord));
  }
  static Result<ExprId> part(Context& in, const Args& a, ExprId word, bool upper) {
    Maker make(in, a.call);
    return make.bits(WW_TRY(make.half(word, kWord, kHalf, upper)), kFloat);
  }
  static Result<Value> join(Context& in, const Args& a, ExprId low, ExprId high) {
    Maker make(in, a.call);
    return of_expr(make.join(WW_TRY(make.bits(low, kHalf)), WW_TRY(make.bits(high, kHalf)), kWord,
                             num::bits_of(kHalf)));
  }
};
using Float2 = Packed<DType::Uint64, DType::Uint32, DType::Float32>;
using Bfloat2 = Packed<DType::Uint32, DType::Uint16, DType::Bfloat16>;

// --- one number ----------------------------------------------------------------------------------

// half2float(x): x is a float16, or its bits.
template <DType kFrom>
Result<Value> to_float(Context& in, Args& a) {
  Maker make(in, a.call);
  const ExprId given = WW_TRY(expression(in, a[0]));
  const bool is_bits = in.fn()[given].type == type(DType::Uint16);
  const ExprId value =
      is_bits ? WW_TRY(make.bits(given, kFrom)) : WW_TRY(expression_as(in, a[0], type(kFrom)));
  return of_expr(make.cast(value, DType::Float32));
}

template <DType kFrom, DType kTo>
Result<Value> bits_as(Context& in, Args& a) {
  return of_expr(Maker(in, a.call).bits(WW_TRY(expression_as(in, a[0], type(kFrom))), kTo));
}

Result<Value> fdividef(Context& in, Args& a) {
  const ExprId x = WW_TRY(expression_as(in, a[0], type(DType::Float32)));
  const ExprId y = WW_TRY(expression_as(in, a[1], type(DType::Float32)));
  return of_expr(Maker(in, a.call).binary(ExprOp::Div, x, y));
}

// The place of the lowest bit, counted from 1: 32 - clz of that bit alone; 0 has none, and clz 32.
Result<Value> ffs(Context& in, Args& a) {
  Maker make(in, a.call);
  const ExprId x = WW_TRY(expression_as(in, a[0], type(DType::Uint32)));
  const ExprId negative = WW_TRY(make.binary(ExprOp::Sub, make.constant(DType::Uint32, 0), x));
  const ExprId lowest = WW_TRY(make.binary(ExprOp::BitAnd, x, negative));
  const ExprId zeros = WW_TRY(ir::call(in.fn(), Intrinsic::Clz, std::span(&lowest, 1), a.call));
  return of_expr(make.binary(ExprOp::Sub, make.constant(DType::Int32, 32),
                             WW_TRY(make.cast(zeros, DType::Int32))));
}

Result<Value> low_word(Context& in, Args& a) {
  const ExprId address = WW_TRY(expression_as(in, a[0], type(DType::Uint64)));
  return of_expr(Maker(in, a.call).cast(address, DType::Uint32));
}

// --- pairs ---------------------------------------------------------------------------------------

template <bool kUpper>
Result<Value> float2_part(Context& in, Args& a) {
  return of_expr(Float2::part(in, a, WW_TRY(Float2::word(in, a, 0)), kUpper));
}

template <typename Pair, ExprOp kOp>
Result<Value> pair_op(Context& in, Args& a) {
  Maker make(in, a.call);
  const ExprId left = WW_TRY(Pair::word(in, a, 0));
  const ExprId right = WW_TRY(Pair::word(in, a, 1));
  std::array<ExprId, 2> out;
  for (const bool upper : {false, true})
    out[upper ? 1 : 0] = WW_TRY(make.binary(kOp, WW_TRY(Pair::part(in, a, left, upper)),
                                            WW_TRY(Pair::part(in, a, right, upper))));
  return Pair::join(in, a, out[0], out[1]);
}

template <typename To>
Result<Value> rounded_pair(Context& in, const Args& a, ExprId low, ExprId high) {
  Maker make(in, a.call);
  return To::join(in, a, WW_TRY(make.cast(low, To::kPart)), WW_TRY(make.cast(high, To::kPart)));
}
Result<Value> floats_to_bfloat2(Context& in, Args& a) {
  const ExprId low = WW_TRY(expression_as(in, a[0], type(DType::Float32)));
  const ExprId high = WW_TRY(expression_as(in, a[1], type(DType::Float32)));
  return rounded_pair<Bfloat2>(in, a, low, high);
}
template <typename From, typename To>
Result<Value> convert_pair(Context& in, Args& a) {
  const ExprId pair = WW_TRY(From::word(in, a, 0));
  return rounded_pair<To>(in, a, WW_TRY(From::part(in, a, pair, false)),
                          WW_TRY(From::part(in, a, pair, true)));
}

// --- all threads ---------------------------------------------------------------------------------

enum class Reduce : std::uint8_t { Sum, Max, Min };
constexpr std::string_view text_of(Reduce op) {
  return op == Reduce::Sum ? "sum" : op == Reduce::Max ? "max" : "min";
}

template <Reduce kOp>
Result<Value> warp_reduce_by(Context& in, Args& a) {
  const ExprId args[] = {WW_TRY(expression(in, a[0])),
                         ir::text_imm(in.fn(), std::string(text_of(kOp)), a.call),
                         WW_TRY(used_here(in, a.get(1, of_int(32))))};
  return of_expr(ir::call(in.fn(), Intrinsic::WarpReduce, args, a.call));
}

template <Reduce kOp>
Result<Value> cta_reduce(Context& in, Args& a) {
  const ExprId args[] = {WW_TRY(used_here(in, a[0])),
                         ir::text_imm(in.fn(), std::string(text_of(kOp)), a.call),
                         WW_TRY(used_here(in, a[1])), WW_TRY(used_here(in, a[2]))};
  return of_expr(ir::call(in.fn(), Intrinsic::CtaReduce, args, a.call));
}

// reduce_add_sync_u32(mask, value), of the whole warp.
template <Reduce kOp>
Result<Value> reduce_sync(Context& in, Args& a) {
  const ExprId mask = WW_TRY(expression_as(in, a[0], type(DType::Uint32)));
  const auto lanes = ir::const_int(in.fn(), mask);
  if (!lanes || static_cast<std::uint32_t>(*lanes) != 0xffffffffU)
    return fail(
        diag_at(a.span(0), DiagKind::BadArgument, "a mask {}, expected 0xffffffff: the whole warp",
                lanes ? fmt::format("of {:#x}", static_cast<std::uint32_t>(*lanes))
                      : "that is not constant")
            .with_note(fmt::format("`T.ptx[\"redux.sync.{}.u32\"](d, a, mask)` takes any mask",
                                   kOp == Reduce::Sum ? "add" : text_of(kOp))));
  const ExprId args[] = {WW_TRY(expression_as(in, a[1], type(DType::Uint32))),
                         ir::text_imm(in.fn(), std::string(text_of(kOp)), a.call),
                         ir::int_imm(in.fn(), DType::Int32, 32, a.call)};
  return of_expr(ir::call(in.fn(), Intrinsic::WarpReduce, args, a.call));
}

// --- statements ----------------------------------------------------------------------------------

Result<Value> trap_unless(Context& in, Args& a) {
  ir::Stmt out = stmt_node(ir::StmtKind::Assert, a.call);
  out.expr = WW_TRY(condition_of(in, a[0]));
  emit(in, std::move(out));
  return none();
}

Result<Value> nano_sleep(Context& in, Args& a) {
  ir::PtxCall call{.opcode = isa::opcode_of("nanosleep.u32")};
  call.operands.push_back({.expr = WW_TRY(expression_as(in, a[0], type(DType::Uint32)))});
  emit_ptx(in, std::move(call), a.call);
  return none();
}

// --- through pointers ----------------------------------------------------------------------------

// The element that a pointer leads to, `count` of them, where it is an address in a buffer.
struct Elements {
  ir::BufferId buffer;
  std::vector<ExprId> indices;
};
Result<Elements> elements_at(Context& in, const Given& pointer, DType dtype, const Args& a) {
  const ExprId id = WW_TRY(expression(in, pointer));
  const ir::Expr& e = in.fn()[id];
  const bool is_place = e.op == ExprOp::AddressOf || e.op == ExprOp::BufferData;
  if (!is_place || in.fn()[e.buffer].dtype != dtype)
    return fail(diag_at(pointer.span, DiagKind::BadArgument,
                        "`{}` through this pointer, expected the address of `{}` in a buffer",
                        a.row->name, num::name_of(dtype))
                    .with_note("`B.ptr_to([i])`, `T.address_of(B[i])` or `B.data`"));
  Elements out{e.buffer, {}};
  if (e.op == ExprOp::AddressOf)
    out.indices.assign(e.args.begin(), e.args.end());
  else
    out.indices.assign(in.fn()[e.buffer].shape.size(),
                       ir::int_imm(in.fn(), DType::Int32, 0, pointer.span));
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
  const ir::Type to = type(in.fn()[first.buffer].dtype);
  emit_store(in, place, WW_TRY(ir::cast(in.fn(), value, to, span)), span);
  return {};
}

// half8tofloat8(src, dst), float22half2(dst, src): so many numbers of one type as those of another.
template <DType kFrom, DType kTo, std::int64_t kCount, std::size_t kSrc>
Result<Value> convert_at(Context& in, Args& a) {
  const Elements src = WW_TRY(elements_at(in, a[kSrc], kFrom, a));
  const Elements dst = WW_TRY(elements_at(in, a[1 - kSrc], kTo, a));
  for (std::int64_t i = 0; i < kCount; ++i)
    WW_TRY_VOID(store(in, dst, i, WW_TRY(element(in, src, i, a.call)), a.call));
  return none();
}

// ldg(pointer), ldg(pointer, dtype), ldg(pointer, dtype, dst=(p, q), vec="v2")
Result<Value> ldg(Context& in, Args& a) {
  ExprId pointer = WW_TRY(expression(in, a[0]));
  const auto load = [&](std::int64_t i) -> Result<ExprId> {
    ExprId at = pointer;
    if (i != 0) {
      const ExprId args[] = {pointer, ir::int_imm(in.fn(), DType::Int32, i, a.call)};
      at = WW_TRY(ir::call(in.fn(), Intrinsic::PointerOffset, args, a.call));
    }
    return ir::call(in.fn(), Intrinsic::Ldg, std::span(&at, 1), a.call);
  };
  if (a.has(1)) {
    const ir::Type wanted = WW_TRY(as_type(in, a[1], "the type"));
    const ExprId args[] = {pointer, ir::int_imm(in.fn(), DType::Int32, 0, a.call)};
    if (in.fn()[pointer].type != ir::Type::pointer(wanted.dtype))
      pointer = WW_TRY(
          ir::call(in.fn(), Intrinsic::ByteOffset, args, a.call, ir::Type::pointer(wanted.dtype)));
  }
  if (!a.has(2)) return of_expr(load(0));
  const std::string vec = a.has(3) ? WW_TRY(as_text(in, a[3], "`vec`")) : "";
  const std::vector<Value> places = WW_TRY(as_sequence(in, a[2], "`dst`"));
  const std::size_t lanes = vec == "v2" ? 2 : vec == "v4" ? 4 : 0;
  if (lanes == 0 || places.size() != lanes)
    return fail_at(a.call, DiagKind::BadArgument,
                   "`vec` is \"{}\" and `dst` has {} pointers, expected \"v2\" and 2 or \"v4\" "
                   "and 4",
                   vec, places.size());
  const DType dtype = in.fn()[WW_TRY(load(0))].type.dtype;
  for (std::size_t i = 0; i < lanes; ++i) {
    const Elements dst = WW_TRY(elements_at(in, {places[i], a.span(2)}, dtype, a));
    WW_TRY_VOID(store(in, dst, 0, WW_TRY(load(static_cast<std::int64_t>(i))), a.call));
  }
  return none();
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
    {"T.cuda.cta_sum", "value, num_warps, scratch", cta_reduce<Reduce::Sum>, true},
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
    {"T.cuda.half2float", "x", to_float<DType::Float16>, true},
    {"T.cuda.bfloat162float", "x", to_float<DType::Bfloat16>, true},
    {"T.cuda.uint_as_float", "bits", bits_as<DType::Uint32, DType::Float32>, true},
    {"T.cuda.float_as_uint", "x", bits_as<DType::Float32, DType::Uint32>, true},
    {"T.cuda.fdividef", "x, y", fdividef, true},
    {"T.cuda.ffs_u32", "value", ffs, true},
    {"T.cuda.smem_addr_from_uint64", "address", low_word, true},
    {"T.cuda.float2_x", "pair", float2_part<false>, true},
    {"T.cuda.float2_y", "pair", float2_part<true>, true},
    {"T.cuda.fadd2_rn", "a, b", pair_op<Float2, ExprOp::Add>, true},
    {"T.cuda.fmul2_rn", "a, b", pair_op<Float2, ExprOp::Mul>, true},
    {"T.cuda.float22bfloat162_rn", "x, y", floats_to_bfloat2, true},
    {"T.cuda.float22bfloat162_rn_from_float2", "pair", convert_pair<Float2, Bfloat2>, true},
    {"T.cuda.bfloat1622float2", "pair", convert_pair<Bfloat2, Float2>, true},
    {"T.cuda.hmin2", "a, b", pair_op<Bfloat2, ExprOp::Min>, true},
    {"T.cuda.hmax2", "a, b", pair_op<Bfloat2, ExprOp::Max>, true},
    {"T.cuda.warp_sum", "value, width?", warp_reduce_by<Reduce::Sum>, true},
    {"T.cuda.warp_max", "value, width?", warp_reduce_by<Reduce::Max>, true},
    {"T.cuda.warp_min", "value, width?", warp_reduce_by<Reduce::Min>, true},
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

}  // namespace ww::script::cuda_api
