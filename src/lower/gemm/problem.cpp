// SPDX-License-Identifier: Apache-2.0
#include "lower/gemm/problem.h"

#include <algorithm>
#include <span>

#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/print/printer.h"
#include "ir/settings.h"
#include "isa/catalogue.h"
#include "isa/check.h"

namespace ww::lower {
namespace {

using num::DType;

struct TypeName {
  DType type;
  std::string_view name;  // in an opcode
};
constexpr TypeName kFactors[] = {
    {DType::Float16, "f16"},   {DType::Bfloat16, "bf16"},     {DType::Float32, "tf32"},
    {DType::Tfloat32, "tf32"}, {DType::Float64, "f64"},       {DType::Int8, "s8"},
    {DType::Uint8, "u8"},      {DType::Float8E4M3fn, "e4m3"}, {DType::Float8E5M2, "e5m2"}};
constexpr TypeName kSums[] = {{DType::Float16, "f16"},
                              {DType::Float32, "f32"},
                              {DType::Float64, "f64"},
                              {DType::Int32, "s32"}};

// Empty: mma has no operand of that type.
std::string_view name_in(std::span<const TypeName> types, DType type) {
  const auto row = std::ranges::find(types, type, &TypeName::type);
  return row == types.end() ? std::string_view{} : row->name;
}

Unexpected<Decline> no_such_types(const GemmTypes& types) {
  return decline("dtype", "no mma.sync for A {}, B {}, D {}", num::name_of(types.a),
                 num::name_of(types.b), num::name_of(types.out));
}

// False: no form has both, so that the opcode need not be read to find out why it is none.
bool may_exist(std::span<const isa::Form* const> forms, std::string_view shape,
               std::string_view type) {
  const auto takes = [](const isa::Form& form, isa::SlotName slot, std::string_view text) {
    const auto at = form.slot_index(slot);
    const auto word = isa::Word::find(text);
    return !at || (word && form.slots[*at].find(*word) != isa::Binding::kAbsent);
  };
  return std::ranges::any_of(forms, [&](const isa::Form* form) {
    return takes(*form, "shape", shape) && takes(*form, "atype", type);
  });
}

}  // namespace

Match<std::vector<MmaAtom>> atoms_of(const GemmTypes& types, bool may_cut, target::Target target) {
  const std::string_view a = name_in(kFactors, types.a), b = name_in(kFactors, types.b);
  const std::string_view out = name_in(kSums, types.out);
  if (a.empty() || b.empty() || out.empty()) return no_such_types(types);
  const std::vector<const isa::Form*> forms = isa::forms_of("mma");
  std::vector<MmaAtom> atoms;
  std::string missing;
  for (const int octets : {2, 1})
    for (const int groups : {4, 2, 1}) {
      const std::string shape = fmt::format("m{}n8k{}", 8 * octets, 4 * types.per_word() * groups);
      if (!may_exist(forms, shape, a)) continue;
      const std::string opcode =
          fmt::format("mma.sync.aligned.{}.row.col.{}.{}.{}.{}", shape, out, a, b, out);
      const isa::Opcode bound = isa::opcode_of(opcode);
      // Without fragments it is several products in one.
      if (bound.forms().empty() || isa::fragments_of(bound.binding()).empty()) continue;
      if (const auto why = isa::missing_on(bound.binding(), target))
        missing = why->text;
      else
        atoms.push_back({.shape = shape, .opcode = opcode, .octets = octets, .groups = groups});
    }
  if (atoms.empty() && missing.empty()) return no_such_types(types);
  if (types.a == DType::Float32 && !may_cut)
    return decline("dtype",
                   "no mma.sync for A float32, B float32, D {}: `allow_tf32=True` permits tf32, "
                   "which drops 13 bits of each factor",
                   num::name_of(types.out));
  if (atoms.empty()) return decline("arch", "{}", missing);
  return atoms;
}

Match<void> check_sizes(const GemmSizes& sizes, const std::vector<MmaAtom>& atoms) {
  int rows = 16, depth = 1 << 20;
  for (const MmaAtom& atom : atoms) {
    rows = std::min(rows, 8 * atom.octets);
    depth = std::min(depth, 4 * sizes.types.per_word() * atom.groups);
  }
  if (sizes.m % rows == 0 && sizes.n % 8 == 0 && sizes.k % depth == 0) return {};
  return decline("shape",
                 "M is {}, N is {}, K is {}; mma.sync of {} takes M by {}, N by 8, K by {}",
                 sizes.m, sizes.n, sizes.k, sizes.types.text(), rows, depth);
}

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
  CodeWriter write(call.f(), call.context.facts, call.span);
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

// --- as gemm_async -------------------------------------------------------------------------------

namespace {

constexpr std::size_t kGemmD = 0, kGemmA = 1, kGemmC = 3, kTransposeA = 4, kTransposeB = 5;

// Whether the sums of D count.
Match<bool> adds_to_result(const Call& call) {
  const num::DType d = call.buffer(kGemmD).dtype;
  const auto number = [&](std::size_t argument, double otherwise) {
    ir::GemmFactor factor = ir::gemm_factor(call.f(), call.tile.args[argument], otherwise);
    if (factor.constant) factor.constant = ir::gemm_number(*factor.constant, d);
    return factor;
  };
  const ir::GemmFactor alpha = number(ir::kGemmAlpha, 1), beta = number(ir::kGemmBeta, 0);
  if (!alpha.is(1))
    return decline("factor", "alpha is {}, expected 1: wgmma multiplies by nothing else",
                   alpha.constant ? fmt::format("{}", *alpha.constant) : "known at run time only");
  if (beta.is(0)) return false;
  if (!beta.is(1))
    return decline("factor", "beta is {}, expected 0 or 1: wgmma adds D as it is",
                   beta.constant ? fmt::format("{}", *beta.constant) : "known at run time only");
  if (!is_same_region(call, call.region(kGemmD), call.region(kGemmC)))
    return decline("operands", "C is `{}` and D is `{}`, expected one: wgmma adds to D",
                   call.buffer(kGemmC).name, call.buffer(kGemmD).name);
  return true;
}

}  // namespace

Match<ir::TileCall> async_form(const Call& call) {
  const bool adds = WW_TRY(adds_to_result(call));
  const auto storage = [&](std::size_t argument) {
    return ir::storage_of(call.f(), call.region(argument).buffer);
  };
  if (storage(kGemmD) == storage(kGemmA))
    return decline("overlap", "A and D are both in `{}`", call.f()[storage(kGemmA)].name);
  ir::TileCall out;
  out.op = ir::TileOp::GemmAsync;
  out.scope = call.tile.scope;
  const auto flag = [](bool value) { return ir::TileArg(ir::Setting(value)); };
  out.args = {call.tile.args[0],
              call.tile.args[1],
              call.tile.args[2],
              ir::TileArg(),
              ir::TileArg(),
              flag(ir::is_true(call.tile.args[kTransposeA])),
              flag(!ir::is_true(call.tile.args[kTransposeB])),
              flag(adds)};
  if (WW_TRY(flag_of(call, "allow_tf32"))) out.config.emplace_back("is_AB_tf32", ir::Setting(true));
  return out;
}

}  // namespace ww::lower
