// SPDX-License-Identifier: Apache-2.0
// The modules that a source file imports and the language does not have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ww::script {

/// Names without dots, in the order of the text, each once; none for a text that cannot be read.
std::vector<std::string> imported_modules(std::string_view text);

}  // namespace ww::script
