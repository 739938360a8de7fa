// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp and threads of a CTA: shuffles, votes, reductions, barriers.
#include <algorithm>
#include <bit>

#include "emit/ptx/emitter.h"

namespace ww::emit::to_ptx {
namespace {

constexpr std::int64_t kAllLanes = 0xffffffff;
constexpr std::int64_t kLanes = 32;

std::string_view mode_of(Intrinsic callee) {
  switch (callee) {
    case Intrinsic::ShflUp:
      return "up";
    case Intrinsic::ShflDown:
      return "down";
    case Intrinsic::ShflXor:
      return "bfly";
    default:
      return "idx";
  }
}

}  // namespace

std::string Emitter::text_of(ExprId expr) const {
  const ir::Expr& e = f_[expr];
  return e.op == ExprOp::TextImm ? f_.texts[e.text] : "";
}

Emitter::Lanes Emitter::exchange(const ir::Expr& e) {
  switch (e.callee) {
    case Intrinsic::ActiveMask: {
      const Value mask = code_.new_register(Class::R);
      code_.add("activemask.b32", {mask});
      return {mask};
    }
    case Intrinsic::Ballot:
    case Intrinsic::AnySync:
    case Intrinsic::AllSync:
      return {vote(e)};
    case Intrinsic::ElectSync:
      return {elect()};
    case Intrinsic::WarpReduce: {
      const std::int64_t width = constant_of(f_, e.args[2], ranges_).value_or(kLanes);
      return {reduce_lanes(text_of(e.args[1]), e.type.dtype, eval(e.args[0]),
                           std::clamp<std::int64_t>(width, 1, kLanes))};
    }
    default:
      return shuffle_lanes(e);
  }
}

// --- shuffles ------------------------------------------------------------------------------------

// The operand that bounds the segment of `width` lanes: its mask above the clamp.
Emitter::Lanes Emitter::shuffle_lanes(const ir::Expr& e) {
  const Lanes values = lanes(e.args[1]);
  const DType type = e.type.dtype;
  const auto as_u32 = [&](std::size_t i) {
    return cast(eval(e.args[i]), f_[e.args[i]].type.dtype, DType::Uint32);
  };
  const Value mask = as_u32(0);
  const Value by = as_u32(2);
  const Value width = as_u32(3);
  const std::int64_t clamp = e.callee == Intrinsic::ShflUp ? 0 : 31;
  Value bounds;
  if (width.is_constant())
    bounds = int_value(((kLanes - width.bits) & (kLanes - 1)) << 8 | clamp);
  else
    bounds = code_.pure("mad.lo.s32", Class::R,
                        {width, int_value(-256), int_value(kLanes << 8 | clamp)});
  Lanes out;
  for (const Value& value : values) {
    if (type == DType::Bool)
      out.push_back(compare(ExprOp::Ne, DType::Int32,
                            shuffle_value(mode_of(e.callee), as_int(value), by, bounds, mask),
                            int_value(0)));
    else
      out.push_back(shuffle_value(mode_of(e.callee), value, by, bounds, mask));
  }
  return out;
}

Value Emitter::shuffle_value(std::string_view mode, Value value, Value by, Value bounds,
                             Value mask) {
  value = code_.in_register(value);
  if (value.cls == Class::Rd) {
    std::vector<Value> halves = code_.pure_vector("mov.b64", Class::R, 2, {value});
    for (Value& half : halves) half = shuffle_value(mode, half, by, bounds, mask);
    return code_.pure("mov.b64", Class::Rd, {vector_arg(halves)});
  }
  if (value.cls == Class::Rs) {
    const Value wide = code_.pure("cvt.u32.u16", Class::R, {value});
    return code_.pure("cvt.u16.u32", Class::Rs, {shuffle_value(mode, wide, by, bounds, mask)});
  }
  const Value out = code_.new_register(Class::R);
  code_.add(fmt::format("shfl.sync.{}.b32", mode), {out, value, by, bounds, mask});
  return out;
}

// --- votes ---------------------------------------------------------------------------------------

Value Emitter::vote(const ir::Expr& e) {
  const Value mask = cast(eval(e.args[0]), f_[e.args[0]].type.dtype, DType::Uint32);
  const Value holds = code_.in_register(predicate(e.args[1]));
  const bool is_ballot = e.callee == Intrinsic::Ballot;
  const Value out = code_.new_register(is_ballot ? Class::R : Class::P);
  const std::string_view mode = is_ballot                        ? "ballot.b32"
                                : e.callee == Intrinsic::AnySync ? "any.pred"
                                                                 : "all.pred";
  code_.add(fmt::format("vote.sync.{}", mode), {out, holds, mask});
  return out;
}

Value Emitter::elect() {
  const Value is_elected = code_.new_register(Class::P);
  code_.add("elect.sync", {pair_arg(Arg(), is_elected), int_value(kAllLanes)});
  return as_int(is_elected);
}

// --- reductions ----------------------------------------------------------------------------------

Value Emitter::combine(std::string_view op, DType type, Value a, Value b) {
  const ExprOp with = op == "max" ? ExprOp::Max : op == "min" ? ExprOp::Min : ExprOp::Add;
  if (is_float(type)) return float_op(with, type, a, b);
  if (type == DType::Bool) return bool_op(with, a, b);
  return int_op(with, type, a, b, {});
}

Value Emitter::reduce_lanes(std::string_view op, DType type, Value value, std::int64_t width) {
  for (std::int64_t by = width / 2; by > 0; by /= 2) {
    const bool is_bool = type == DType::Bool;
    Value other = shuffle_value("bfly", is_bool ? as_int(value) : value, int_value(by),
                                int_value(31), int_value(kAllLanes));
    if (is_bool) other = compare(ExprOp::Ne, DType::Int32, other, int_value(0));
    value = combine(op, type, value, other);
  }
  return value;
}

// The number of the thread in its CTA.
Value Emitter::thread_number() {
  const auto id = [&](std::string_view axis) {
    return code_.pure("mov.u32", Class::R, {special_arg(fmt::format("%tid.{}", axis))});
  };
  Value number = id("x");
  if (shape_.block[1] > 1)
    number = code_.pure("mad.lo.u32", Class::R, {id("y"), int_value(shape_.block[0]), number});
  if (shape_.block[2] > 1)
    number = code_.pure("mad.lo.u32", Class::R,
                        {id("z"), int_value(shape_.block[0] * shape_.block[1]), number});
  return number;
}

// Every warp reduces its lanes and leaves the result in the scratch memory; every thread then
// combines the warps' results, pairwise where their number is a power of two.
Value Emitter::cta_reduce(const ir::Expr& e) {
  const std::string op = text_of(e.args[1]);
  const DType type = e.type.dtype;
  const std::int64_t warps = constant_of(f_, e.args[2], ranges_).value_or(shape_.warps());
  const Address scratch = address(e.args[3]);
  const Value own = code_.snapshot(reduce_lanes(op, type, eval(e.args[0]), kLanes));
  const Value thread = thread_number();
  code_.add("bar.sync", {int_value(0)});
  Address mine = scratch;
  mine.terms.push_back({.value = code_.pure("shr.u32", Class::R, {thread, int_value(5)}),
                        .scale = storage_bits(type) / 8});
  const Value lane = code_.pure("and.b32", Class::R, {thread, int_value(31)});
  const Guard is_first{code_.pure("setp.eq.s32", Class::P, {lane, int_value(0)})};
  store_run(mine, type, {own}, code_.now(), is_first);
  code_.add("bar.sync", {int_value(0)});
  Lanes parts = load_run(scratch, type, static_cast<std::size_t>(warps));
  if (std::has_single_bit(parts.size())) {
    for (std::size_t by = parts.size() / 2; by > 0; by /= 2)
      for (std::size_t i = 0; i < by; ++i) parts[i] = combine(op, type, parts[i], parts[i + by]);
  } else {
    for (std::size_t i = 1; i < parts.size(); ++i) parts[0] = combine(op, type, parts[0], parts[i]);
  }
  return parts[0];
}

// --- barriers ------------------------------------------------------------------------------------

void Emitter::barrier(const ir::Expr& e) {
  switch (e.callee) {
    case Intrinsic::StorageSync:
      if (text_of(e.args[0]) == "warp")
        code_.add("bar.warp.sync", {int_value(kAllLanes)});
      else
        code_.add("bar.sync", {int_value(0)});
      return;
    case Intrinsic::WarpSync:
      return code_.add("bar.warp.sync", {int_value(kAllLanes)});
    case Intrinsic::WarpgroupSync:
      return code_.add("bar.sync", {cast(eval(e.args[0]), f_[e.args[0]].type.dtype, DType::Int32),
                                    int_value(128)});
    case Intrinsic::ClusterSync:
      code_.add("barrier.cluster.arrive.aligned", {});
      return code_.add("barrier.cluster.wait.aligned", {});
    case Intrinsic::ThreadFence:
      return code_.add("fence.sc.gpu", {});
    case Intrinsic::MbarrierWait:
      return mbarrier_wait(e);
    default:
      return code_.add("bar.sync", {int_value(0)});
  }
}

void Emitter::mbarrier_wait(const ir::Expr& e) {
  const bool has_try = options_.target.has(target::Feature::Sm90) && options_.target.ptx >= 78;
  const Arg where = space_address(address(e.args[0]), isa::Space::Shared);
  const Value parity = code_.snapshot(
      code_.in_register(cast(eval(e.args[1]), f_[e.args[1]].type.dtype, DType::Uint32)));
  const Value is_over = code_.new_register(Class::P);
  const std::string again = code_.new_label("wait");
  code_.add_label(again);
  code_.add(fmt::format("mbarrier.{}.parity.shared.b64", has_try ? "try_wait" : "test_wait"),
            {is_over, where, parity});
  code_.add("bra", {label_arg(again)}, {is_over, true});
}

}  // namespace ww::emit::to_ptx
