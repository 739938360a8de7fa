// SPDX-License-Identifier: Apache-2.0
// Addresses between state spaces: cvta, isspacep, and the stack pointer instructions.
// PTX manual, "Data movement: isspacep, cvta", "Stack manipulation".
#include <fmt/format.h>

#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::address_rows {
namespace {

// The variable must be in the space that its address is converted from.
std::string same_space(const Binding& binding, std::span<const Operand> operands) {
  const Operand& variable = operands[1];
  if (variable.kind != OperandKind::Symbol) return "";
  const Space space = *parse_space(binding.word("space"));
  const bool shared = variable.space == Space::Shared && space == Space::SharedCluster;
  if (variable.space == space || shared) return "";
  return fmt::format("`{}` is in the {} space, `{}` converts from the {} space", variable.text,
                     name_of(variable.space), binding.opcode(), name_of(space));
}

constexpr Row kRows[] = {
    {.mnemonic = "isspacep",
     .slots = "space=const|global|local|param|param::entry|shared|shared::cta|shared::cluster",
     .operands = ">p:pred a:u64",
     .gates = {{"space=const", Feature::Sm75, 63},
               {"space=param|param::entry", Feature::Sm75, 77},
               {"space=param::entry", Feature::Sm75, 83},
               {"space=shared::cta", Feature::Sm75, 78},
               {"space=shared::cluster", Feature::Sm90, 78}},
     .about = "whether a generic address lies in the state space"},
    {.mnemonic = "isspacep",
     .slots = "space=const|global|local|param|param::entry|shared|shared::cta|shared::cluster",
     .operands = ">p:pred a:u32/r",
     .gates = {{"space=const", Feature::Sm75, 63},
               {"space=param|param::entry", Feature::Sm75, 77},
               {"space=param::entry", Feature::Sm75, 83},
               {"space=shared::cta", Feature::Sm75, 78},
               {"space=shared::cluster", Feature::Sm90, 78}},
     .about = "the same for an address in a 32-bit register, which ptxas still takes"},
    {.mnemonic = "cvta",
     .slots =
         "space=const|global|local|param|param::entry|shared|shared::cta|shared::cluster type=u64",
     .operands = ">d:type a:type/y",
     .gates = {{"space=param|param::entry", Feature::Sm75, 77},
               {"space=param::entry", Feature::Sm75, 83},
               {"space=shared::cta", Feature::Sm75, 78},
               {"space=shared::cluster", Feature::Sm90, 78}},
     .verify = same_space,
     .about = "the generic address of an address in the state space"},
    {.mnemonic = "cvta.to",
     .slots =
         "space=const|global|local|param|param::entry|shared|shared::cta|shared::cluster type=u64",
     .operands = ">d:type a:type",
     .gates = {{"space=param|param::entry", Feature::Sm75, 77},
               {"space=param::entry", Feature::Sm75, 83},
               {"space=shared::cta", Feature::Sm75, 78},
               {"space=shared::cluster", Feature::Sm90, 78}},
     .about = "the address in the state space of a generic address"},
    {.mnemonic = "stacksave",
     .slots = "type=u32|u64",
     .operands = ">d:type",
     .gates = {{"", Feature::Sm75, 73}},
     .about = "reads the stack pointer"},
    {.mnemonic = "stackrestore",
     .slots = "type=u32|u64",
     .operands = "a:type/r",
     .gates = {{"", Feature::Sm75, 73}},
     .about = "sets the stack pointer"},
    {.mnemonic = "alloca",
     .slots = "type=u32|u64",
     .operands = ">ptr:type size:type #align?",
     .gates = {{"", Feature::Sm75, 73}},
     .about = "takes memory from the stack"},
};

}  // namespace

constinit const FamilyRows family{
    "address", "cvta, isspacep: addresses between state spaces; the stack", kRows};

}  // namespace ww::isa::address_rows
