// SPDX-License-Identifier: Apache-2.0
// Writes a module as PTX text, laid out as nvcc does: one statement per line, tabs, a blank line
// between functions. The same module always gives the same text.
#pragma once

#include <string>

#include "ptx/module.h"

namespace ww::ptx {

/// The text of a module. Parsing it gives an equal module if names, strings and comments can be
/// parsed (no line breaks in comments, say); the builder must ensure that, the printer does not
/// check.
std::string print(const Module& module);

/// One instruction with its guard and `;`, without indentation or line break: for messages.
std::string print(const Module& module, const Function& function, const Instruction& instruction);

/// One operand of a function: for messages.
std::string print(const Module& module, const Function& function, const Operand& operand);

}  // namespace ww::ptx
