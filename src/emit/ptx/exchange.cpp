// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp and threads of a CTA: shuffles, votes, reductions, barriers.
#include "emit/ptx/exchange.h"

#include <algorithm>
#include <bit>

#include "emit/ptx/exprs.h"
#include "emit/ptx/floats.h"
#include "emit/ptx/integers.h"
#include "emit/ptx/memory.h"
#include "emit/ptx/pointers.h"
#include "ir/engine_fallback.h"

namespace ww::emit::to_ptx {
namespace {

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

}  // namespace

// Every warp reduces its lanes and leaves the result in the scratch memory; every thread then
// combines the warps' results, pairwise where their number is a power of two.
Value cta_reduce(Context& c, const ir::Expr& e) {
  const std::string op = text_of(c, e.args[1]);
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
      return {reduce_lanes(c, text_of(c, e.args[1]), e.type.dtype, eval(c, e.args[0]),
                           std::clamp<std::int64_t>(width, 1, kLanes))};
    }
    default:
      return shuffle_lanes(c, e);
  }
}

void barrier(Context& c, const ir::Expr& e) {
  switch (e.callee) {
    case Intrinsic::StorageSync:
      if (text_of(c, e.args[0]) != "warp") return c.code.add("bar.sync", {int_value(0)});
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

}  // namespace ww::emit::to_ptx
