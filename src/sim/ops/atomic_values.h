// SPDX-License-Identifier: Apache-2.0
// What atomics do to values. Floats are bits in and bits out: sums to nearest even with canonical
// NaNs; least and greatest with NaNs losing.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "num/half_lanes.h"

namespace ww::sim {

template <typename T>
T add_int(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <typename T>
T min_int(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
T max_int(T a, T b) {
  return b > a ? b : a;
}
/// Up to b, then 0; and down to 0, then b.
template <typename T>
T inc_int(T a, T b) {
  return a >= b ? T{0} : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + 1U);
}
template <typename T>
T dec_int(T a, T b) {
  return a == 0 || a > b ? b : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) - 1U);
}
template <typename T>
T and_bits(T a, T b) {
  return static_cast<T>(a & b);
}
template <typename T>
T or_bits(T a, T b) {
  return static_cast<T>(a | b);
}
template <typename T>
T xor_bits(T a, T b) {
  return static_cast<T>(a ^ b);
}

inline std::uint32_t add_f32(std::uint32_t a, std::uint32_t b) {
  const float sum = std::bit_cast<float>(a) + std::bit_cast<float>(b);
  return sum != sum ? 0x7FFF'FFFFU : std::bit_cast<std::uint32_t>(sum);
}
/// In global memory the units at the L2 cache take subnormal numbers for zeros, going in and out.
inline std::uint32_t flush_f32(std::uint32_t a) {
  return (a & 0x7F80'0000U) == 0 ? a & 0x8000'0000U : a;
}
inline std::uint32_t add_f32_flushed(std::uint32_t a, std::uint32_t b) {
  return flush_f32(add_f32(flush_f32(a), flush_f32(b)));
}
inline bool is_nan(std::uint64_t bits) {
  return (bits & 0x7FFF'FFFF'FFFF'FFFFU) > 0x7FF0'0000'0000'0000U;
}
inline std::uint64_t sum_f64(std::uint64_t a, std::uint64_t b) {
  const double sum = std::bit_cast<double>(a) + std::bit_cast<double>(b);
  return sum != sum ? 0xFFF8'0000'0000'0000U : std::bit_cast<std::uint64_t>(sum);
}
/// Which NaN goes on differs, too: in shared memory that of the memory, made quiet; in global
/// memory that of the operand, as it is.
inline std::uint64_t add_f64_shared(std::uint64_t memory, std::uint64_t b) {
  constexpr std::uint64_t kQuiet = std::uint64_t{1} << 51U;
  if (is_nan(memory)) return memory | kQuiet;
  return is_nan(b) ? b | kQuiet : sum_f64(memory, b);
}
inline std::uint64_t add_f64_global(std::uint64_t memory, std::uint64_t b) {
  if (is_nan(b)) return b;
  return is_nan(memory) ? memory : sum_f64(memory, b);
}
inline std::uint16_t add_f16(std::uint16_t a, std::uint16_t b) {
  return num::f32_to_f16(num::f16_to_f32(a) + num::f16_to_f32(b));
}
inline std::uint16_t add_bf16(std::uint16_t a, std::uint16_t b) {
  return num::f32_to_bf16(num::bf16_to_f32(a) + num::bf16_to_f32(b));
}

// Picks by value; -0 is less than +0.
template <typename T>
T lesser(T a, T b, float x, float y, T nan) {
  if (x != x) return y != y ? nan : b;
  if (y != y) return a;
  if (x == y) return static_cast<T>(a | b);
  return x < y ? a : b;
}
template <typename T>
T greater(T a, T b, float x, float y, T nan) {
  if (x != x) return y != y ? nan : b;
  if (y != y) return a;
  if (x == y) return static_cast<T>(a & b);
  return x > y ? a : b;
}

inline std::uint32_t min_f32(std::uint32_t a, std::uint32_t b) {
  return lesser(a, b, std::bit_cast<float>(a), std::bit_cast<float>(b), 0x7FFF'FFFFU);
}
inline std::uint32_t max_f32(std::uint32_t a, std::uint32_t b) {
  return greater(a, b, std::bit_cast<float>(a), std::bit_cast<float>(b), 0x7FFF'FFFFU);
}
inline std::uint16_t min_f16(std::uint16_t a, std::uint16_t b) {
  return lesser<std::uint16_t>(a, b, num::f16_to_f32(a), num::f16_to_f32(b), 0x7FFF);
}
inline std::uint16_t max_f16(std::uint16_t a, std::uint16_t b) {
  return greater<std::uint16_t>(a, b, num::f16_to_f32(a), num::f16_to_f32(b), 0x7FFF);
}
inline std::uint16_t min_bf16(std::uint16_t a, std::uint16_t b) {
  return lesser<std::uint16_t>(a, b, num::bf16_to_f32(a), num::bf16_to_f32(b), 0x7FFF);
}
inline std::uint16_t max_bf16(std::uint16_t a, std::uint16_t b) {
  return greater<std::uint16_t>(a, b, num::bf16_to_f32(a), num::bf16_to_f32(b), 0x7FFF);
}

/// The two halves of a pair, each by itself.
template <auto F>
std::uint32_t pairwise(std::uint32_t a, std::uint32_t b) {
  const std::uint16_t low = F(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
  const std::uint16_t high =
      F(static_cast<std::uint16_t>(a >> 16U), static_cast<std::uint16_t>(b >> 16U));
  return low | (static_cast<std::uint32_t>(high) << 16U);
}

}  // namespace ww::sim
