// SPDX-License-Identifier: Apache-2.0
// Operands in words, for messages.
#pragma once

#include <string>
#include <string_view>

#include "isa/operand.h"
#include "isa/type.h"

namespace ww::isa {

/// "a register", "a list in braces".
std::string_view kind_text(OperandKind kind);
/// What an operand is, with the declared type of a register: "a `.b64` register".
std::string seen(const Operand& operand);
/// What a register must be to hold a value of the type: "any 32-bit type, or wider".
std::string wanted_text(Type type, bool wider);

}  // namespace ww::isa
