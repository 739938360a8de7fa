// SPDX-License-Identifier: Apache-2.0
#include "ir/verify/cluster_values.h"

namespace ww::ir::verifying {
namespace {

bool is_folded(ExprOp op) {
  switch (op) {
    case ExprOp::Add:
    case ExprOp::Sub:
    case ExprOp::Mul:
    case ExprOp::FloorDiv:
    case ExprOp::FloorMod:
    case ExprOp::Min:
    case ExprOp::Max:
    case ExprOp::BitAnd:
    case ExprOp::BitOr:
    case ExprOp::BitXor:
    case ExprOp::Shl:
    case ExprOp::Shr:
    case ExprOp::Eq:
    case ExprOp::Ne:
    case ExprOp::Lt:
    case ExprOp::Le:
    case ExprOp::Gt:
    case ExprOp::Ge:
    case ExprOp::And:
    case ExprOp::Or:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<Constant> ClusterValues::in_cta(ExprId expr, std::size_t rank) const {
  if (!expr.valid() || !f_[expr].type.is_scalar()) return std::nullopt;
  const Expr& e = f_[expr];
  if (e.op == ExprOp::IntImm) return Constant{.dtype = e.type.dtype, .integer = e.integer};
  return e.op == ExprOp::Var ? variable(e, rank) : operated(e, rank);
}

std::optional<Constant> ClusterValues::variable(const Expr& e, std::size_t rank) const {
  if (f_[e.var].kind == VarKind::Let && e.var.index < bound_.size())
    return in_cta(bound_[e.var.index], rank);
  const IdBinding& id = ids_[e.var.index];
  if (f_[e.var].kind != VarKind::ScopeId || !id.stmt.valid()) return std::nullopt;
  const Stmt& declared = f_[id.stmt];
  if (declared.scope_id != ScopeIdKind::CtaIdInCluster) return std::nullopt;
  const auto number = static_cast<std::int64_t>(rank);
  const auto& cluster = shape_.cluster;
  const ThreadPlace place{.cta = {number % cluster[0], number / cluster[0] % cluster[1],
                                  number / (cluster[0] * cluster[1])}};
  return Constant{.dtype = e.type.dtype,
                  .integer = scope_id_value(shape_, declared.scope_id, id.dim, declared.vars.size(),
                                            cluster, place)};
}

std::optional<Constant> ClusterValues::operated(const Expr& e, std::size_t rank) const {
  if (e.op != ExprOp::Cast && e.op != ExprOp::Not && !is_folded(e.op)) return std::nullopt;
  const auto a = in_cta(e.args[0], rank);
  if (!a) return std::nullopt;
  if (e.op == ExprOp::Cast)
    return e.type.is_int() || e.type.is_bool() ? std::optional(convert(*a, e.type.dtype))
                                               : std::nullopt;
  if (e.op == ExprOp::Not) return fold(e.op, *a);
  const auto b = in_cta(e.args[1], rank);
  if (!b) return std::nullopt;
  const auto out = fold(e.op, *a, *b);
  return out ? std::optional(*out) : std::nullopt;
}

std::optional<CtaMask> ClusterValues::where(ExprId condition) const {
  CtaMask out = 0;
  for (std::size_t rank = 0; rank < ctas(); ++rank) {
    const auto value = in_cta(condition, rank);
    if (!value) return std::nullopt;
    if (value->integer != 0) out = static_cast<CtaMask>(out | 1U << rank);
  }
  return out;
}

}  // namespace ww::ir::verifying
