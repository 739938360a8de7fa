// SPDX-License-Identifier: Apache-2.0
#include "ir/elementwise.h"

#include <algorithm>
#include <optional>

#include "ir/simplify/fold.h"

namespace ww::ir {
namespace {

using num::DType;

// What an operand brings along: its type and, of a constant, the number.
struct Brought {
  DType type;
  std::optional<double> constant;
};

double real_of(const Constant& constant) {
  return num::is_float(constant.dtype) ? constant.real : static_cast<double>(constant.integer);
}

Brought brought_by(const Function& f, const TileArg& arg) {
  if (const auto* region = std::get_if<Region>(&arg)) return {f[region->buffer].dtype, {}};
  if (const auto constant = constant_operand(f, arg)) return {constant->dtype, real_of(*constant)};
  const auto* expr = std::get_if<ExprId>(&arg);
  const auto* setting = std::get_if<Setting>(&arg);
  if (expr == nullptr && setting != nullptr) expr = std::get_if<ExprId>(setting);
  return {expr != nullptr ? f[*expr].type.dtype : DType::Bool, {}};
}

bool is_exact(DType type, double value) { return round_to(type, value) == value; }

}  // namespace

std::optional<Constant> constant_operand(const Function& f, const TileArg& arg) {
  const auto* expr = std::get_if<ExprId>(&arg);
  const auto* setting = std::get_if<Setting>(&arg);
  if (expr == nullptr && setting != nullptr) expr = std::get_if<ExprId>(setting);
  if (expr != nullptr) {
    const Expr& e = f[*expr];
    const bool is_constant = e.op == ExprOp::IntImm || e.op == ExprOp::FloatImm;
    return is_constant ? std::optional(Constant{e.type.dtype, e.integer, e.real}) : std::nullopt;
  }
  if (setting == nullptr) return std::nullopt;
  if (const auto* real = std::get_if<double>(setting)) return Constant{DType::Float64, 0, *real};
  if (const auto* whole = std::get_if<std::int64_t>(setting))
    return Constant{DType::Int64, *whole, 0};
  if (const auto* flag = std::get_if<bool>(setting)) return Constant{DType::Bool, *flag ? 1 : 0, 0};
  return std::nullopt;
}

bool is_function(TileOp op) {
  switch (op) {
    case TileOp::Sqrt:
    case TileOp::Exp:
    case TileOp::Exp2:
    case TileOp::Log2:
    case TileOp::Reciprocal:
    case TileOp::Silu:
      return true;
    default:
      return false;
  }
}

bool is_arithmetic(TileOp op) {
  switch (op) {
    case TileOp::Add:
    case TileOp::Sub:
    case TileOp::Mul:
    case TileOp::Fdiv:
    case TileOp::Maximum:
    case TileOp::Minimum:
      return true;
    default:
      return false;
  }
}

bool computes(TileOp op) { return is_function(op) || is_arithmetic(op) || op == TileOp::Fma; }

ExprOp operator_of(TileOp op) {
  switch (op) {
    case TileOp::Add:
      return ExprOp::Add;
    case TileOp::Sub:
      return ExprOp::Sub;
    case TileOp::Mul:
      return ExprOp::Mul;
    case TileOp::Fdiv:
      return ExprOp::Div;
    case TileOp::Maximum:
      return ExprOp::Max;
    default:
      return ExprOp::Min;
  }
}

std::vector<const TileArg*> operands_of(const TileCall& call) {
  const auto given = [&](std::size_t i) -> const TileArg* {
    const bool is_there =
        i < call.args.size() && !std::holds_alternative<std::monostate>(call.args[i]);
    return is_there ? &call.args[i] : nullptr;
  };
  const TileArg* src = given(1) != nullptr ? given(1) : given(0);
  if (call.op == TileOp::Zero) return {};
  if (call.op == TileOp::Fma || call.op == TileOp::Select) return {given(1), given(2), given(3)};
  if (is_arithmetic(call.op)) return {given(1), given(2)};
  if (is_function(call.op)) return {src, given(3), given(2)};  // src·scale + bias
  return {src};
}

DType compute_type(const Function& f, const TileCall& call) {
  std::vector<Brought> all{brought_by(f, call.args[0])};
  for (const TileArg* arg : operands_of(call))
    if (arg != nullptr) all.push_back(brought_by(f, *arg));
  const DType dst = all[0].type;
  const auto is_real = [](const Brought& b) { return is_float(b.type); };
  if (!is_function(call.op) && std::none_of(all.begin(), all.end(), is_real)) return dst;
  const auto agrees = [&](const Brought& b) {
    return b.constant ? is_exact(dst, *b.constant) : b.type == dst;
  };
  const bool has_own = is_float(dst) && num::bits_of(dst) >= 16 && dst != DType::Tfloat32;
  if (!is_function(call.op) && has_own && std::all_of(all.begin(), all.end(), agrees)) return dst;
  const auto is_double = [](const Brought& b) {
    return b.type == DType::Float64 && !(b.constant && is_exact(DType::Float32, *b.constant));
  };
  return std::any_of(all.begin(), all.end(), is_double) ? DType::Float64 : DType::Float32;
}

}  // namespace ww::ir
