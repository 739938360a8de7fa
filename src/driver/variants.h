// SPDX-License-Identifier: Apache-2.0
// The ways that there are to carry out tile primitives: `warpwright variants`.
#pragma once

#include <string>

#include "json/json.h"

namespace ww::driver {

/// A line for each, in the order in which they are tried; and the same for programs
/// (docs/reference/schema/variants.json).
std::string variants_text();
Json variants_json();

}  // namespace ww::driver
