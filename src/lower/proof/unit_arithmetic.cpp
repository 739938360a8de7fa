// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/unit_arithmetic.h"

#include <bit>
#include <limits>

#include "base/wide.h"

namespace ww::lower {

using ir::ExprOp;

namespace {

using Int = std::int64_t;
using Word = std::uint64_t;

template <typename Op>
PerUnit each_of(num::DType result, const PerUnit& a, const PerUnit& b, Op&& op) {
  const bool is_narrow = result == num::DType::Int32;
  const auto one = [&](std::size_t t) -> Int {
    const Int value = op(a[t], b[t]);
    return is_narrow ? static_cast<std::int32_t>(value) : value;
  };
  if (a.is_uniform() && b.is_uniform()) return {a.size(), one(0)};
  std::vector<Int> out(a.size());
  for (std::size_t t = 0; t < out.size(); ++t) out[t] = one(t);
  return PerUnit(std::move(out));
}

// A sum or product modulo 2^64, as a value of its type.
PerUnit narrowed(num::DType result, PerUnit value) {
  using Narrow = std::numeric_limits<std::int32_t>;
  if (result != num::DType::Int32 || value.is_within(Narrow::min(), Narrow::max())) return value;
  return each_of(result, value, value, [](Int x, Int) { return x; });
}

// By a power of two that is the same for all threads, as in most indices: shifts round down, too.
std::optional<PerUnit> shifted(ExprOp op, num::DType result, const PerUnit& a, Int divisor) {
  const auto by = static_cast<Word>(divisor);
  if (!std::has_single_bit(by) || by >> 62U != 0) return std::nullopt;
  const int shift = std::countr_zero(by);
  const auto rest = static_cast<Int>(by - 1);
  if (op == ExprOp::FloorDiv) return each_of(result, a, a, [=](Int x, Int) { return x >> shift; });
  return each_of(result, a, a, [=](Int x, Int) { return x & rest; });
}

std::optional<PerUnit> divided(ExprOp op, num::DType result, const PerUnit& a, const PerUnit& b) {
  if (!b.is_within(1, std::numeric_limits<Int>::max())) return std::nullopt;
  if (b.is_uniform()) {
    if (a.is_within(0, b.front() - 1)) return op == ExprOp::FloorMod ? a : PerUnit(a.size(), 0);
    if (auto out = shifted(op, result, a, b.front())) return out;
  }
  if (op == ExprOp::FloorDiv) return each_of(result, a, b, floor_div<Int>);
  return each_of(result, a, b, floor_mod<Int>);
}

PerUnit multiplied(num::DType result, const PerUnit& a, const PerUnit& b) {
  if (b.is_uniform()) return narrowed(result, a.times(b.front()));
  if (a.is_uniform()) return narrowed(result, b.times(a.front()));
  return each_of(result, a, b, [](Int x, Int y) { return Int(Word(x) * Word(y)); });
}

}  // namespace

std::optional<PerUnit> unit_operated(ExprOp op, num::DType type, num::DType result,
                                     const PerUnit& a, const PerUnit& b) {
  if (type != num::DType::Int32 && type != num::DType::Int64) return std::nullopt;
  switch (op) {
    case ExprOp::Add:
      return narrowed(result, a.plus(b));
    case ExprOp::Sub:
      return narrowed(result, a.plus(b, -1));
    case ExprOp::Mul:
      return multiplied(result, a, b);
    case ExprOp::BitXor:
      return each_of(result, a, b, [](Int x, Int y) { return x ^ y; });
    case ExprOp::Lt:
      return each_of(result, a, b, [](Int x, Int y) { return Int(x < y); });
    case ExprOp::Ge:
      return each_of(result, a, b, [](Int x, Int y) { return Int(x >= y); });
    case ExprOp::FloorDiv:
    case ExprOp::FloorMod:
      return divided(op, result, a, b);
    default:
      return std::nullopt;
  }
}

std::optional<PerUnit> unit_cast(num::DType from, num::DType to, const PerUnit& value) {
  const auto is_index = [](num::DType type) {
    return type == num::DType::Int32 || type == num::DType::Int64;
  };
  if (!is_index(from) || !is_index(to)) return std::nullopt;
  return narrowed(to, value);
}

}  // namespace ww::lower
