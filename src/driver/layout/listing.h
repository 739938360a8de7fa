// SPDX-License-Identifier: Apache-2.0
// The tables of operations and named layouts as text for people.
#pragma once

#include <string>

namespace ww::driver {

/// One block per operation: syntax, help, and an example command.
std::string ops_listing();
/// One block per named layout: call, help, aliases, and an example.
std::string named_layouts_listing();

}  // namespace ww::driver
