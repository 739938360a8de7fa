// SPDX-License-Identifier: Apache-2.0
#include "lower/gemm/problem.h"

#include <algorithm>

#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/print/printer.h"
#include "ir/settings.h"

namespace ww::lower {
namespace {

// --- overlap -------------------------------------------------------------------------------------

/// How the places of two operands lie to each other.
enum class Overlap : std::uint8_t { None, Same, Some, Unknown };
Overlap overlap_of(const Call& call, const OperandPlaces& a, const OperandPlaces& b) {
  if (ir::storage_of(call.f(), a.buffer) != ir::storage_of(call.f(), b.buffer))
    return Overlap::None;
  const auto x = bit_places(call, a);
  const auto y = bit_places(call, b);
  if (!x || !y) return Overlap::Unknown;
  if (a.bits == b.bits && *x == *y && a.owner == b.owner) return Overlap::Same;
  std::vector<std::int64_t> taken = *x;
  std::ranges::sort(taken);
  for (const std::int64_t bit : *y) {
    const auto after = std::ranges::upper_bound(taken, bit);
    const bool hits_next = after != taken.end() && *after < bit + b.bits;
    const bool hits_last = after != taken.begin() && *(after - 1) + a.bits > bit;
    if (hits_next || hits_last) return Overlap::Some;
  }
  return Overlap::None;
}

Unexpected<Decline> overlapping(const Call& call, std::size_t argument, Overlap how) {
  return decline("overlap", "{} {} D in the registers of `{}`", kRoleNames[argument],
                 how == Overlap::Unknown ? "may overlap" : "overlaps",
                 call.f()[ir::storage_of(call.f(), call.region(argument).buffer)].name);
}

Match<void> check_overlap(const Call& call, GemmCall& out) {
  const GemmProblem& p = out.problem;
  for (const std::size_t i : {1U, 2U}) {
    const Overlap how = overlap_of(call, p.d, i == 1 ? p.a : p.b);
    if (how != Overlap::None) return overlapping(call, i, how);
  }
  if (!p.c) return {};
  out.is_in_place = is_same_region(call, call.region(0), call.region(3));
  const Overlap how = out.is_in_place ? Overlap::Same : overlap_of(call, p.d, *p.c);
  out.is_in_place = how == Overlap::Same;
  if (how == Overlap::Some || how == Overlap::Unknown) return overlapping(call, 3, how);
  return {};
}

}  // namespace

bool is_same_region(const Call& call, const ir::Region& a, const ir::Region& b) {
  if (a.buffer != b.buffer) return false;
  for (std::size_t d = 0; d < a.ranges.size(); ++d)
    if (!ir::same(call.f(), a.ranges[d].min, b.ranges[d].min) ||
        !ir::same(call.f(), a.ranges[d].extent, b.ranges[d].extent))
      return false;
  return true;
}

Match<void> check_in_registers(const Call& call, std::size_t argument) {
  const ir::Scope scope = call.memory(argument);
  if (scope == ir::Scope::Local) return {};
  const bool can_stage = ir::is_shared(scope) && (argument == 1 || argument == 2);
  return decline("scope", "gemm mma requires {} in register (local) scope, got {}{}",
                 kRoleNames[argument], ir::name_of(scope),
                 can_stage ? "; `stage=True` copies it into registers first" : "");
}

Match<bool> flag_of(const Call& call, std::string_view name) {
  const ir::Setting* setting = call.setting(name);
  if (setting == nullptr) return false;
  if (const bool* flag = std::get_if<bool>(setting)) return *flag;
  return decline("config", "`{}` is {}, expected True or False", name,
                 ir::printing::setting(ir::printing::Context(call.f()), *setting));
}

Match<std::pair<std::int64_t, std::int64_t>> matrix_extents(const Call& call, std::size_t argument,
                                                            std::string_view role) {
  ExprWriter write(call.f(), call.context.facts, call.span);
  std::vector<std::int64_t> out;
  for (const ir::RangeExpr& range : call.region(argument).ranges) {
    const auto extent = write.constant(write.simplify(range.extent));
    if (!extent)
      return decline("extents", "an extent of {} is `{}`, known at run time only", role,
                     ir::print(call.f(), range.extent));
    if (*extent != 1) out.push_back(*extent);
  }
  if (out.size() != 2)
    return decline("extents", "{} has {} extents other than 1, expected 2", role, out.size());
  return std::pair(out[0], out[1]);
}

Match<GemmSizes> gemm_sizes(const Call& call) {
  GemmSizes out;
  const auto d = WW_TRY(matrix_extents(call, 0, kRoleNames[0]));
  const auto a = WW_TRY(matrix_extents(call, 1, kRoleNames[1]));
  out.turns_a = ir::is_true(call.tile.args[4]);
  out.turns_b = ir::is_true(call.tile.args[5]);
  out.m = d.first;
  out.n = d.second;
  out.k = out.turns_a ? a.first : a.second;
  out.types = {.a = call.buffer(1).dtype, .b = call.buffer(2).dtype, .out = call.buffer(0).dtype};
  return out;
}

Match<GemmCall> gemm_call(const Call& call) {
  GemmCall out;
  out.alpha = ir::gemm_factor(call.f(), call.tile.args[ir::kGemmAlpha], 1);
  out.beta = ir::gemm_factor(call.f(), call.tile.args[ir::kGemmBeta], 0);
  const num::DType d = call.buffer(0).dtype;
  for (const auto& [name, factor] : {std::pair("alpha", &out.alpha), {"beta", &out.beta}}) {
    if (const auto fault = ir::fault_of(call.f(), *factor, name, d))
      return decline("factor", "{}", *fault);
    if (factor->constant) factor->constant = ir::gemm_number(*factor->constant, d);
  }
  WW_TRY_VOID(flag_of(call, "stage"));
  const bool uses_c = !out.beta.is(0);
  for (std::size_t i = 0; i < (uses_c ? 4U : 3U); ++i) WW_TRY_VOID(check_in_registers(call, i));
  GemmProblem& p = out.problem;
  static_cast<GemmSizes&>(p) = WW_TRY(gemm_sizes(call));
  p.d = WW_TRY(operand_places(call, 0));
  p.a = WW_TRY(operand_places(call, 1));
  p.b = WW_TRY(operand_places(call, 2));
  if (uses_c) p.c = WW_TRY(operand_places(call, 3));
  WW_TRY_VOID(check_overlap(call, out));
  return out;
}

}  // namespace ww::lower
