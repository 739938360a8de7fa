// SPDX-License-Identifier: Apache-2.0
#include "hardware/sweep/variants.h"

#include <fmt/format.h>

#include <utility>

#include "hardware/sweep/values.h"

namespace ww::sweep {
namespace {

using isa::Binding;
using isa::OperandSpec;
using isa::Role;
using isa::Type;

/// The last operand that may be a constant, if another one is read besides.
std::optional<std::size_t> constant_operand(const Binding& binding) {
  std::optional<std::size_t> found;
  int read = 0;
  const auto& specs = binding.form().operands;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!is_present(binding, specs[i]) || specs[i].role != Role::Read) continue;
    ++read;
    const auto type = isa::type_of(specs[i], binding);
    if (specs[i].register_only || isa::count_of(specs[i], binding) || !type) continue;
    const bool fits = (isa::is_whole(*type) && isa::info(*type).bits <= 64) || *type == Type::F32 ||
                      *type == Type::F64;
    if (fits) found = i;
  }
  return read > 1 ? found : std::nullopt;
}

std::vector<Variant> constant_variants(const Binding& binding) {
  std::vector<Variant> variants;
  if (!is_one_of(binding.form().family, {"integer", "logic", "move", "float"})) return variants;
  const auto operand = constant_operand(binding);
  if (!operand) return variants;
  const unsigned count = binding.form().mnemonic == "prmt" ? 6 : 1;
  for (unsigned i = 0; i < count; ++i) {
    Variant variant{.name = count == 1 ? "constant" : fmt::format("constant {}", i + 1)};
    variant.as_constant = operand;
    variant.chance = hash_of(binding.opcode()) + i;
    variants.push_back(variant);
  }
  return variants;
}

std::vector<Variant> table_variants() {
  std::vector<Variant> variants;
  for (const int table : {0x00, 0x01, 0x17, 0x3C, 0x5A, 0x69, 0x80, 0x96, 0xAC, 0xC5, 0xCA, 0xD2,
                          0xE8, 0xF0, 0xFE, 0xFF})
    variants.push_back({.name = fmt::format("table 0x{:02X}", table), .table = table});
  return variants;
}

bool may_contend(const Binding& binding) {
  const isa::Word op = binding.word("op");
  const auto type = isa::parse_type(binding.word("type"));
  return binding.form().family == "atomic" && !binding.has("vec") && type && isa::is_whole(*type) &&
         op.is_one_of({"add", "min", "max", "and", "or", "xor", "inc", "dec"});
}

// Stores that ptxas 13.0 takes and turns into something else.
bool is_garbled(const Binding& binding) {
  const auto type = isa::parse_type(binding.word("type"));
  return binding.form().mnemonic == "st" && binding.word("vec") == "v8" && type &&
         isa::info(*type).bits <= 16;
}

}  // namespace

bool is_present(const Binding& binding, const OperandSpec& spec) {
  return !spec.optional && (!spec.present || binding.holds(*spec.present));
}

std::vector<Variant> variants_of(const Binding& binding) {
  const auto& specs = binding.form().operands;
  if (is_garbled(binding)) return {};
  if (std::ranges::find(specs, Role::Immediate, &OperandSpec::role) != specs.end())
    return table_variants();
  std::vector<Variant> variants = {{}};
  for (Variant& variant : constant_variants(binding)) variants.push_back(std::move(variant));
  // ptxas 13.0 stumbles over a wide register for the result of cvt.ftz.f32.f64.
  // And it stores an f32 of a 64-bit register as if it were an integer.
  const bool stumbles = (binding.has("ftz") && binding.word("atype") == "f64") ||
                        (binding.form().mnemonic == "st" && binding.word("type") == "f32");
  if (std::ranges::any_of(specs, &OperandSpec::wider) && !stumbles)
    variants.push_back({.name = "wider registers", .wide = true});
  const bool masked = binding.form().family == "warp" && binding.form().mnemonic != "setmaxnreg";
  if (masked) variants.push_back({.name = "some lanes", .some_lanes = true});
  if (may_contend(binding)) variants.push_back({.name = "contended", .contended = true});
  return variants;
}

}  // namespace ww::sweep
