// SPDX-License-Identifier: Apache-2.0
// Names that a user declares for a notation: axes of their own and runtime variables.
#pragma once

#include <string_view>

#include "base/result.h"
#include "layout/text.h"

namespace ww::driver {

/// `NAME=KIND` with KIND thread, memory or device; `NAME=thread:DIVISOR:MODULUS` is the CTA thread
/// axis (t / DIVISOR) % MODULUS, MODULUS 0 or left out for none. Spans point into `text`.
Result<void> declare_axis(std::string_view text, layout::Names& names);

/// `NAME=BEGIN:END[:MULTIPLE]`: a variable in [BEGIN, END) that is always a multiple of MULTIPLE.
Result<void> declare_variable(std::string_view text, layout::Names& names);

}  // namespace ww::driver
