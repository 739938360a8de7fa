// SPDX-License-Identifier: Apache-2.0
// Pieces that the parts of `warpwright isa` share: what a form needs, its operands in words.
#pragma once

#include <string>
#include <vector>

#include "isa/form.h"
#include "target/target.h"

namespace ww::driver {

/// "sm_90 or later, PTX 7.8"
std::string needs_text(isa::Feature feature, int ptx);
/// Each gate of a form in words, the general one first: "sm_75 or later, PTX 6.5", "with
/// `.shared::cta`: PTX 7.8".
std::vector<std::string> gate_lines(const isa::Form& form);
/// Each rule in words.
std::vector<std::string> rule_lines(const isa::Form& form);
/// "written", "read", "address", …
std::string_view role_text(isa::Role role);
/// The operand's type and count in words: "4 registers of .b32", "`num` registers of .b32".
std::string operand_text(const isa::OperandSpec& spec, const isa::Form& form);
/// The names in a set.
std::vector<std::string> arch_names(target::ArchSet archs);

}  // namespace ww::driver
