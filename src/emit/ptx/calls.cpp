// SPDX-License-Identifier: Apache-2.0
// Functions of the language: which part writes them, and the pure ones that are no mathematics.
#include "emit/ptx/calls.h"

#include <algorithm>
#include <bit>

#include "emit/ptx/casts.h"
#include "emit/ptx/context.h"
#include "emit/ptx/exprs.h"
#include "emit/ptx/integers.h"
#include "emit/ptx/math.h"
#include "emit/ptx/memory.h"
#include "ir/engine_fallback.h"
#include "ir/signatures.h"

namespace ww::emit::to_ptx {

// --- exchange ------------------------------------------------------------------------------------
//
// Lanes of a warp and threads of a CTA.
//
// Lanes of a warp and threads of a CTA: shuffles, votes, reductions, barriers.

namespace {

/// Shuffles, votes, elections, reductions of a warp.
Lanes exchange(Context& c, const ir::Expr& expr);
Value cta_reduce(Context& c, const ir::Expr& expr);
void barrier(Context& c, const ir::Expr& expr);

constexpr std::int64_t kAllLanes = 0xffffffff;
constexpr std::int64_t kLanes = 32;

std::string_view mode_of(Intrinsic callee) {
  return word_for(
      callee,
      {{Intrinsic::ShflUp, "up"}, {Intrinsic::ShflDown, "down"}, {Intrinsic::ShflXor, "bfly"}},
      "idx");
}

// --- shuffles ------------------------------------------------------------------------------------

Value shuffle_value(Context& c, std::string_view mode, Value value, Value by, Value bounds,
                    Value mask) {
  if (value.cls == Class::P)
    return is_not_zero(c, DType::Int32, shuffle_value(c, mode, as_int(c, value), by, bounds, mask));
  value = c.code.in_register(value);
  if (value.cls == Class::Rd) {
    std::vector<Value> halves = c.code.pure_vector("mov.b64", Class::R, 2, {value});
    for (Value& half : halves) half = shuffle_value(c, mode, half, by, bounds, mask);
    return c.code.pure("mov.b64", Class::Rd, {vector_arg(halves)});
  }
  if (value.cls == Class::Rs) {
    const Value wide = c.code.pure("cvt.u32.u16", Class::R, {value});
    return c.code.pure("cvt.u16.u32", Class::Rs, {shuffle_value(c, mode, wide, by, bounds, mask)});
  }
  const Value out = c.code.new_register(Class::R);
  c.code.add(fmt::format("shfl.sync.{}.b32", mode), {out, value, by, bounds, mask});
  return out;
}

// The operand that bounds the segment of `width` lanes: its mask above the clamp.
Lanes shuffle_lanes(Context& c, const ir::Expr& e) {
  Lanes values = lanes(c, e.args[1]);
  const auto as_u32 = [&](std::size_t i) { return eval_as(c, e.args[i], DType::Uint32); };
  const Value mask = as_u32(0);
  const Value by = as_u32(2);
  const Value width = as_u32(3);
  const std::int64_t clamp = e.callee == Intrinsic::ShflUp ? 0 : 31;
  const Value bounds = width.is_constant()
                           ? int_value(((kLanes - width.bits) & (kLanes - 1)) << 8 | clamp)
                           : c.code.pure("mad.lo.s32", Class::R,
                                         {width, int_value(-256), int_value(kLanes << 8 | clamp)});
  for (Value& value : values) value = shuffle_value(c, mode_of(e.callee), value, by, bounds, mask);
  return values;
}

// --- votes ---------------------------------------------------------------------------------------

Value vote(Context& c, const ir::Expr& e) {
  const Value mask = eval_as(c, e.args[0], DType::Uint32);
  const Value holds = c.code.in_register(predicate(c, e.args[1]));
  const bool is_ballot = e.callee == Intrinsic::Ballot;
  const Value out = c.code.new_register(is_ballot ? Class::R : Class::P);
  const std::string_view mode = is_ballot                        ? "ballot.b32"
                                : e.callee == Intrinsic::AnySync ? "any.pred"
                                                                 : "all.pred";
  c.code.add(fmt::format("vote.sync.{}", mode), {out, holds, mask});
  return out;
}

Value elect(Context& c) {
  const Value is_elected = c.code.new_register(Class::P);
  if (ir::allows_engine_fallback(c.f) && ir::needs_engine_fallback(c.options.target)) {
    const Value lane = c.code.new_register(Class::R);
    c.code.add("mov.u32", {lane, special_arg("%laneid")});
    c.code.add("setp.eq.u32", {is_elected, lane, int_value(0)});
    return as_int(c, is_elected);
  }
  c.code.add("elect.sync", {pair_arg(Arg(), is_elected), int_value(kAllLanes)});
  return as_int(c, is_elected);
}

// --- reductions ----------------------------------------------------------------------------------

Value combine(Context& c, std::string_view op, DType type, Value a, Value b) {
  const ExprOp with = op == "max" ? ExprOp::Max : op == "min" ? ExprOp::Min : ExprOp::Add;
  if (is_float(type)) return float_op(c, with, type, a, b);
  if (type == DType::Bool) return bool_op(c, with, a, b);
  return int_op(c, with, type, a, b, {});
}

Value reduce_lanes(Context& c, std::string_view op, DType type, Value value, std::int64_t width) {
  for (std::int64_t by = width / 2; by > 0; by /= 2) {
    const Value other =
        shuffle_value(c, "bfly", value, int_value(by), int_value(31), int_value(kAllLanes));
    value = combine(c, op, type, value, other);
  }
  return value;
}

// The number of the thread in its CTA.
Value thread_number(Context& c) {
  const auto id = [&](std::string_view axis) {
    return c.code.pure("mov.u32", Class::R, {special_arg(fmt::format("%tid.{}", axis))});
  };
  Value number = id("x");
  if (c.shape.block[1] > 1)
    number = c.code.pure("mad.lo.u32", Class::R, {id("y"), int_value(c.shape.block[0]), number});
  if (c.shape.block[2] > 1)
    number = c.code.pure("mad.lo.u32", Class::R,
                         {id("z"), int_value(c.shape.block[0] * c.shape.block[1]), number});
  return number;
}

// --- barriers ------------------------------------------------------------------------------------

void mbarrier_wait(Context& c, const ir::Expr& e) {
  const bool has_try = c.options.target.has(target::Feature::Sm90) && c.options.target.ptx >= 78;
  const Arg where = operand_in(c, address(c, e.args[0]), isa::Space::Shared);
  const Value parity = c.code.snapshot(c.code.in_register(eval_as(c, e.args[1], DType::Uint32)));
  const Value is_over = c.code.new_register(Class::P);
  const std::string again = c.code.new_label("wait");
  c.code.add_label(again);
  c.code.add(fmt::format("mbarrier.{}.parity.shared.b64", has_try ? "try_wait" : "test_wait"),
             {is_over, where, parity});
  c.code.jump(again, {is_over, true});
}

// Every warp reduces its lanes and leaves the result in the scratch memory; every thread then
// combines the warps' results, pairwise where their number is a power of two.
Value cta_reduce(Context& c, const ir::Expr& e) {
  const std::string_view op = ir::literal_text(c.f, e.args[1]);
  const DType type = e.type.dtype;
  const std::int64_t warps = constant_of(c, e.args[2]).value_or(c.shape.warps());
  const Address scratch = address(c, e.args[3]);
  const Value own = c.code.snapshot(reduce_lanes(c, op, type, eval(c, e.args[0]), kLanes));
  const Value thread = thread_number(c);
  c.code.add("bar.sync", {int_value(0)});
  Address mine = scratch;
  mine.terms.push_back({.value = c.code.pure("shr.u32", Class::R, {thread, int_value(5)}),
                        .scale = storage_bits(type) / 8});
  const Value lane = c.code.pure("and.b32", Class::R, {thread, int_value(31)});
  const Guard is_first{c.code.pure("setp.eq.s32", Class::P, {lane, int_value(0)})};
  store_run(c, mine, type, {own}, c.code.now(), is_first);
  c.code.add("bar.sync", {int_value(0)});
  Lanes parts = load_run(c, scratch, type, static_cast<std::size_t>(warps));
  if (std::has_single_bit(parts.size())) {
    for (std::size_t by = parts.size() / 2; by > 0; by /= 2)
      for (std::size_t i = 0; i < by; ++i) parts[i] = combine(c, op, type, parts[i], parts[i + by]);
  } else {
    for (std::size_t i = 1; i < parts.size(); ++i)
      parts[0] = combine(c, op, type, parts[0], parts[i]);
  }
  return parts[0];
}

Lanes exchange(Context& c, const ir::Expr& e) {
  switch (e.callee) {
    case Intrinsic::ActiveMask: {
      const Value mask = c.code.new_register(Class::R);
      c.code.add("activemask.b32", {mask});
      return {mask};
    }
    case Intrinsic::Ballot:
    case Intrinsic::AnySync:
    case Intrinsic::AllSync:
      return {vote(c, e)};
    case Intrinsic::ElectSync:
      return {elect(c)};
    case Intrinsic::WarpReduce: {
      const std::int64_t width = constant_of(c, e.args[2]).value_or(kLanes);
      return {reduce_lanes(c, ir::literal_text(c.f, e.args[1]), e.type.dtype, eval(c, e.args[0]),
                           std::clamp<std::int64_t>(width, 1, kLanes))};
    }
    default:
      return shuffle_lanes(c, e);
  }
}

void barrier(Context& c, const ir::Expr& e) {
  switch (e.callee) {
    case Intrinsic::StorageSync:
      if (ir::literal_text(c.f, e.args[0]) != "warp") return c.code.add("bar.sync", {int_value(0)});
      return c.code.add("bar.warp.sync", {int_value(kAllLanes)});
    case Intrinsic::WarpSync:
      return c.code.add("bar.warp.sync", {int_value(kAllLanes)});
    case Intrinsic::WarpgroupSync:
      return c.code.add("bar.sync", {eval_as(c, e.args[0], DType::Int32), int_value(128)});
    case Intrinsic::ClusterSync:
      c.code.add("barrier.cluster.arrive.aligned", {});
      return c.code.add("barrier.cluster.wait.aligned", {});
    case Intrinsic::ThreadFence:
      return c.code.add("fence.sc.gpu", {});
    case Intrinsic::MbarrierWait:
      return mbarrier_wait(c, e);
    default:
      return c.code.add("bar.sync", {int_value(0)});
  }
}

}  // namespace

// --- atomics -------------------------------------------------------------------------------------
//
// Atomic operations: `atom`, or `red` where the old value is not used. What has no instruction
// (the least or greatest float) is a loop around compare-and-swap.

namespace {

std::string_view atomic_word(Intrinsic callee) {
  return word_for(callee,
                  {{Intrinsic::AtomicAdd, "add"},
                   {Intrinsic::AtomicMin, "min"},
                   {Intrinsic::AtomicMax, "max"},
                   {Intrinsic::AtomicAnd, "and"},
                   {Intrinsic::AtomicOr, "or"},
                   {Intrinsic::AtomicXor, "xor"},
                   {Intrinsic::AtomicExch, "exch"}},
                  "cas");
}

bool is_extreme(Intrinsic callee) {
  return callee == Intrinsic::AtomicMin || callee == Intrinsic::AtomicMax;
}

// The type that the instruction names: bits where it only moves or masks them.
std::string type_word(Intrinsic callee, DType type) {
  const int bits = num::bits_of(type);
  if (callee == Intrinsic::AtomicAdd) {
    if (bits == 16) return fmt::format("noftz.{}", arith_type(type));
    return type == DType::Int64 ? "u64" : std::string(arith_type(type));
  }
  if (is_extreme(callee)) return std::string(arith_type(type));
  return fmt::format("b{}", bits);
}

Value atomic_loop(Context& c, const ir::Expr& e, const Address& to, DType type) {
  const Class cls = class_of(type);
  const std::string word(type_of(cls));
  const Value value = c.code.snapshot(c.code.in_register(eval(c, e.args[1])));
  const Arg where = operand(c, to);
  const Value old = c.code.new_variable(cls);
  const Value seen = c.code.new_variable(cls);
  c.code.add(fmt::format("atom{}.or.{}", suffix_of(to.space), word),
             {old, where, int_value(0, cls)});
  c.code.touch(old);
  const std::string again = c.code.new_label("again");
  c.code.add_label(again);
  const Value wanted =
      float_op(c, e.callee == Intrinsic::AtomicMin ? ExprOp::Min : ExprOp::Max, type, old, value);
  c.code.add(fmt::format("mov.{}", word), {seen, old});
  c.code.add(fmt::format("atom{}.cas.{}", suffix_of(to.space), word), {old, where, seen, wanted});
  c.code.touch(old);
  const Value differs = c.code.new_register(Class::P);
  c.code.add(fmt::format("setp.ne.{}", word), {differs, old, seen});
  c.code.jump(again, {differs});
  return c.code.snapshot(old);
}

}  // namespace

Value atomic(Context& c, const ir::Expr& e, bool is_used) {
  const DType type = c.f[e.args[1]].type.dtype;
  const Address to = address(c, e.args[0]);
  const bool is_cas = e.callee == Intrinsic::AtomicCas;
  const bool is_half = class_of(type) == Class::Rs && (e.callee == Intrinsic::AtomicAdd || is_cas);
  if ((num::bits_of(type) < 32 && !is_half) || type == DType::Bool) {
    refuse(c, "`T.{}` of `{}` has no PTX instruction", ir::facts_of(e.callee).name,
           num::name_of(type));
    return int_value(0, class_of(type));
  }
  if (is_float(type) && is_extreme(e.callee)) return atomic_loop(c, e, to, type);
  std::vector<Arg> args;
  const bool has_result = is_used || is_cas || e.callee == Intrinsic::AtomicExch;
  Value old;
  if (has_result) {
    old = c.code.new_register(class_of(type));
    args.emplace_back(old);
  }
  std::vector<Value> values;
  for (std::size_t i = 1; i < e.args.size(); ++i)
    values.push_back(c.code.in_register(eval(c, e.args[i])));
  args.push_back(operand(c, to));
  args.insert(args.end(), values.begin(), values.end());
  c.code.add(fmt::format("{}{}.{}.{}", has_result ? "atom" : "red", suffix_of(to.space),
                         atomic_word(e.callee), type_word(e.callee, type)),
             std::move(args));
  return has_result ? old : int_value(0, class_of(type));
}

// --- prints --------------------------------------------------------------------------------------
//
// printf and assert, by the functions that the driver links to every module: `vprintf` takes a
// format and a pointer to the arguments, which lie one after the other in local memory, 32-bit ones
// in 4 bytes and all others in 8; `__assertfail` does not come back.

namespace {

Value text_address(Context& c, std::string_view text) {
  auto found = c.declared.texts.find(text);
  if (found == c.declared.texts.end()) {
    found = c.declared.texts.emplace(std::string(text), unique(c.declared, "text")).first;
    c.declared.outer.push_back(
        {.name = found->second, .space = isa::Space::Global, .bytes = 0, .align = 1});
  }
  const Value at = c.code.pure("mov.u64", Class::Rd, {symbol_arg(found->second)});
  return c.code.pure("cvta.global.u64", Class::Rd, {at});
}

// The call sequence of the PTX ABI: arguments and results are .param variables of a block.
void call_function(Context& c, std::string_view name, std::span<const Value> args,
                   bool has_result) {
  c.declared.functions.emplace(name);
  c.code.add_line({.kind = LineKind::Open});
  std::vector<Arg> names;
  std::vector<std::string> params;
  params.reserve(args.size());  // operands hold views of them
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view param = params.emplace_back(fmt::format("param{}", i));
    const auto bits = static_cast<std::uint32_t>(bits_of(args[i].cls));
    c.code.add_line({.kind = LineKind::Parameter, .line = bits}, param);
    c.code.add(fmt::format("st.param.b{}", bits), {address_arg(symbol_arg(param), 0), args[i]});
    names.push_back(symbol_arg(param));
  }
  std::vector<Arg> operands = {symbol_arg(name), list_arg(std::move(names))};
  if (has_result) {
    c.code.add_line({.kind = LineKind::Parameter, .line = 32}, "result0");
    operands.insert(operands.begin(), list_arg({symbol_arg("result0")}));
  }
  c.code.add("call", std::move(operands));
  c.code.add_line({.kind = LineKind::Close});
}

// --- printf --------------------------------------------------------------------------------------

// The argument as printf reads it, and the conversion for that: `%d` of an int64 is `%lld`.
Value print_argument(Context& c, ExprId expr, char letter, std::string& spec) {
  const ir::Type type = c.f[expr].type;
  const DType dtype = type.is_pointer() ? DType::Uint64 : type.dtype;
  const Value value = c.code.in_register(eval(c, expr));
  if (ir::takes_float(letter)) {
    spec += letter;
    return cast(c, value, dtype, DType::Float64);
  }
  if (is_float(dtype)) {
    const bool is_long = num::bits_of(dtype) == 64;
    spec += (is_long ? "ll" : "") + std::string(1, letter);
    return is_long ? value : raw(c, value, dtype, Class::R);
  }
  const bool is_long = num::bits_of(dtype) == 64 || letter == 'p';
  spec += (is_long && letter != 'p' ? "ll" : "") + std::string(1, letter);
  return cast(c, value, dtype,
              is_long ? (is_signed(dtype) ? DType::Int64 : DType::Uint64)
                      : (is_signed(dtype) ? DType::Int32 : DType::Uint32));
}

// The format as vprintf gets it, with the texts of `%s` in their places, and all other arguments.
struct Printed {
  std::string format = {};
  std::vector<Value> values = {};
};

Printed printed_by(Context& c, const ir::Expr& e) {
  Printed out;
  for (ir::PrintPart& part : ir::print_parts(c.f, e)) {
    if (part.letter == 0)
      part.text = ir::doubled_percents(part.text);
    else
      out.values.push_back(print_argument(c, part.arg, part.letter, part.text));
    out.format += part.text;
  }
  return out;
}

}  // namespace

void print(Context& c, const ir::Expr& e) {
  const Printed printed = printed_by(c, e);
  std::int64_t bytes = 0;
  const std::string space = unique(c.declared, "printf_arguments");
  for (const Value& value : printed.values) {
    const std::int64_t size = bits_of(value.cls) / 8;
    bytes = (bytes + size - 1) / size * size;
    c.code.add(fmt::format("st.local.{}", type_of(value.cls)),
               {address_arg(symbol_arg(space), bytes), c.code.in_register(value)});
    bytes += size;
  }
  Value where = int_value(0, Class::Rd);
  if (!printed.values.empty()) {
    c.declared.arrays.push_back(
        {.name = space, .space = isa::Space::Local, .bytes = bytes, .align = 8});
    where = c.code.pure("cvta.local.u64", Class::Rd,
                        {c.code.pure("mov.u64", Class::Rd, {symbol_arg(space)})});
  }
  const std::vector<Value> args = {text_address(c, printed.format), c.code.in_register(where)};
  call_function(c, "vprintf", args, true);
}

void check_assert(Context& c, const ir::Stmt& s) {
  const Value holds = predicate(c, s.expr);
  if (holds.is_constant() && holds.bits != 0) return;
  c.locals.settle();
  const std::string end = c.code.new_label("end");
  c.code.jump(end, {c.code.in_register(holds)});
  c.code.open_scope(false);
  const bool is_placed = c.options.source != nullptr && s.span.known;
  SourceText::Position at{.line = 0};
  if (is_placed) at = c.options.source->position(s.span.begin);
  const std::vector<Value> args = {
      text_address(c, s.message),
      text_address(c, is_placed ? c.options.source->file_name(at.file) : c.f.name),
      c.code.in_register(int_value(static_cast<std::int64_t>(at.line))), text_address(c, c.f.name),
      c.code.in_register(int_value(1, Class::Rd))};
  call_function(c, "__assertfail", args, false);
  c.code.close_scope();
  c.code.add_label(end);
}

namespace {

// A lane is 16 bits up, and columns do not overflow into it.
Value tensor_address(Context& c, const Expr& e) {
  const auto as_u32 = [&](std::size_t i) { return eval_as(c, e.args[i], DType::Uint32); };
  // One after the other: arguments of a call are evaluated in any order, and each emits code.
  const Value row = product(c, "u32", as_u32(1), int_value(65536));
  const Value lane = sum(c, "u32", as_u32(0), row);
  const Value column = as_u32(2);
  return sum(c, "u32", lane, column);
}

// Of 32 and 64 bits the lesser of a and -a without their signs. ptxas takes the result of `abs` for
// no less than 0, which the least number's is, and mistakes `max(a, -a)` beside `a + a`.
Value int_abs(Context& c, DType type, Value a) {
  if (!is_signed(type)) return a;
  const int bits = num::bits_of(type);
  if (bits < 32)
    return wrap(c, type, c.code.pure(fmt::format("abs.{}", arith_type(type)), a.cls, {a}));
  const Value minus = c.code.pure(fmt::format("neg.s{}", bits), a.cls, {a});
  return c.code.pure(fmt::format("min.u{}", bits), a.cls, {a, minus});
}

Value int_call(Context& c, Intrinsic callee, DType type, std::span<const Value> args) {
  const int bits = num::bits_of(type);
  const Value a = c.code.in_register(args[0]);
  const std::string_view word = bits == 64 ? "b64" : "b32";
  const auto counted = [&](Value count) {
    return bits == 64 ? c.code.pure("cvt.u64.u32", Class::Rd, {count}) : count;
  };
  const auto plain = [&] {  // the bits, zeros above
    if (bits >= 32 || !is_signed(type)) return a;
    return c.code.pure("and.b32", Class::R, {a, int_value((std::int64_t{1} << bits) - 1)});
  };
  switch (callee) {
    case Intrinsic::Abs:
      return int_abs(c, type, a);
    case Intrinsic::Popcount:
      return counted(c.code.pure(fmt::format("popc.{}", word), Class::R, {plain()}));
    case Intrinsic::Clz: {
      const Value zeros = c.code.pure(fmt::format("clz.{}", word), Class::R, {plain()});
      return counted(bits < 32 ? sum(c, "s32", zeros, int_value(bits - 32)) : zeros);
    }
    case Intrinsic::Fma:
      return wrap(
          c, type,
          c.code.pure(fmt::format("mad.lo.{}", arith_type(type)), a.cls, {a, args[1], args[2]}));
    case Intrinsic::Isnan:
    case Intrinsic::Isinf:
      return int_value(0, Class::P);
    case Intrinsic::Isfinite:
      return int_value(1, Class::P);
    case Intrinsic::Floor:
    case Intrinsic::Ceil:
    case Intrinsic::Trunc:
    case Intrinsic::Round:
    case Intrinsic::Nearbyint:
      return args[0];
    default:
      refuse(c, "`T.{}` of `{}`", ir::facts_of(callee).name, num::name_of(type));
      return args[0];
  }
}

// A move behind a label that the virtual GPU knows (sim/checks/promises.h); others see a move.
Value promised(Context& c, DType type, Value value, std::string_view label) {
  if (value.is_constant()) return value;
  if (value.cls == Class::P)
    return is_not_zero(c, DType::Int32, promised(c, type, as_int(c, value), label));
  const Value out = c.code.new_register(value.cls);
  c.code.add_label(c.code.new_label(label));
  c.code.add(fmt::format("mov.{}", type_of(value.cls)), {out, value});
  return out;
}

Lanes pure_call(Context& c, const Expr& e) {
  switch (e.callee) {
    case Intrinsic::Likely:
      return lanes(c, e.args[0]);
    case Intrinsic::Uniform:
    case Intrinsic::WarpUniform:
      return {promised(c, c.f[e.args[0]].type.dtype, lanes(c, e.args[0])[0],
                       e.callee == Intrinsic::Uniform ? "uniform" : "uniform_warp")};
    case Intrinsic::CvtaToShared:
      return {window(c, address(c, e.args[0]), Space::Shared)};
    case Intrinsic::TmemAddr:
      return {tensor_address(c, e)};
    case Intrinsic::PointerOffset:
    case Intrinsic::ByteOffset:
      return {generic(c, offset_address(c, e))};
    default:
      break;
  }
  std::vector<Lanes> args;
  for (const ExprId arg : e.args) args.push_back(lanes(c, arg));
  const DType type = c.f[e.args[0]].type.dtype;
  Lanes out;
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    std::vector<Value> own;
    for (const Lanes& arg : args) own.push_back(arg[std::min(i, arg.size() - 1)]);
    out.push_back((is_float(type) ? float_call : int_call)(c, e.callee, type, own));
  }
  return out;
}

}  // namespace

Lanes call(Context& c, const Expr& e) {
  switch (ir::facts_of(e.callee).effect) {
    case ir::Effect::Pure:
      return pure_call(c, e);
    case ir::Effect::Exchange:
      return exchange(c, e);
    case ir::Effect::Barrier:
      if (e.callee == Intrinsic::CtaReduce) return {cta_reduce(c, e)};
      barrier(c, e);
      return {};
    case ir::Effect::Reads:
      return load_run(c, address(c, e.args[0]), e.type.dtype, e.type.lanes, true);
    case ir::Effect::Writes:
      break;
  }
  switch (e.callee) {
    case Intrinsic::CopyBytes:
      copy_bytes(c, e);
      return {};
    case Intrinsic::Printf:
      print(c, e);
      return {};
    case Intrinsic::FuncCall:
      refuse(c, "`T.cuda.func_call` needs CUDA C++, PTX has no such function (use `--emit cuda`)");
      return Lanes(e.type.lanes, int_value(0));
    default:
      return {atomic(c, e, true)};
  }
}

}  // namespace ww::emit::to_ptx
