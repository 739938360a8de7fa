// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/factors.h"

#include <bit>
#include <cmath>

#include "ir/equal.h"
#include "ir/gemm_factors.h"

namespace ww::lower {

using ir::ExprId;
using ir::ExprOp;

Factors::Factors(const Call& call, bool is_beta_zero)
    : f_(call.f()),
      type_(call.f()[call.region(0).buffer].dtype),
      alpha_(read(call.tile.args[ir::kGemmAlpha], 1, 1)),
      beta_(read(call.tile.args[ir::kGemmBeta], 0, 2)) {
  if (is_beta_zero) beta_.number = 0;
  if (is_runtime(alpha_) && is_runtime(beta_) && ir::same(f_, alpha_.expr, beta_.expr))
    alpha_.number = beta_.number;
}

bool Factors::keeps(ir::Type type) const {
  const bool is_alike = type.is_scalar() && num::kind_of(type.dtype) == num::kind_of(type_);
  return is_alike && num::bits_of(type.dtype) >= num::bits_of(type_);
}

std::optional<Number> Factors::runtime_of(ExprId expr, bool has_changed) const {
  expr = without_casts(expr);
  if (has_changed && f_[expr].op != ExprOp::Var) return std::nullopt;
  for (const Factor* one : {&alpha_, &beta_})
    if (is_runtime(*one) && ir::same(f_, one->expr, expr)) return one->number;
  return std::nullopt;
}

// Whole numbers stand for themselves; others are told apart by their value in the precision in
// which D is computed.
Number Factors::number_of(double value) const {
  value = ir::gemm_number(value, type_);
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return static_cast<Number>(static_cast<std::int64_t>(value));
  return mixed(kOfFactor, std::bit_cast<Number>(value)) | 1U;
}

ExprId Factors::without_casts(ExprId expr) const {
  while (f_[expr].op == ExprOp::Cast && keeps(f_[expr].type)) expr = f_[expr].args[0];
  return expr;
}

std::optional<Number> Factors::constant(ExprId expr) const {
  if (f_[expr].op == ExprOp::FloatImm) return number_of(f_[expr].real);
  if (const auto whole = ir::const_int(f_, expr)) return static_cast<Number>(*whole);
  return std::nullopt;
}

Factors::Factor Factors::read(const ir::TileArg& arg, double otherwise, Number id) const {
  const auto* expr = std::get_if<ExprId>(&arg);
  const auto* setting = std::get_if<ir::Setting>(&arg);
  if (expr == nullptr && setting != nullptr) expr = std::get_if<ExprId>(setting);
  if (expr != nullptr) {
    const ExprId inner = without_casts(*expr);
    if (const auto number = constant(inner)) return {{}, *number};
    return {inner, mixed(kOfText, id) | 1U};
  }
  if (setting == nullptr) return {{}, number_of(otherwise)};
  if (const auto* real = std::get_if<double>(setting)) return {{}, number_of(*real)};
  if (const auto* whole = std::get_if<std::int64_t>(setting))
    return {{}, static_cast<Number>(*whole)};
  const auto* flag = std::get_if<bool>(setting);
  return {{}, number_of(flag != nullptr ? double(*flag) : otherwise)};
}

}  // namespace ww::lower
