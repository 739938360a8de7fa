// SPDX-License-Identifier: Apache-2.0
#include "ir/gemm_factors.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ir/print/print.h"

namespace ww::ir {
namespace {

using num::DType;

GemmFactor of_expr(const Function& f, ExprId expr) {
  const Expr& e = f[expr];
  if (e.op == ExprOp::FloatImm) return {.constant = e.real};
  if (const auto number = const_int(f, expr)) return {.constant = static_cast<double>(*number)};
  return {.constant = {}, .expr = expr};
}

bool is_int32(double value) {
  using Limits = std::numeric_limits<std::int32_t>;
  return value == std::floor(value) && value >= Limits::min() && value <= Limits::max();
}

bool is_fp8(DType type) { return type == DType::Float8E4M3fn || type == DType::Float8E5M2; }
bool is_int8(DType type) { return type == DType::Int8 || type == DType::Uint8; }

}  // namespace

GemmFactor gemm_factor(const Function& f, const TileArg& arg, double otherwise) {
  if (const auto* expr = std::get_if<ExprId>(&arg)) return of_expr(f, *expr);
  const auto* setting = std::get_if<Setting>(&arg);
  if (setting == nullptr) return {.constant = otherwise};
  if (const auto* expr = std::get_if<ExprId>(setting)) return of_expr(f, *expr);
  if (const auto* real = std::get_if<double>(setting)) return {.constant = *real};
  if (const auto* whole = std::get_if<std::int64_t>(setting))
    return {.constant = static_cast<double>(*whole)};
  const bool* flag = std::get_if<bool>(setting);
  return {.constant = flag == nullptr ? otherwise : *flag ? 1.0 : 0.0};
}

double gemm_number(double factor, DType d) {
  const bool is_float32 = num::kind_of(d) == num::DTypeKind::Float && d != DType::Float64;
  return is_float32 ? double{static_cast<float>(factor)} : factor;
}

std::optional<std::string> fault_of(const Function& f, const GemmFactor& factor,
                                    std::string_view name, DType d) {
  const auto says = [&](std::string_view wanted) {
    return fmt::format("{} is {}, and D is of {}, expected {}", name,
                       factor.constant ? fmt::format("{}", *factor.constant)
                                       : fmt::format("`{}`", print(f, factor.expr)),
                       num::name_of(d), wanted);
  };
  if (num::kind_of(d) != num::DTypeKind::Float) {
    const bool is_whole =
        factor.constant ? is_int32(*factor.constant) : f[factor.expr].type.is_int();
    return is_whole ? std::nullopt : std::optional(says("a whole number of int32"));
  }
  if (!factor.constant) return std::nullopt;
  const bool is_double = d == DType::Float64;
  const double most =
      is_double ? std::numeric_limits<double>::max() : double{std::numeric_limits<float>::max()};
  if (std::abs(*factor.constant) <= most) return std::nullopt;
  return says(is_double ? "a finite float64" : "a finite float32");
}

bool can_multiply(DType a, DType b) {
  return a == b || (is_int8(a) && is_int8(b)) || (is_fp8(a) && is_fp8(b));
}

}  // namespace ww::ir
