// SPDX-License-Identifier: Apache-2.0
// 128-bit integers for intermediate results, and 64-bit arithmetic that detects overflow.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

namespace ww {

__extension__ using Wide = __int128;

/// a / b rounded to minus infinity; b is not 0.
template <typename T>
constexpr T floor_div(T a, std::type_identity_t<T> b) {
  const T q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/// What floor_div leaves: it has the sign of b.
template <typename T>
constexpr T floor_mod(T a, std::type_identity_t<T> b) {
  return a - floor_div(a, b) * b;
}

/// a · b, or nothing when that leaves 64 bits.
inline std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// a + b, or nothing when that leaves 64 bits.
inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

}  // namespace ww
