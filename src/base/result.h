// SPDX-License-Identifier: Apache-2.0
// `Result<T>`: a value, or the reasoned refusal to give one. Functions that stop at the first
// problem return it; `WW_TRY(expr)` unwraps one inside a function that returns a Result itself.
#pragma once

#include <utility>
#include <version>

#include "base/diag.h"

// libstdc++ 12 has std::expected; clang 14, used for linting only, cannot see it and gets a
// stand-in with the few members used here.
#if defined(__has_include) && __has_include(<expected>)
#include <expected>
#endif

#ifndef __cpp_lib_expected
#include <optional>
namespace ww {
template <typename E>
struct Unexpected {
  E error;
};
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Unexpected<Diag> bad)
      : error_(std::move(bad.error)) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T& value() & { return *value_; }
  T&& value() && { return *std::move(value_); }
  Diag& error() & { return error_; }
  const Diag& error() const& { return error_; }
  Diag&& error() && { return std::move(error_); }

 private:
  std::optional<T> value_;
  Diag error_;
};
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Unexpected<Diag> bad) : good_(false), error_(std::move(bad.error)) {}  // NOLINT
  [[nodiscard]] bool has_value() const { return good_; }
  explicit operator bool() const { return good_; }
  void operator*() const {}
  Diag& error() & { return error_; }
  const Diag& error() const& { return error_; }
  Diag&& error() && { return std::move(error_); }

 private:
  bool good_ = true;
  Diag error_;
};
inline Unexpected<Diag> fail(Diag d) { return {std::move(d)}; }
}  // namespace ww
#else
namespace ww {
template <typename T>
using Result = std::expected<T, Diag>;

/// Turns a Diag into the failing side of any Result.
inline std::unexpected<Diag> fail(Diag d) { return std::unexpected<Diag>(std::move(d)); }
}  // namespace ww
#endif

namespace ww {

/// Shorthand: `return fail(DiagKind::Syntax, "expected {}, found {}", a, b);`
template <typename... Args>
auto fail(DiagKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return fail(diag(kind, format, std::forward<Args>(args)...));
}

}  // namespace ww

// Unique names, so that one WW_TRY may stand inside another.
#define WW_CONCAT_(a, b) a##b
#define WW_CONCAT(a, b) WW_CONCAT_(a, b)

/// The value of a Result, or an early return with its Diag.
#define WW_TRY(expr) WW_TRY_AS(WW_CONCAT(ww_result_, __COUNTER__), expr)
#define WW_TRY_AS(name, expr)                              \
  __extension__({                                          \
    auto&& name = (expr);                                  \
    if (!name) return ::ww::fail(std::move(name).error()); \
    *std::move(name);                                      \
  })

/// Like WW_TRY for a Result whose value is not wanted, as a statement.
#define WW_TRY_VOID(expr) WW_TRY_VOID_AS(WW_CONCAT(ww_result_, __COUNTER__), expr)
#define WW_TRY_VOID_AS(name, expr)                         \
  do {                                                     \
    auto&& name = (expr);                                  \
    if (!name) return ::ww::fail(std::move(name).error()); \
  } while (false)
