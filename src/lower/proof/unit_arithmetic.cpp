// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/unit_arithmetic.h"

#include <algorithm>
#include <bit>

#include "base/wide.h"

namespace ww::lower {

using ir::ExprOp;

namespace {

template <typename Op>
bool each_of(num::DType result, PerUnit& a, const PerUnit& b, Op&& op) {
  const bool is_narrow = result == num::DType::Int32;
  for (std::size_t t = 0; t < a.size(); ++t) {
    const std::int64_t value = op(a[t], b[t]);
    a[t] = is_narrow ? static_cast<std::int32_t>(value) : value;
  }
  return true;
}

// By a power of two that is the same for all threads, as in most indices: shifts round down, too.
bool has_shifted(ExprOp op, num::DType result, PerUnit& a, const PerUnit& b) {
  const auto by = static_cast<std::uint64_t>(b.empty() ? 0 : b.front());
  if (!std::has_single_bit(by) || by >> 62U != 0) return false;
  if (std::any_of(b.begin(), b.end(), [&](std::int64_t y) { return y != b.front(); })) return false;
  const int shift = std::countr_zero(by);
  const auto rest = static_cast<std::int64_t>(by - 1);
  if (op == ExprOp::FloorDiv)
    return each_of(result, a, b, [=](std::int64_t x, std::int64_t) { return x >> shift; });
  return each_of(result, a, b, [=](std::int64_t x, std::int64_t) { return x & rest; });
}

bool has_divided(ExprOp op, num::DType result, PerUnit& a, const PerUnit& b) {
  if (has_shifted(op, result, a, b)) return true;
  if (std::any_of(b.begin(), b.end(), [](std::int64_t y) { return y < 1; })) return false;
  if (op == ExprOp::FloorDiv)
    return each_of(result, a, b, [](std::int64_t x, std::int64_t y) { return floor_div(x, y); });
  return each_of(result, a, b,
                 [](std::int64_t x, std::int64_t y) { return x - floor_div(x, y) * y; });
}

}  // namespace

bool has_operated(ExprOp op, num::DType type, num::DType result, PerUnit& a, const PerUnit& b) {
  if (type != num::DType::Int32 && type != num::DType::Int64) return false;
  using Int = std::int64_t;
  const auto word = [](Int x) { return static_cast<std::uint64_t>(x); };
  switch (op) {
    case ExprOp::Add:
      return each_of(result, a, b, [=](Int x, Int y) { return Int(word(x) + word(y)); });
    case ExprOp::Sub:
      return each_of(result, a, b, [=](Int x, Int y) { return Int(word(x) - word(y)); });
    case ExprOp::Mul:
      return each_of(result, a, b, [=](Int x, Int y) { return Int(word(x) * word(y)); });
    case ExprOp::BitXor:
      return each_of(result, a, b, [](Int x, Int y) { return x ^ y; });
    case ExprOp::Lt:
      return each_of(result, a, b, [](Int x, Int y) { return Int(x < y); });
    case ExprOp::Ge:
      return each_of(result, a, b, [](Int x, Int y) { return Int(x >= y); });
    case ExprOp::FloorDiv:
    case ExprOp::FloorMod:
      return has_divided(op, result, a, b);
    default:
      return false;
  }
}

}  // namespace ww::lower
