// SPDX-License-Identifier: Apache-2.0
// Appends formatted text to a string.
#pragma once

#include <fmt/format.h>

#include <string>

namespace ww {

/// Appends what fmt makes of `format` and `args`.
void append_formatted(std::string& out, fmt::string_view format, fmt::format_args args);

/// append(out, "{} of {}\n", i, n). fmt::format_to does the same, but compiles a good part of fmt
/// into each file that calls it, which takes four seconds.
template <typename... Args>
void append(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  append_formatted(out, format, fmt::make_format_args(args...));
}

}  // namespace ww
