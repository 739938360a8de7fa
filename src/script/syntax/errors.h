// SPDX-License-Identifier: Apache-2.0
// Errors with their places.
#pragma once

#include <utility>

#include "base/diag.h"
#include "base/result.h"

namespace ww::script {

template <typename... Args>
Diag diag_at(Span span, DiagKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return diag(kind, format, std::forward<Args>(args)...).with_span(span);
}

/// `return fail_at(span, DiagKind::Syntax, "found {}, expected {}", a, b);`
template <typename... Args>
auto fail_at(Span span, DiagKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return fail(diag_at(span, kind, format, std::forward<Args>(args)...));
}

/// The error of something that has places of its own, at the place of the source that is to blame.
template <typename T>
Result<T> placed(Result<T> result, Span span) {
  if (!result) result.error().span = span;
  return result;
}

}  // namespace ww::script
