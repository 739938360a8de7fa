// SPDX-License-Identifier: Apache-2.0
// The program's version. The number itself is in the top CMakeLists.txt.
#pragma once

#include <string_view>

namespace ww::cli {

/// Such as "0.1.0".
std::string_view version();

}  // namespace ww::cli
