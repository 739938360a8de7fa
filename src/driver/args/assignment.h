// SPDX-License-Identifier: Apache-2.0
// `NAME=VALUE`, as several options of the command line take it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ww::driver {

/// Cut at the first `=`; neither side is empty.
struct Assignment {
  std::string text;
  std::string name;
  std::string value;
  Span name_span, value_span;
};

/// Syntax unless it is one. `what` is what help calls the value: "SPEC".
Result<Assignment> cut_assignment(const std::string& text, std::string_view what);

}  // namespace ww::driver
