// SPDX-License-Identifier: Apache-2.0
// Expressions. A vector is computed lane by lane.
#include <algorithm>
#include <array>
#include <iterator>

#include "emit/ptx/emitter.h"
#include "num/float_format.h"

namespace ww::emit::to_ptx {

using ir::Expr;

bool is_signed(DType type) { return num::kind_of(type) == num::DTypeKind::Int; }

std::string_view arith_type(DType type) {
  switch (type) {
    case DType::Float64:
      return "f64";
    case DType::Float16:
      return "f16";
    case DType::Bfloat16:
      return "bf16";
    default:
      break;
  }
  if (is_float(type)) return "f32";
  if (num::bits_of(type) == 64) return is_signed(type) ? "s64" : "u64";
  return is_signed(type) || num::bits_of(type) < 32 ? "s32" : "u32";
}

std::string_view memory_type(DType type) {
  const bool is_int = is_signed(type);
  switch (storage_bits(type)) {
    case 8:
      return is_int ? "s8" : "u8";
    case 16:
      return is_float(type) ? "b16" : is_int ? "s16" : "u16";
    case 64:
      return "b64";
    default:
      return "b32";
  }
}

ir::Range Emitter::range(ExprId expr) const { return ranges_.range(expr); }

Value Emitter::eval(ExprId expr) {
  const Lanes all = lanes(expr);
  return all.empty() ? int_value(0) : all[0];
}

Emitter::Lanes Emitter::lanes(ExprId id) {
  const Expr& e = f_[id];
  if (const auto found = kept_.find(id.index); found != kept_.end()) return found->second;
  if (e.op != ExprOp::IntImm && e.type.is_int() && e.type.is_scalar() && is_free(id)) {
    if (const auto number = constant_of(f_, id, ranges_))
      return {int_value(*number, class_of(e.type.dtype))};
  }
  Lanes out = compute(e);
  // What a call does, it does each time; behind it, memory may hold something else.
  const bool has_effect = ir::has_effect(f_, id, effects_);
  const bool is_call = e.op == ExprOp::Call && ir::facts_of(e.callee).effect != ir::Effect::Pure;
  if (has_effect && is_call) kept_.clear();
  if (!has_effect && !is_call && !e.args.empty()) kept_.insert_or_assign(id.index, out);
  return out;
}

Emitter::Lanes Emitter::compute(const Expr& e) {
  switch (e.op) {
    case ExprOp::IntImm:
    case ExprOp::FloatImm:
      return Lanes(e.type.lanes, constant(e));
    case ExprOp::TextImm:
      return {int_value(0)};
    case ExprOp::Var: {
      const Bound& bound = vars_[e.var.index];
      if (bound.address) return {generic(*bound.address)};
      return bound.lanes.empty() ? Lanes(e.type.lanes, int_value(0)) : bound.lanes;
    }
    case ExprOp::Load:
      return load(e);
    case ExprOp::AddressOf:
    case ExprOp::BufferData:
      return {generic(e.op == ExprOp::AddressOf ? element(e.buffer, {e.args.begin(), e.args.size()})
                                                : start_of(ir::storage_of(f_, e.buffer)))};
    case ExprOp::And:
    case ExprOp::Or:
      if (e.type.lanes == 1) return {logic(e)};
      return binary(e);
    case ExprOp::Neg:
    case ExprOp::BitNot:
    case ExprOp::Not:
      return unary(e);
    case ExprOp::Cast: {
      if (e.type.is_pointer()) return lanes(e.args[0]);
      Lanes out = lanes(e.args[0]);
      for (Value& value : out) value = cast(value, f_[e.args[0]].type.dtype, e.type.dtype);
      return out;
    }
    case ExprOp::Reinterpret:
      return reinterpret(e);
    case ExprOp::Select:
      return select(e);
    case ExprOp::IfThenElse:
      return if_then_else(e);
    case ExprOp::Ramp:
    case ExprOp::Broadcast:
      return ramp(e);
    case ExprOp::Shuffle:
      return shuffle(e);
    case ExprOp::Call:
      return call(e);
    default:
      return binary(e);
  }
}

// --- constants -----------------------------------------------------------------------------------

Value Emitter::constant(const Expr& e) {
  if (e.op == ExprOp::FloatImm) return float_constant(e.type.dtype, e.real);
  std::int64_t number = e.integer;
  if (e.type.dtype == DType::Uint32) number &= 0xffffffff;
  return int_value(number, class_of(e.type.dtype));
}

Value Emitter::float_constant(DType type, double number) {
  if (type == DType::Float64) return f64_value(number);
  if (type == DType::Float32) return f32_value(static_cast<float>(number));
  const auto overflow = num::bits_of(type) <= 8 ? num::Overflow::Saturate : num::Overflow::Ieee;
  const auto bits = num::encode(type, number, num::Rounding::NearestEven, overflow);
  return int_value(static_cast<std::int64_t>(bits), class_of(type));
}

// --- operators -----------------------------------------------------------------------------------

Emitter::Lanes Emitter::binary(const Expr& e) {
  const ir::Type type = f_[e.args[0]].type;
  if (e.op == ExprOp::Add && e.type.is_int() && e.type.lanes == 1) {
    if (const Value fused_value = mad(e); fused_value.kind != Value::Kind::None)
      return {fused_value};
  }
  const Lanes a = lanes(e.args[0]);
  const Lanes b = lanes(e.args[1]);
  Lanes out;
  for (std::size_t i = 0; i < a.size(); ++i)
    out.push_back(binary_lane(e, type.is_pointer() ? DType::Uint64 : type.dtype, a[i],
                              b[std::min(i, b.size() - 1)]));
  return out;
}

Value Emitter::binary_lane(const Expr& e, DType type, Value a, Value b) {
  const bool is_compare = ir::group_of(e.op) == ir::ExprGroup::Compare;
  if (is_float(type))
    return is_compare ? float_compare(e.op, type, a, b) : float_op(e.op, type, a, b);
  if (type == DType::Bool) return bool_op(e.op, a, b);
  return is_compare ? compare(e.op, type, a, b) : int_op(e.op, type, a, b, e);
}

Emitter::Lanes Emitter::unary(const Expr& e) {
  Lanes out = lanes(e.args[0]);
  const DType type = f_[e.args[0]].type.dtype;
  for (Value& value : out) {
    if (type == DType::Bool)
      value = e.op == ExprOp::Neg ? value : negated(value);
    else if (e.op == ExprOp::Not)
      value = negated(is_not_zero(type, value));
    else
      value = is_float(type) ? float_unary(e.op, type, value) : int_unary(e.op, type, value);
  }
  return out;
}

Value Emitter::predicate(ExprId expr) {
  const Value value = eval(expr);
  const ir::Type type = f_[expr].type;
  return type.is_bool() ? value : is_not_zero(type.dtype, value);
}

// The right side is computed only where it is needed, unless computing it does no harm.
Value Emitter::logic(const Expr& e) {
  const Value left = eval(e.args[0]);
  if (left.is_constant()) {
    const bool decides = (left.bits != 0) == (e.op == ExprOp::Or);
    return decides ? left : eval(e.args[1]);
  }
  if (is_free(e.args[1])) return bool_op(e.op, left, eval(e.args[1]));
  const Value result = code_.new_variable(Class::P);
  code_.add("mov.pred", {result, left});
  locals_.settle();
  const std::string end = code_.new_label("end");
  code_.add("bra", {label_arg(end)}, {left, e.op == ExprOp::And});
  const Kept kept = kept_;
  code_.open_scope(false);
  const std::uint32_t since = code_.now();
  code_.assign(result, eval(e.args[1]), since);
  locals_.settle();
  code_.close_scope();
  kept_ = kept;
  code_.add_label(end);
  return code_.snapshot(result);
}

// --- choices -------------------------------------------------------------------------------------

Value Emitter::choose(Value condition, Value yes, Value no) {
  if (condition.is_constant()) return condition.bits != 0 ? yes : no;
  if (yes == no) return yes;
  if (yes.cls == Class::P) {
    const Value a = bool_op(ExprOp::And, condition, yes);
    const Value b = bool_op(ExprOp::And, negated(condition), no);
    return bool_op(ExprOp::Or, a, b);
  }
  if (yes.cls == Class::Rs) {
    yes = code_.in_register(yes);
    no = code_.in_register(no);
  }
  return code_.pure(fmt::format("selp.{}", type_of(yes.cls)), yes.cls, {yes, no, condition});
}

Emitter::Lanes Emitter::select(const Expr& e) {
  const Lanes condition = lanes(e.args[0]);
  Lanes yes = lanes(e.args[1]);
  const Lanes no = lanes(e.args[2]);
  for (std::size_t i = 0; i < yes.size(); ++i)
    yes[i] = choose(condition[std::min(i, condition.size() - 1)], yes[i], no[i]);
  return yes;
}

// Reads nothing and does nothing, so that it may be computed where it is not wanted.
bool Emitter::is_free(ExprId id) const {
  const Expr& e = f_[id];
  if (e.op == ExprOp::Load) {
    const BufferId storage = ir::storage_of(f_, e.buffer);
    if (!locals_.plan(storage).in_registers) return false;
  }
  if (e.op == ExprOp::Call && ir::facts_of(e.callee).effect != ir::Effect::Pure) return false;
  return std::ranges::all_of(e.args, [&](ExprId arg) { return is_free(arg); });
}

Emitter::Lanes Emitter::if_then_else(const Expr& e) {
  const Value condition = predicate(e.args[0]);
  if (condition.is_constant()) return lanes(e.args[condition.bits != 0 ? 1 : 2]);
  const std::array<bool, 2> is_free_side = {is_free(e.args[1]), is_free(e.args[2])};
  if (is_free_side[0] && is_free_side[1]) return select(e);
  for (std::size_t side = 0; side < 2; ++side) {
    const Expr& loaded = f_[e.args[side + 1]];
    const bool is_plain =
        loaded.op == ExprOp::Load && loaded.type.lanes == 1 && loaded.type.dtype != DType::Bool &&
        std::ranges::all_of(loaded.args, [&](ExprId arg) { return is_free(arg); });
    if (is_plain && is_free_side[1 - side]) return guarded_load(e, condition, side + 1);
  }
  return branches(e, condition);
}

// `mov %r, other; @%p ld %r, […]`
Emitter::Lanes Emitter::guarded_load(const Expr& e, Value condition, std::size_t loaded) {
  const Value other = eval(e.args[3 - loaded]);
  const Value result = code_.new_register(other.cls);
  const Guard guard{condition, loaded == 2};
  const Expr& from = f_[e.args[loaded]];
  const Address place = element(from.buffer, {from.args.begin(), from.args.size()});
  const Arg where = operand(place);
  code_.add(fmt::format("mov.{}", type_of(other.cls)), {result, other});
  code_.add(fmt::format("ld{}.{}", suffix_of(place.space), memory_type(from.type.dtype)),
            {result, where}, guard);
  return {result};
}

Emitter::Lanes Emitter::branches(const Expr& e, Value condition) {
  Lanes results;
  for (std::size_t i = 0; i < e.type.lanes; ++i)
    results.push_back(code_.new_variable(e.type.is_pointer() ? Class::Rd : class_of(e.type.dtype)));
  locals_.settle();
  const std::string other = code_.new_label("else");
  const std::string end = code_.new_label("end");
  const Kept kept = kept_;
  jump_unless(condition, other);
  for (std::size_t side = 1; side <= 2; ++side) {
    code_.open_scope(false);
    std::uint32_t since = code_.now();
    const Lanes values = lanes(e.args[side]);
    if (values.size() > 1) since = code_.now();  // lanes may be the same register
    for (std::size_t i = 0; i < results.size(); ++i) code_.assign(results[i], values[i], since);
    locals_.settle();
    code_.close_scope();
    kept_ = kept;
    if (side == 1) code_.add("bra", {label_arg(end)});
    code_.add_label(side == 1 ? other : end);
  }
  return results;
}

// --- vectors -------------------------------------------------------------------------------------

Emitter::Lanes Emitter::ramp(const Expr& e) {
  const Value first = eval(e.args[0]);
  if (e.op == ExprOp::Broadcast) return Lanes(e.type.lanes, first);
  const DType type = e.type.dtype;
  const Value stride = eval(e.args[1]);
  const std::string_view suffix = arith_type(type);
  Lanes out;
  for (std::int64_t i = 0; i < e.type.lanes; ++i)
    out.push_back(wrap(type, sum(suffix, first, product(suffix, int_value(i, first.cls), stride))));
  return out;
}

Emitter::Lanes Emitter::shuffle(const Expr& e) {
  Lanes all;
  const auto vectors = static_cast<std::size_t>(e.integer);
  for (std::size_t i = 0; i < vectors; ++i)
    std::ranges::copy(lanes(e.args[i]), std::back_inserter(all));
  Lanes out;
  for (std::size_t i = vectors; i < e.args.size(); ++i) {
    const auto index = constant_of(f_, e.args[i], ranges_);
    if (!index || *index < 0 || *index >= static_cast<std::int64_t>(all.size())) {
      refuse(DiagKind::NotEmitted, "a lane of `T.Shuffle` is not a constant below {}", all.size());
      return Lanes(e.type.lanes, int_value(0));
    }
    out.push_back(all[static_cast<std::size_t>(*index)]);
  }
  return out;
}

}  // namespace ww::emit::to_ptx
