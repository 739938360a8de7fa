// SPDX-License-Identifier: Apache-2.0
#include "ir/elementwise.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "base/check.h"
#include "ir/settings.h"
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

// float64 where one of them is that, else float32.
DType wide_real_type(const std::vector<Brought>& all) {
  const auto is_double = [](const Brought& b) {
    return b.type == DType::Float64 && !(b.constant && is_exact(DType::Float32, *b.constant));
  };
  return std::ranges::any_of(all, is_double) ? DType::Float64 : DType::Float32;
}

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

namespace {

struct ElementRow {
  ElementGroup group = ElementGroup::Move;
  std::variant<std::monostate, ExprOp, Intrinsic> computed_by = {};
};
// By primitive; those that are not elementwise have an empty row.
constexpr ElementRow kRows[] = {
#define WW_TILE_OP(id, name, parameters) {},
#define WW_ELEMENTWISE(id, name, parameters, group, computed_by) {ElementGroup::group, computed_by},
#include "ir/tile_ops.def"
};

const ElementRow& row_of(TileOp op) { return kRows[static_cast<std::size_t>(op)]; }

template <typename T>
const T* computed_by(TileOp op) {
  return std::get_if<T>(&row_of(op).computed_by);
}

}  // namespace

ElementGroup group_of(TileOp op) { return row_of(op).group; }

bool is_function(TileOp op) { return group_of(op) == ElementGroup::Function; }
bool has_operator(TileOp op) { return computed_by<ExprOp>(op) != nullptr; }

bool computes(TileOp op) {
  return group_of(op) != ElementGroup::Move && group_of(op) != ElementGroup::Choice;
}

bool gives_bool(TileOp op) {
  return group_of(op) == ElementGroup::Comparison || group_of(op) == ElementGroup::Logic;
}

ExprOp operator_of(TileOp op) {
  const ExprOp* found = computed_by<ExprOp>(op);
  WW_CHECK(found != nullptr, "`{}` has no operator of two operands", name_of(op));
  return *found;
}

std::optional<Intrinsic> callee_of(TileOp op) {
  const Intrinsic* found = computed_by<Intrinsic>(op);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

bool is_condition(TileOp op, std::size_t i) {
  const ElementGroup group = group_of(op);
  return group == ElementGroup::Logic || (group == ElementGroup::Choice && i == 2);
}

std::vector<const TileArg*> operands_of(const TileCall& call) {
  const auto given = [&](std::size_t i) -> const TileArg* {
    const bool is_there =
        i < call.args.size() && !std::holds_alternative<std::monostate>(call.args[i]);
    return is_there ? &call.args[i] : nullptr;
  };
  const TileArg* src = given(1) != nullptr ? given(1) : given(0);
  if (call.op == TileOp::Zero) return {};
  if (call.op == TileOp::Where) return {given(2), given(3), given(1)};
  if (call.op == TileOp::Fma || call.op == TileOp::Clamp || call.op == TileOp::Select)
    return {given(1), given(2), given(3)};
  if (has_operator(call.op) || call.op == TileOp::Pow) return {given(1), given(2)};
  if (is_function(call.op)) return {src, given(3), given(2)};  // src·scale + bias
  return {src};
}

CastSettings cast_settings(const TileCall& call) {
  if (call.op != TileOp::Cast) return {};
  constexpr std::pair<std::string_view, num::Rounding> kWords[] = {
      {"rn", num::Rounding::NearestEven},
      {"rna", num::Rounding::NearestAway},
      {"rz", num::Rounding::TowardZero},
      {"rm", num::Rounding::Down},
      {"rp", num::Rounding::Up}};
  CastSettings out;
  const std::string word = word_of(find_setting(call, "round"));
  for (const auto& [name, rounding] : kWords)
    if (word == name) out.round = rounding;
  if (const Setting* flag = find_setting(call, "saturate")) out.saturate = is_true(flag);
  return out;
}

namespace {

bool is_real(const Brought& b) { return is_float(b.type); }

// The float type that they have in common: `like`, which may be one of 16 bits or more.
DType real_type(const std::vector<Brought>& all, DType like) {
  const auto agrees = [&](const Brought& b) {
    return b.constant ? is_exact(like, *b.constant) : b.type == like;
  };
  const bool has_own = is_float(like) && num::bits_of(like) >= 16 && like != DType::Tfloat32;
  if (has_own && std::ranges::all_of(all, agrees)) return like;
  return wide_real_type(all);
}

// What operands are compared in; those of one type in that.
DType compared_type(const Function& f, const TileCall& call, const std::vector<Brought>& all) {
  const auto varies = std::ranges::find_if(all, [](const Brought& b) { return !b.constant; });
  if (varies == all.end()) return wide_real_type(all);  // no variant takes constants alone
  const DType like = varies->type;
  if (std::ranges::any_of(all, is_real)) return real_type(all, like);
  for (const TileArg* arg : operands_of(call)) {
    const auto constant = constant_operand(f, *arg);
    const DType type = like == DType::Bool ? DType::Int32 : like;
    if (constant ? !holds(type, *constant) : brought_by(f, *arg).type != like) return DType::Int64;
  }
  return like == DType::Bool ? DType::Int32 : like;
}

}  // namespace

DType compute_type(const Function& f, const TileCall& call) {
  std::vector<Brought> all;
  for (const TileArg* arg : operands_of(call))
    if (arg != nullptr) all.push_back(brought_by(f, *arg));
  const ElementGroup group = group_of(call.op);
  if (group == ElementGroup::Comparison) return compared_type(f, call, all);
  if (group == ElementGroup::Logic) return DType::Bool;
  all.push_back(brought_by(f, call.args[0]));
  const DType dst = all.back().type;
  if (group == ElementGroup::Function || group == ElementGroup::Power) return wide_real_type(all);
  return std::ranges::any_of(all, is_real) ? real_type(all, dst) : dst;
}

}  // namespace ww::ir
