// SPDX-License-Identifier: Apache-2.0
// Expressions. A vector is computed lane by lane.
#include "emit/ptx/exprs.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "emit/ptx/calls.h"
#include "emit/ptx/casts.h"
#include "emit/ptx/integers.h"
#include "emit/ptx/memory.h"
#include "num/float_format.h"

namespace ww::emit::to_ptx {
namespace {

// --- constants -----------------------------------------------------------------------------------

Value constant(const Expr& e) {
  if (e.op == ExprOp::FloatImm) return float_constant(e.type.dtype, e.real);
  std::int64_t number = e.integer;
  if (e.type.dtype == DType::Uint32) number &= 0xffffffff;
  return int_value(number, class_of(e.type.dtype));
}

// --- choices -------------------------------------------------------------------------------------

// Reads nothing and does nothing, so that it may be computed where it is not wanted.
bool is_free(const Context& c, ExprId id) {
  const Expr& e = c.f[id];
  if (e.op == ExprOp::Load) {
    if (!c.locals.plan(ir::storage_of(c.f, e.buffer)).in_registers) return false;
  }
  if (e.op == ExprOp::Call && ir::facts_of(e.callee).effect != ir::Effect::Pure) return false;
  return std::ranges::all_of(e.args, [&](ExprId arg) { return is_free(c, arg); });
}

// --- operators -----------------------------------------------------------------------------------

// The right side is computed only where it is needed, unless computing it does no harm.
Value logic(Context& c, const Expr& e) {
  const Value left = eval(c, e.args[0]);
  if (left.is_constant()) {
    const bool decides = (left.bits != 0) == (e.op == ExprOp::Or);
    return decides ? left : eval(c, e.args[1]);
  }
  if (is_free(c, e.args[1])) return bool_op(c, e.op, left, eval(c, e.args[1]));
  const Value result = c.code.new_variable(Class::P);
  c.code.add("mov.pred", {result, left});
  c.locals.settle();
  const std::string end = c.code.new_label("end");
  c.code.jump(end, {left, e.op == ExprOp::And});
  const Kept kept = c.kept;
  c.code.open_scope(false);
  const std::uint32_t since = c.code.now();
  c.code.assign(result, eval(c, e.args[1]), since);
  c.locals.settle();
  c.code.close_scope();
  c.kept = kept;
  c.code.add_label(end);
  return c.code.snapshot(result);
}

Value binary_lane(Context& c, const Expr& e, DType type, Value a, Value b) {
  const bool is_compare = ir::group_of(e.op) == ir::ExprGroup::Compare;
  if (is_float(type))
    return is_compare ? float_compare(c, e.op, type, a, b) : float_op(c, e.op, type, a, b);
  if (type == DType::Bool) return bool_op(c, e.op, a, b);
  return is_compare ? compare(c, e.op, type, a, b) : int_op(c, e.op, type, a, b, e);
}

Lanes binary(Context& c, const Expr& e) {
  const ir::Type type = c.f[e.args[0]].type;
  if (e.op == ExprOp::Add && e.type.is_int() && e.type.lanes == 1) {
    if (const Value fused_value = mad(c, e); fused_value.kind != ValueKind::None)
      return {fused_value};
  }
  const Lanes a = lanes(c, e.args[0]);
  const Lanes b = lanes(c, e.args[1]);
  Lanes out;
  for (std::size_t i = 0; i < a.size(); ++i)
    out.push_back(binary_lane(c, e, type.is_pointer() ? DType::Uint64 : type.dtype, a[i],
                              b[std::min(i, b.size() - 1)]));
  return out;
}

Lanes unary(Context& c, const Expr& e) {
  Lanes out = lanes(c, e.args[0]);
  const DType type = c.f[e.args[0]].type.dtype;
  for (Value& value : out) {
    if (type == DType::Bool)
      value = e.op == ExprOp::Neg ? value : negated(c, value);
    else if (e.op == ExprOp::Not)
      value = negated(c, is_not_zero(c, type, value));
    else
      value = is_float(type) ? float_unary(c, e.op, type, value) : int_unary(c, e.op, type, value);
  }
  return out;
}

// --- choices -------------------------------------------------------------------------------------

Lanes select(Context& c, const Expr& e) {
  const Lanes condition = lanes(c, e.args[0]);
  Lanes yes = lanes(c, e.args[1]);
  const Lanes no = lanes(c, e.args[2]);
  for (std::size_t i = 0; i < yes.size(); ++i)
    yes[i] = choose(c, condition[std::min(i, condition.size() - 1)], yes[i], no[i]);
  return yes;
}

// `mov %r, other; @%p ld %r, […]`
Lanes guarded_load(Context& c, const Expr& e, Value condition, std::size_t loaded) {
  const Value other = eval(c, e.args[3 - loaded]);
  const Value result = c.code.new_register(other.cls);
  const Guard guard{condition, loaded == 2};
  const Expr& from = c.f[e.args[loaded]];
  const Address place = element(c, from.buffer, from.args);
  const Arg where = operand(c, place);
  c.code.add(fmt::format("mov.{}", type_of(other.cls)), {result, other});
  c.code.add(fmt::format("ld{}.{}", suffix_of(place.space), memory_type(from.type.dtype)),
             {result, where}, guard);
  return {result};
}

Lanes branches(Context& c, const Expr& e, Value condition) {
  Lanes results;
  for (std::size_t i = 0; i < e.type.lanes; ++i)
    results.push_back(
        c.code.new_variable(e.type.is_pointer() ? Class::Rd : class_of(e.type.dtype)));
  c.locals.settle();
  const std::string other = c.code.new_label("else");
  const std::string end = c.code.new_label("end");
  const Kept kept = c.kept;
  c.code.jump(other, {c.code.in_register(condition), true});
  for (std::size_t side = 1; side <= 2; ++side) {
    c.code.open_scope(false);
    std::uint32_t since = c.code.now();
    const Lanes values = lanes(c, e.args[side]);
    if (values.size() > 1) since = c.code.now();  // lanes may be the same register
    for (std::size_t i = 0; i < results.size(); ++i) c.code.assign(results[i], values[i], since);
    c.locals.settle();
    c.code.close_scope();
    c.kept = kept;
    if (side == 1) c.code.jump(end);
    c.code.add_label(side == 1 ? other : end);
  }
  return results;
}

Lanes if_then_else(Context& c, const Expr& e) {
  const Value condition = predicate(c, e.args[0]);
  if (condition.is_constant()) return lanes(c, e.args[condition.bits != 0 ? 1 : 2]);
  const std::array<bool, 2> is_free_side = {is_free(c, e.args[1]), is_free(c, e.args[2])};
  if (is_free_side[0] && is_free_side[1]) return select(c, e);
  for (std::size_t side = 0; side < 2; ++side) {
    const Expr& loaded = c.f[e.args[side + 1]];
    const bool is_plain =
        loaded.op == ExprOp::Load && loaded.type.lanes == 1 && loaded.type.dtype != DType::Bool &&
        std::ranges::all_of(loaded.args, [&](ExprId arg) { return is_free(c, arg); });
    if (is_plain && is_free_side[1 - side]) return guarded_load(c, e, condition, side + 1);
  }
  return branches(c, e, condition);
}

// --- vectors -------------------------------------------------------------------------------------

Lanes ramp(Context& c, const Expr& e) {
  const Value first = eval(c, e.args[0]);
  if (e.op == ExprOp::Broadcast) return Lanes(e.type.lanes, first);
  const DType type = e.type.dtype;
  const Value stride = eval(c, e.args[1]);
  const std::string_view suffix = arith_type(type);
  Lanes out;
  for (std::int64_t i = 0; i < e.type.lanes; ++i)
    out.push_back(
        wrap(c, type, sum(c, suffix, first, product(c, suffix, int_value(i, first.cls), stride))));
  return out;
}

Lanes shuffle(Context& c, const Expr& e) {
  Lanes all;
  const auto vectors = static_cast<std::size_t>(e.integer);
  for (std::size_t i = 0; i < vectors; ++i)
    std::ranges::copy(lanes(c, e.args[i]), std::back_inserter(all));
  Lanes out;
  for (std::size_t i = vectors; i < e.args.size(); ++i) {
    const auto index = constant_of(c, e.args[i]);
    if (!index || *index < 0 || *index >= static_cast<std::int64_t>(all.size())) {
      refuse(c, "a lane of `T.Shuffle` is not a constant below {}", all.size());
      return Lanes(e.type.lanes, int_value(0));
    }
    out.push_back(all[static_cast<std::size_t>(*index)]);
  }
  return out;
}

Lanes compute(Context& c, const Expr& e) {
  switch (e.op) {
    case ExprOp::IntImm:
    case ExprOp::FloatImm:
      return Lanes(e.type.lanes, constant(e));
    case ExprOp::TextImm:
      return {int_value(0)};
    case ExprOp::Var: {
      const Bound& bound = c.vars[e.var.index];
      if (bound.address) return {generic(c, *bound.address)};
      return bound.lanes.empty() ? Lanes(e.type.lanes, int_value(0)) : bound.lanes;
    }
    case ExprOp::Load:
      return load(c, e);
    case ExprOp::AddressOf:
    case ExprOp::BufferData:
      return {generic(c, e.op == ExprOp::AddressOf ? element(c, e.buffer, e.args)
                                                   : start_of(c, ir::storage_of(c.f, e.buffer)))};
    case ExprOp::And:
    case ExprOp::Or:
      if (e.type.lanes == 1) return {logic(c, e)};
      return binary(c, e);
    case ExprOp::Neg:
    case ExprOp::BitNot:
    case ExprOp::Not:
      return unary(c, e);
    case ExprOp::Cast: {
      if (e.type.is_pointer()) return lanes(c, e.args[0]);
      Lanes out = lanes(c, e.args[0]);
      for (Value& value : out) value = cast(c, value, c.f[e.args[0]].type.dtype, e.type.dtype);
      return out;
    }
    case ExprOp::Reinterpret:
      return reinterpret(c, e);
    case ExprOp::Select:
      return select(c, e);
    case ExprOp::IfThenElse:
      return if_then_else(c, e);
    case ExprOp::Ramp:
    case ExprOp::Broadcast:
      return ramp(c, e);
    case ExprOp::Shuffle:
      return shuffle(c, e);
    case ExprOp::Call:
      return call(c, e);
    default:
      return binary(c, e);
  }
}

}  // namespace

Lanes lanes(Context& c, ExprId id) {
  const Expr& e = c.f[id];
  if (const auto found = c.kept.find(id.index); found != c.kept.end()) return found->second;
  if (e.op != ExprOp::IntImm && e.type.is_int() && e.type.is_scalar() && is_free(c, id)) {
    if (const auto number = constant_of(c, id)) return {int_value(*number, class_of(e.type.dtype))};
  }
  Lanes out = compute(c, e);
  // What a call does, it does each time; behind it, memory may hold something else.
  const bool is_call = e.op == ExprOp::Call && ir::facts_of(e.callee).effect != ir::Effect::Pure;
  if (e.has_effect && is_call) c.kept.clear();
  if (!e.has_effect && !is_call && !e.args.empty()) c.kept.insert_or_assign(id.index, out);
  return out;
}

Value eval(Context& c, ExprId expr) {
  const Lanes all = lanes(c, expr);
  return all.empty() ? int_value(0) : all[0];
}

Value eval_as(Context& c, ExprId expr, DType type) {
  return cast(c, eval(c, expr), c.f[expr].type.dtype, type);
}

Value predicate(Context& c, ExprId expr) {
  const Value value = eval(c, expr);
  const ir::Type type = c.f[expr].type;
  return type.is_bool() ? value : is_not_zero(c, type.dtype, value);
}

Value float_constant(DType type, double number) {
  if (type == DType::Float64) return f64_value(number);
  if (type == DType::Float32) return f32_value(static_cast<float>(number));
  const auto overflow = num::bits_of(type) <= 8 ? num::Overflow::Saturate : num::Overflow::Ieee;
  const auto bits = num::encode(type, number, num::Rounding::NearestEven, overflow);
  return int_value(static_cast<std::int64_t>(bits), class_of(type));
}

std::optional<std::int64_t> constant_of(const Context& c, ExprId expr) {
  return constant_of(c.f, expr, c.ranges);
}

Value choose(Context& c, Value condition, Value yes, Value no) {
  if (condition.is_constant()) return condition.bits != 0 ? yes : no;
  if (yes == no) return yes;
  if (yes.cls == Class::P) {
    const Value a = bool_op(c, ExprOp::And, condition, yes);
    const Value b = bool_op(c, ExprOp::And, negated(c, condition), no);
    return bool_op(c, ExprOp::Or, a, b);
  }
  if (yes.cls == Class::Rs) {
    yes = c.code.in_register(yes);
    no = c.code.in_register(no);
  }
  return c.code.pure(fmt::format("selp.{}", type_of(yes.cls)), yes.cls, {yes, no, condition});
}

}  // namespace ww::emit::to_ptx
