// SPDX-License-Identifier: Apache-2.0
// A case made of numbers alone, read as a row of choices: whoever builds a random program asks the
// tape what comes next. 0 is the plainest choice everywhere and what an ended tape says, so that
// shrinking the numbers of a case (property/shrink.h) shrinks the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "property/shrink.h"

namespace ww::test {

class Tape {
 public:
  explicit Tape(const Ints& numbers) : numbers_(numbers) {}
  /// In [0, n).
  std::int64_t below(std::int64_t n) {
    const std::int64_t next = at_ < numbers_.size() ? numbers_[at_++] : 0;
    return (next < 0 ? -next : next) % n;
  }
  /// In [low, high]; 0, or what is nearest to it, first.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const std::int64_t first = low > 0 ? low : (high < 0 ? high : 0);
    const std::int64_t k = below(high - low + 1);
    return first + k <= high ? first + k : low + (first + k - high - 1);
  }
  template <typename T>
  const T& pick(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size())))];
  }

  /// A random tape of that length.
  static Case random(Rng& rng, std::size_t length) {
    Case out;
    for (std::size_t i = 0; i < length; ++i) out.numbers.push_back(rng.between(0, 9999));
    return out;
  }

 private:
  const Ints& numbers_;
  std::size_t at_ = 0;
};

}  // namespace ww::test
