// SPDX-License-Identifier: Apache-2.0
// Diagnostics that are made with their place, by those who read a text.
#pragma once

#include "base/result.h"

namespace ww {

template <typename... Args>
Diag diag_at(Span span, DiagKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return diag_with(kind, format, fmt::make_format_args(args...)).with_span(span);
}

/// `return fail_at(span, DiagKind::Syntax, "found {}, expected {}", a, b);`
template <typename... Args>
Unexpected<Diag> fail_at(Span span, DiagKind kind, fmt::format_string<Args...> format,
                         Args&&... args) {
  return fail(diag_with(kind, format, fmt::make_format_args(args...)).with_span(span));
}

/// The error of something that has places of its own, at the place of the source that is to blame.
template <typename T>
Result<T> placed(Result<T> result, Span span) {
  if (!result) result.error().span = span;
  return result;
}

}  // namespace ww
