// SPDX-License-Identifier: Apache-2.0
// Variables, parameters, directives and comments as PTX text. Used inside this folder.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/small_vec.h"
#include "ptx/operand_printer.h"

namespace ww::ptx::printing {

/// With a blank behind it; nothing for none.
void word(Printed& to, std::string_view text);
void type(Printed& to, std::uint8_t vector, isa::Type type);
/// `<count>` of a name that stands for several.
void count(Printed& to, std::uint32_t count);
void attributes(Printed& to, const SmallVec<Attribute, 1>& list);
/// Without what ends it: a `;` or a `,`.
void variable(Printed& to, const Variable& v);
/// In parentheses, on one line.
void parameters(Printed& to, const std::vector<Variable>& list);
void directive(Printed& to, const Directive& d);
void pragma(Printed& to, NameId text);
void comment(Printed& to, NameId text);

}  // namespace ww::ptx::printing
