// SPDX-License-Identifier: Apache-2.0
// PTX instructions, in both spellings. The older one has a function per instruction with its
// options as arguments, `T.ptx.ldmatrix(False, 2, ".b16", ptr, *registers)`; the newer one writes
// the opcode, `T.ptx["ldmatrix.sync.aligned.m8n8.x2.shared.b16"](d0, d1, ptr)` or dotted,
// `T.ptx.ldmatrix.sync.aligned.m8n8.x2.shared.b16(…)` with `__` for `::` and a trailing `_` behind
// Python's keywords. Both become the same statement.
#pragma once

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

/// T.ptx.a.b: one more word. `T.ptx.SINK` is the operand `_`.
Result<Value> ptx_word(Context& in, const PtxPathObject& path, std::string_view word);
/// T.ptx["opcode"].
Result<Value> ptx_subscript(Context& in, const PtxPathObject& path, const Value& index, Span span);
/// The instruction; values of expressions (elect_sync) where the older spelling has them.
Result<Value> call_ptx(Context& in, const PtxPathObject& path, CallArgs& args);

}  // namespace ww::script
