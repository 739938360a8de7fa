// SPDX-License-Identifier: Apache-2.0
// What atomics do to values. Floats are bits in and bits out: sums to nearest even with canonical
// NaNs; least and greatest with NaNs losing.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "isa/operand.h"
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

/// The two halves of a pair, separately.
template <auto F>
std::uint32_t pairwise(std::uint32_t a, std::uint32_t b) {
  const std::uint16_t low = F(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
  const std::uint16_t high =
      F(static_cast<std::uint16_t>(a >> 16U), static_cast<std::uint16_t>(b >> 16U));
  return low | (static_cast<std::uint32_t>(high) << 16U);
}

/// visit.template operator()<T, F>() for the F(memory, operand) of two T that an operation does to
/// elements of a type; Result{} where there is none. Sums in single and double precision are those
/// of global memory.
template <typename Visit>
auto pick_operation(isa::Word op, isa::Type type, Visit visit) {
  using isa::Type;
  using Result = decltype(visit.template operator()<std::uint32_t, and_bits<std::uint32_t>>());
  const auto bits = [&]<typename T>(T) -> Result {
    if (op == "and") return visit.template operator()<T, and_bits<T>>();
    if (op == "or") return visit.template operator()<T, or_bits<T>>();
    return op == "xor" ? visit.template operator()<T, xor_bits<T>>() : Result{};
  };
  const auto integers = [&]<typename T>(T) -> Result {
    if (op == "add") return visit.template operator()<T, add_int<T>>();
    if (op == "min") return visit.template operator()<T, min_int<T>>();
    if (op == "max") return visit.template operator()<T, max_int<T>>();
    if constexpr (std::is_same_v<T, std::uint32_t>) {
      if (op == "inc") return visit.template operator()<T, inc_int<T>>();
      if (op == "dec") return visit.template operator()<T, dec_int<T>>();
    }
    return Result{};
  };
  const auto floats = [&]<typename T, auto Add, auto Min, auto Max>()->Result {
    if (op == "add") return visit.template operator()<T, Add>();
    if (op == "min") return visit.template operator()<T, Min>();
    return op == "max" ? visit.template operator()<T, Max>() : Result{};
  };
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  switch (type) {
    case Type::B32:
      return bits(U32{});
    case Type::B64:
      return bits(std::uint64_t{});
    case Type::U32:
      return integers(U32{});
    case Type::S32:
      return integers(std::int32_t{});
    case Type::U64:
      return integers(std::uint64_t{});
    case Type::S64:
      return integers(std::int64_t{});
    case Type::F16:
      return floats.template operator()<U16, add_f16, min_f16, max_f16>();
    case Type::Bf16:
      return floats.template operator()<U16, add_bf16, min_bf16, max_bf16>();
    case Type::F16x2:
      return floats
          .template operator()<U32, pairwise<add_f16>, pairwise<min_f16>, pairwise<max_f16>>();
    case Type::Bf16x2:
      return floats
          .template operator()<U32, pairwise<add_bf16>, pairwise<min_bf16>, pairwise<max_bf16>>();
    case Type::F32:
      return op == "add" ? visit.template operator()<U32, add_f32_flushed>() : Result{};
    case Type::F64:
      return op == "add" ? visit.template operator()<std::uint64_t, add_f64_global>() : Result{};
    default:
      return Result{};
  }
}

}  // namespace ww::sim
