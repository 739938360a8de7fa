// SPDX-License-Identifier: Apache-2.0
// Choices that a random program is made from, and how they are read. 0 is the plainest choice
// everywhere, and what an ended row says, so that shrinking the row (harness/shrink.h) shrinks the
// program.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace ww::test {

using Choices = std::vector<std::int64_t>;

/// Choices by chance: always the same for a seed and a number.
Choices random_choices(std::uint64_t seed, std::uint64_t number);

class Tape {
 public:
  explicit Tape(const Choices& choices) : choices_(choices) {}
  /// In [0, n).
  std::int64_t below(std::int64_t n) {
    const std::int64_t next = at_ < choices_.size() ? choices_[at_++] : 0;
    return (next < 0 ? -next : next) % n;
  }
  /// In [low, high]; 0, or what is nearest to it, first.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const std::int64_t first = low > 0 ? low : (high < 0 ? high : 0);
    const std::int64_t k = below(high - low + 1);
    return first + k <= high ? first + k : low + (first + k - high - 1);
  }
  /// True once in n times; an ended tape says no.
  bool one_in(std::int64_t n) { return below(n) == n - 1; }
  template <typename T>
  const T& pick(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size())))];
  }
  template <typename T>
  T& pick(std::vector<T>& values) {
    return const_cast<T&>(pick(std::as_const(values)));
  }
  /// How many choices were read.
  [[nodiscard]] std::size_t used() const { return at_; }

 private:
  const Choices& choices_;
  std::size_t at_ = 0;
};

/// A number from the environment: WW_RANDOM_COUNT, WW_RANDOM_SEED, WW_SEED, WW_CASES.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace ww::test
