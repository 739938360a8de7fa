// SPDX-License-Identifier: Apache-2.0
// Arithmetic on ranges of integers. A bound at ±kFar means "no bound", and stays there whatever is
// added to it, so a saturated sum never looks like a tight one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "base/wide.h"
#include "ir/simplify/simplify.h"
#include "num/dtype.h"

namespace ww::ir::range {

inline constexpr std::int64_t kFar = std::int64_t{1} << 62;
inline constexpr Range kAll{-kFar, kFar};

inline std::int64_t saturate(std::int64_t value) { return std::clamp(value, -kFar, kFar); }
/// a + b, and a · b, saturated.
inline std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return a < 0 ? -kFar : kFar;
  return saturate(out);
}
inline std::int64_t multiply_bounds(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return (a < 0) != (b < 0) ? -kFar : kFar;
  return saturate(out);
}
inline bool is_far(std::int64_t bound) { return bound <= -kFar || bound >= kFar; }
inline bool is_single(Range r) { return r.min == r.max && !is_far(r.min); }
inline bool within(Range inner, Range outer) {
  return !is_far(inner.min) && !is_far(inner.max) && inner.min >= outer.min &&
         inner.max <= outer.max;
}
inline Range hull(Range a, Range b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }

inline std::int64_t add_bounds(std::int64_t a, std::int64_t b) {
  if (is_far(a)) return a;
  return is_far(b) ? b : saturated_sum(a, b);
}
// A least number beyond +kFar is a bound like any other: only one at -kFar is none.
inline Range add(Range a, Range b) {
  const bool has_min = a.min > -kFar && b.min > -kFar;
  const bool has_max = a.max < kFar && b.max < kFar;
  return {has_min ? saturated_sum(a.min, b.min) : -kFar,
          has_max ? saturated_sum(a.max, b.max) : kFar};
}

// A far bound times anything but 0 is far; saturation alone sees to that.
inline Range multiply(Range a, Range b) {
  const std::int64_t corners[] = {multiply_bounds(a.min, b.min), multiply_bounds(a.min, b.max),
                                  multiply_bounds(a.max, b.min), multiply_bounds(a.max, b.max)};
  return {*std::min_element(std::begin(corners), std::end(corners)),
          *std::max_element(std::begin(corners), std::end(corners))};
}
inline Range scale(Range a, std::int64_t k) {
  const std::int64_t first = multiply_bounds(a.min, k);
  const std::int64_t last = multiply_bounds(a.max, k);
  return k < 0 ? Range{last, first} : Range{first, last};
}

/// k ≥ 1.
inline Range floor_div(Range a, std::int64_t k) {
  return {a.min <= -kFar ? a.min : ww::floor_div(a.min, k),
          a.max >= kFar ? a.max : ww::floor_div(a.max, k)};
}
/// Does a stay between two neighbouring multiples of k ≥ 1?
inline bool in_one_block(Range a, std::int64_t k) {
  return !is_far(a.min) && !is_far(a.max) && ww::floor_div(a.min, k) == ww::floor_div(a.max, k);
}

/// Every value of an integer type or bool.
inline Range of_type(num::DType dtype) {
  const num::DTypeKind kind = num::kind_of(dtype);
  if (kind == num::DTypeKind::Bool) return {0, 1};
  const int bits = num::bits_of(dtype);
  if (bits >= 63) return {kind == num::DTypeKind::Uint ? 0 : -kFar, kFar};
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return kind == num::DTypeKind::Uint ? Range{0, 2 * half - 1} : Range{-half, half - 1};
}

/// The greatest power of two that divides n; 2^62 for 0.
inline std::int64_t power_in(std::int64_t n) { return n == 0 ? kFar : n & -n; }
/// 2^k - 1 ≥ n, the least such; n ≥ 0.
inline std::int64_t mask_over(std::int64_t n) {
  std::int64_t mask = 0;
  while (mask < n) mask = 2 * mask + 1;
  return mask;
}

}  // namespace ww::ir::range
