// SPDX-License-Identifier: Apache-2.0
// Arguments of a builtin, by the parameters of its signature.
#pragma once

#include "script/interp/interp.h"

namespace ww::script {

/// Fails on too many arguments, missing ones and unknown names, at the argument.
Result<Args> bind_args(const BuiltinRow& row, CallArgs& args, const Value& self);

}  // namespace ww::script
