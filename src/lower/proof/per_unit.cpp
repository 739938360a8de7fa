// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/per_unit.h"

#include <algorithm>

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

}  // namespace ww::lower
