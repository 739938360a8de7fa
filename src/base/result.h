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
#include <type_traits>
// NOLINTBEGIN
namespace std {
template <typename E>
class unexpected {
 public:
  explicit unexpected(E error) : error_(std::move(error)) {}
  E& error() & { return error_; }
  E&& error() && { return std::move(error_); }

 private:
  E error_;
};
template <typename T, typename E>
class [[nodiscard]] expected {
 public:
  expected() = default;
  template <typename U = T>
  requires std::is_convertible_v<U, T> expected(U&& value) : value_(std::forward<U>(value)) {}
  template <typename U>
  requires std::is_convertible_v<U, T> expected(expected<U, E> other) {
    if (other)
      value_ = *std::move(other);
    else
      error_ = std::move(other).error();
  }
  template <typename F>
  expected(unexpected<F> bad) : error_(std::move(bad).error()) {}
  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  template <typename U>
  T value_or(U&& other) const {
    return value_.value_or(std::forward<U>(other));
  }
  E& error() & { return *error_; }
  const E& error() const& { return *error_; }
  E&& error() && { return *std::move(error_); }

 private:
  std::optional<T> value_;
  std::optional<E> error_;
};
template <typename E>
class [[nodiscard]] expected<void, E> {
 public:
  expected() = default;
  template <typename F>
  expected(unexpected<F> bad) : error_(std::move(bad).error()) {}
  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void operator*() const {}
  E& error() & { return *error_; }
  const E& error() const& { return *error_; }
  E&& error() && { return *std::move(error_); }

 private:
  std::optional<E> error_;
};
}  // namespace std
// NOLINTEND
#endif

namespace ww {
template <typename T>
using Result = std::expected<T, Diag>;

/// Turns a Diag into the failing side of any Result.
inline std::unexpected<Diag> fail(Diag d) { return std::unexpected<Diag>(std::move(d)); }

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
