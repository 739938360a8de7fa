// SPDX-License-Identifier: Apache-2.0
// The older spelling of PTX instructions: one function each, with options as arguments.
#pragma once

#include <span>
#include <string_view>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

struct PtxFunction {
  std::string_view name;       // behind `T.ptx.`
  std::string_view signature;  // as in BuiltinRow
  Result<Value> (*run)(Context&, Args&);
  std::string_view opcode = {};  // of those that are one instruction, with parameters in braces
};

std::span<const PtxFunction> all_ptx_functions();
const PtxFunction* find_ptx_function(std::string_view name);
Result<Value> call_ptx_function(Context& in, const PtxFunction& function, CallArgs& args);

/// The address of a buffer's first element: what a buffer means where an address is wanted.
Result<ir::ExprId> first_address(Context& in, ir::BufferId buffer, Span span);

/// Emits an instruction.
void emit_ptx(Context& in, ir::PtxCall call, Span span);
/// The instruction of an opcode, whose form tells the operands apart.
Result<Value> issue_ptx(Context& in, const std::string& opcode, CallArgs& args);

}  // namespace ww::script
