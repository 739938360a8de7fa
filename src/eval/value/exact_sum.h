// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace ww::eval {

/// A sum of doubles that carries its rounding errors along.
class ExactSum {
 public:
  void add(double value) {
    const double next = sum_ + value;
    rest_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
    sum_ = next;
  }
  [[nodiscard]] double value() const { return std::isfinite(sum_) ? sum_ + rest_ : sum_; }

 private:
  double sum_ = 0;
  double rest_ = 0;
};

}  // namespace ww::eval
