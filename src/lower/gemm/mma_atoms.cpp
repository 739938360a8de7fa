// SPDX-License-Identifier: Apache-2.0
#include "lower/gemm/mma_atoms.h"

#include <algorithm>
#include <span>

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

}  // namespace ww::lower
