// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/per_unit.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/wide.h"

namespace ww::lower {

PerUnit::PerUnit(std::vector<Int> values) : threads_(values.size()) {
  if (values.empty()) return;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least == *most) {
    base_ = values.front();
    return;
  }
  table_ = new Table{{}, *least, *most};
  table_->values = std::move(values);
  values_ = table_->values.data();
  which_ = ~std::size_t{0};
  scale_ = 1;
}

PerUnit& PerUnit::operator=(PerUnit other) noexcept {
  std::swap(threads_, other.threads_);
  std::swap(base_, other.base_);
  std::swap(scale_, other.scale_);
  std::swap(values_, other.values_);
  std::swap(which_, other.which_);
  std::swap(table_, other.table_);
  return *this;
}

void PerUnit::release() {
  if (--table_->users == 0) delete table_;
}

void PerUnit::make_uniform() {
  if (table_ != nullptr) release();
  table_ = nullptr;
  values_ = &kNothing;
  which_ = 0;
  scale_ = 0;
}

std::vector<PerUnit::Int> PerUnit::expanded() const {
  std::vector<Int> out(threads_);
  for (std::size_t t = 0; t < threads_; ++t) out[t] = (*this)[t];
  return out;
}

std::optional<std::pair<PerUnit::Int, PerUnit::Int>> PerUnit::bounds() const {
  if (is_uniform()) return std::pair(base_, base_);
  Int ends[] = {table_->least, table_->most};
  for (Int& end : ends)
    if (__builtin_mul_overflow(end, scale_, &end) || __builtin_add_overflow(end, base_, &end))
      return std::nullopt;
  return std::minmax(ends[0], ends[1]);
}

bool PerUnit::is_within(Int least, Int most) const {
  const auto ends = bounds();
  return ends && ends->first >= least && ends->second <= most;
}

bool PerUnit::is_multiple_of(Int divisor) const {
  if (bounds() && base_ % divisor == 0 && scale_ % divisor == 0) return true;
  for (std::size_t t = 0; t < distinct(); ++t)
    if ((*this)[t] % divisor != 0) return false;
  return true;
}

PerUnit PerUnit::plus(const PerUnit& other, Int factor) const {
  if (other.is_uniform() || is_uniform() || table_ == other.table_) {
    PerUnit out = is_uniform() ? other : *this;
    out.threads_ = threads_;
    out.base_ = wrapped(base_, factor, other.base_);
    out.scale_ = wrapped(scale_, factor, other.scale_);
    if (out.scale_ == 0) out.make_uniform();
    return out;
  }
  std::vector<Int> out(threads_);
  for (std::size_t t = 0; t < threads_; ++t) out[t] = wrapped((*this)[t], factor, other[t]);
  return PerUnit(std::move(out));
}

PerUnit PerUnit::times(Int factor) const {
  PerUnit out = *this;
  out.base_ = wrapped(0, factor, base_);
  out.scale_ = wrapped(0, factor, scale_);
  if (out.scale_ == 0) out.make_uniform();
  return out;
}

PerUnit PerUnit::divided_by(Int divisor) const {
  PerUnit out = *this;
  if (is_uniform() || (base_ % divisor == 0 && scale_ % divisor == 0 && bounds())) {
    out.base_ /= divisor;
    out.scale_ /= divisor;
    return out;
  }
  std::vector<Int> each = expanded();
  for (Int& value : each) value /= divisor;
  return PerUnit(std::move(each));
}

bool operator==(const PerUnit& a, const PerUnit& b) {
  if (a.threads_ != b.threads_) return false;
  if (a.table_ == b.table_ && a.base_ == b.base_ && a.scale_ == b.scale_) return true;
  for (std::size_t t = 0; t < a.threads_; ++t)
    if (a[t] != b[t]) return false;
  return true;
}

// --- arithmetic ----------------------------------------------------------------------------------

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

// --- what was computed before --------------------------------------------------------------------

bool UnitTables::Operation::is_worth_keeping() const {
  const bool has_uniform = a.is_uniform() || b.is_uniform();
  if (a.is_uniform() && b.is_uniform()) return false;
  if (op == ExprOp::Mul) return !has_uniform;
  if (op == ExprOp::Add || op == ExprOp::Sub) return !has_uniform && !a.shares_table(b);
  return true;
}

bool operator==(const UnitTables::Operation& x, const UnitTables::Operation& y) {
  return x.op == y.op && x.type == y.type && x.result == y.result && x.a.is_held_like(y.a) &&
         x.b.is_held_like(y.b);
}

std::size_t UnitTables::Hash::operator()(const Operation& operation) const {
  constexpr std::size_t kOdd = 0x9E37'79B9'7F4A'7C15U;
  std::size_t out = operation.a.identity() * kOdd + operation.b.identity();
  out = (out ^ (out >> 32U)) * kOdd + static_cast<std::size_t>(operation.op);
  return out ^ (out >> 29U);
}

const PerUnit* UnitTables::find(const Operation& operation) const {
  const auto found = known_.find(operation);
  return found == known_.end() ? nullptr : &found->second;
}

void UnitTables::keep(Operation operation, const PerUnit& value) {
  constexpr std::size_t kMaxKept = 1024;  // a loop of many rounds has as many tables
  if (known_.size() < kMaxKept) known_.try_emplace(std::move(operation), value);
}

const PerUnit* UnitTables::find(ir::VarId id) const {
  const auto found = ids_.find(id.index);
  return found == ids_.end() ? nullptr : &found->second;
}

}  // namespace ww::lower
