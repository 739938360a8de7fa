// SPDX-License-Identifier: Apache-2.0
// `Result<T>`: a value, or the reasoned refusal to give one. Functions that stop at the first
// problem return it; `WW_TRY(expr)` unwraps one inside a function that returns a Result itself.
#pragma once

#include <utility>

#include "base/diag.h"
#include "base/expected.h"

namespace ww {
template <typename T>
using Result = Expected<T, Diag>;

/// Turns a Diag into the failing side of any Result.
Unexpected<Diag> fail(Diag&& d);
Unexpected<Diag> fail(const Diag& d);
Unexpected<Diag> fail_with(DiagKind kind, fmt::string_view format, fmt::format_args args);

/// Shorthand: `return fail(DiagKind::Syntax, "expected {}, found {}", a, b);`
template <typename... Args>
Unexpected<Diag> fail(DiagKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return fail_with(kind, format, fmt::make_format_args(args...));
}

}  // namespace ww

// Unique names, so that one WW_TRY may stand inside another.
#define WW_CONCAT_(a, b) a##b
#define WW_CONCAT(a, b) WW_CONCAT_(a, b)

/// The value of a Result, or an early return with its Diag.
#define WW_TRY(expr) WW_TRY_AS(WW_CONCAT(ww_result_, __COUNTER__), expr)
#define WW_TRY_AS(name, expr)                    \
  __extension__({                                \
    auto&& name = (expr);                        \
    if (!name) return std::move(name).failure(); \
    *std::move(name);                            \
  })

/// Like WW_TRY for a Result whose value is not wanted, as a statement.
#define WW_TRY_VOID(expr) WW_TRY_VOID_AS(WW_CONCAT(ww_result_, __COUNTER__), expr)
#define WW_TRY_VOID_AS(name, expr)               \
  do {                                           \
    auto&& name = (expr);                        \
    if (!name) return std::move(name).failure(); \
  } while (false)
