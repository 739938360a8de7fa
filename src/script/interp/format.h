// SPDX-License-Identifier: Apache-2.0
// Texts from values: `str()` and f-strings.
#pragma once

#include <string>

#include "script/interp/context.h"

namespace ww::script {

/// What `str()` gives.
Result<std::string> str_of(const Value& value, Span span);
Result<Value> eval_fstring(Context& in, const Expr& e, Env& env);

}  // namespace ww::script
