// SPDX-License-Identifier: Apache-2.0
// The environment, which only this folder reads.
#pragma once

#include <string>

#include "driver/sass_advice.h"

namespace ww::cli {

/// The value of a variable; "" where there is none.
std::string environment(const char* name);

/// The path of this program, as the system knows it.
std::string own_program();

/// Where ptxas and nvdisasm are: what PTXAS and NVDISASM name, else the folders of PATH.
runtime::SassTools sass_tools();

}  // namespace ww::cli
