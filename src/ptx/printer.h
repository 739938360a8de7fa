// SPDX-License-Identifier: Apache-2.0
// Writes a module as PTX text, laid out as nvcc does: one statement per line, tabs, a blank line
// between functions. The same module always gives the same text.
#pragma once

#include <string>

#include "ptx/module.h"

namespace ww::ptx {

/// The text of a module. Reading it back gives an equal module, provided that names, strings and
/// comments are such as could be read (no line breaks in comments, say); that is the builder's duty
/// and is not checked.
std::string print(const Module& module);

/// One instruction with its guard and `;`, without indentation or line break: for messages.
std::string print(const Module& module, const Function& function, const Instruction& instruction);

/// One operand of a function: for messages.
std::string print(const Module& module, const Function& function, const Operand& operand);

}  // namespace ww::ptx
