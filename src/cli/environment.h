// SPDX-License-Identifier: Apache-2.0
// The environment, which only this folder reads.
#pragma once

#include <string>

namespace ww::cli {

/// The value of a variable; "" where there is none.
std::string environment(const char* name);

}  // namespace ww::cli
