// SPDX-License-Identifier: Apache-2.0
// Loads and stores as functions with options, an older spelling:
//
//   T.ptx.ld(pointer, "uint32", "u32", dst=registers, space="shared", vec="v4")
//   T.ptx.st_release(pointer, value, scope="gpu", space="global", ptx_type="u32")
//
// Each becomes the instruction by its opcode, with the registers at the pointer one by one.
#pragma once

#include <optional>
#include <string_view>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

struct PtxAccess {
  std::string opcode;
  CallArgs args;
  Value result;  // what the call gives: None, or the register that was loaded
};
/// Nothing when the call is not written this way.
Result<std::optional<PtxAccess>> older_access(Context& in, std::string_view name,
                                              const CallArgs& args);

}  // namespace ww::script
