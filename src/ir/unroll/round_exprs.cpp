// SPDX-License-Identifier: Apache-2.0
#include "ir/unroll/round_exprs.h"

#include <algorithm>
#include <utility>

#include "ir/build.h"
#include "ir/simplify/fold.h"
#include "ir/simplify/simplify.h"

namespace ww::ir {

namespace {

bool is_constant(const Function& f, ExprId id, std::int64_t wanted) {
  return const_int(f, id) == wanted;
}

// The sum's terms and its constant; none where there are none.
std::pair<ExprId, ExprId> sum_terms(const Function& f, ExprId id) {
  const Expr& e = f[id];
  if (e.op == ExprOp::IntImm) return {{}, id};
  if (e.op == ExprOp::Add && f[e.args[1]].op == ExprOp::IntImm) return {e.args[0], e.args[1]};
  return {id, {}};
}

// pointer_offset(address_of(A[i]), k) is address_of(A[i + k]).
ExprId folded_call(Function& f, Expr e) {
  if (e.callee != Intrinsic::PointerOffset) return f.add(std::move(e));
  Expr from = f[e.args[0]];
  if (from.op != ExprOp::AddressOf || from.type != e.type) return f.add(std::move(e));
  auto met = meet(f, {from.args[0], false}, {e.args[1], false}, "+");
  if (!met) return f.add(std::move(e));
  const ExprId index = folded_sum(f, met->first, met->second, {.span = e.span, .no_wrap = true});
  const auto at = const_int(f, index);
  const auto size = const_int(f, f[from.buffer].shape[0]);
  if (at && (*at < 0 || !size || *at >= *size)) return f.add(std::move(e));
  from.args = {index};
  return f.add(std::move(from));
}

// Constants are folded; what cannot be (a division by zero) stays as it is.
ExprId folded_op(Function& f, Expr e) {
  const auto is_number = [&](std::size_t i) { return const_int(f, e.args[i]).has_value(); };
  if (e.op == ExprOp::Add) return folded_sum(f, e.args[0], e.args[1], e);
  if (e.op == ExprOp::Mul && e.type.is_scalar() && e.type.is_int()) {
    if (is_number(0) && !is_number(1)) std::swap(e.args[0], e.args[1]);
    if (is_constant(f, e.args[1], 1)) return e.args[0];
    if (is_constant(f, e.args[1], 0)) return e.args[1];
  }
  if (e.op == ExprOp::Cast) return cast(f, e.args[0], e.type, e.span).value();
  if (arity_of(e.op) == 2 && e.op != ExprOp::Ramp)
    if (const auto made = binary_like(f, e, e.args[0], e.args[1])) return *made;
  if (arity_of(e.op) == 1 && group_of(e.op) == ExprGroup::Prefix)
    if (const auto made = unary(f, e.op, {e.args[0], false}, e.span)) {
      if (f[*made].op == e.op) f.set_no_wrap(*made, e.no_wrap);
      return *made;
    }
  return f.add(std::move(e));
}

}  // namespace

ExprId folded_sum(Function& f, ExprId a, ExprId b, Expr like) {
  like.op = ExprOp::Add;
  const auto plain = [&](ExprId x, ExprId y) { return binary_like(f, like, x, y).value(); };
  if (!f[a].type.is_int() || f[a].type.lanes > 1) return plain(a, b);
  const auto [x, c] = sum_terms(f, a);
  const auto [y, d] = sum_terms(f, b);
  for (const ExprId side : {a, b})
    if (f[side].op == ExprOp::Add && !f[side].no_wrap) like.no_wrap = false;
  ExprId terms = x.valid() && y.valid() ? plain(x, y) : x.valid() ? x : y;
  ExprId constant = c.valid() && d.valid() ? plain(c, d) : c.valid() ? c : d;
  if (!constant.valid() || (terms.valid() && is_constant(f, constant, 0))) return terms;
  return terms.valid() ? plain(terms, constant) : constant;
}

int RoundExprs::depth_of(ExprId id) {
  if (const int known = expr_depths_[id.index]; known != kUnknown) return known;
  const Expr& e = in_[id];
  int out = e.op == ExprOp::Var ? var_depths_[e.var.index] : kStays;
  if (e.buffer.valid()) out = std::max(out, buffer_depths_[e.buffer.index]);
  for (const ExprId arg : e.args) out = std::max(out, depth_of(arg));
  expr_depths_[id.index] = out;
  return out;
}

ExprId RoundExprs::value(ExprId id) {
  if (!id.valid() || !changes(id)) return id;
  Found<ExprId>& known = done_[id.index];
  if (lasts(known.round, id)) return known.value;
  const auto number_here = in_[id].op == ExprOp::Var ? std::nullopt : constant(id);
  const ExprId out = number_here ? number(in_[id].type.dtype, *number_here) : rebuilt(id);
  done_[id.index] = {round_, out};
  return out;
}

ExprId RoundExprs::number(num::DType type, std::int64_t value) {
  const std::uint32_t hash =
      spread(static_cast<std::uint64_t>(value) * 64 + static_cast<std::uint64_t>(type));
  const std::uint32_t known = numbers_.find(hash, [&](std::uint32_t index) {
    const Expr& e = out_[ExprId{index}];
    return e.type.dtype == type && e.integer == value;
  });
  if (known != HashIndex::kNone) return {known};
  const ExprId made = int_imm(out_, type, value);
  if (out_[made].integer == value) numbers_.add(hash, made.index);
  return made;
}

std::optional<std::int64_t> RoundExprs::constant(ExprId id) {
  const Expr& e = in_[id];
  if (e.op == ExprOp::IntImm) return e.integer;
  if (!e.type.is_scalar() || !(e.type.is_int() || e.type.is_bool()) || !changes(id))
    return std::nullopt;
  if (e.op == ExprOp::Var) {
    const ExprId value = values_[e.var.index];
    return value.valid() ? const_int(out_, value) : std::nullopt;
  }
  if (lasts(constants_[id.index].round, id)) return constants_[id.index].value;
  const auto out = folded_constant(e);
  constants_[id.index] = {round_, out};
  return out;
}

// As `folded_op` folds it: operands of one integer type.
std::optional<std::int64_t> RoundExprs::folded_constant(const Expr& e) {
  const bool is_binary = arity_of(e.op) == 2 && e.op != ExprOp::Ramp && e.op != ExprOp::Call;
  if (!is_binary && e.op != ExprOp::Cast) return std::nullopt;
  const Type type = in_[e.args[0]].type;
  if (!type.is_scalar() || !type.is_int()) return std::nullopt;
  const auto a = constant(e.args[0]);
  if (!a) return std::nullopt;
  if (e.op == ExprOp::Cast)
    return e.type.is_int() ? std::optional(convert({type.dtype, *a, 0}, e.type.dtype).integer)
                           : std::nullopt;
  const auto b = in_[e.args[1]].type == type ? constant(e.args[1]) : std::nullopt;
  if (!b) return std::nullopt;
  const auto out = fold(e.op, {type.dtype, *a, 0}, {type.dtype, *b, 0});
  return out && out->dtype == e.type.dtype ? std::optional(out->integer) : std::nullopt;
}

ExprId RoundExprs::rebuilt(ExprId id) {
  Expr e = in_[id];
  if (e.op == ExprOp::Var) {
    const ExprId known = values_[e.var.index];
    return known.valid() ? known : id;
  }
  for (ExprId& arg : e.args) arg = value(arg);
  switch (e.op) {
    case ExprOp::Load:
    case ExprOp::AddressOf:
      e.buffer = buffer(e.buffer);
      e.args[0] = simpler(in_[id].args[0], e.args[0]);
      return out_.add(std::move(e));
    case ExprOp::BufferData:
      e.buffer = buffer(e.buffer);
      return out_.add(std::move(e));
    case ExprOp::Select:
    case ExprOp::IfThenElse:
      if (const auto chosen = const_int(out_, e.args[0])) return e.args[*chosen != 0 ? 1 : 2];
      return out_.add(std::move(e));
    case ExprOp::Call:
      return folded_call(out_, std::move(e));
    default:
      return folded_op(out_, std::move(e));
  }
}

// Sums are already as simple as they get; where a quotient or a choice depends on the round and
// is not a constant in it, ranges help.
ExprId RoundExprs::simpler(ExprId before, ExprId after) {
  if (out_[after].op == ExprOp::IntImm || !is_hard(before)) return after;
  return simplified(after);
}

bool RoundExprs::is_hard(ExprId id) {
  if (!changes(id) || out_[value(id)].op == ExprOp::IntImm) return false;
  const Expr& e = in_[id];
  if (e.op == ExprOp::Var || e.op == ExprOp::Load) return false;
  if (e.op != ExprOp::Add && e.op != ExprOp::Mul && e.op != ExprOp::Cast) return true;
  for (const ExprId arg : e.args)
    if (is_hard(arg)) return true;
  return false;
}

}  // namespace ww::ir
