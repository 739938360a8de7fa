// SPDX-License-Identifier: Apache-2.0
// `import`: modules that are modelled, and opaque values for all others.
#pragma once

#include <optional>
#include <string_view>

#include "script/interp/context.h"

namespace ww::script {

Result<void> exec_import(Context& in, const Stmt& s, Env& env);

/// The namespace that a module's path stands for, if we know the module.
std::optional<std::string_view> known_module(std::string_view path);

}  // namespace ww::script
