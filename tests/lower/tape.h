// SPDX-License-Identifier: Apache-2.0
// Choices that a random program is made from, and how they are read. 0 is the plainest choice
// everywhere, and what an ended row says, so that shrinking the row shrinks the program.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace ww::test {

using Choices = std::vector<std::uint32_t>;

/// Choices by chance: always the same for a seed and a number.
Choices random_choices(std::uint64_t seed, std::uint64_t number);

class Tape {
 public:
  explicit Tape(const Choices& choices) : choices_(choices) {}
  /// In [0, n).
  std::int64_t below(std::int64_t n) {
    const std::uint32_t next = at_ < choices_.size() ? choices_[at_++] : 0;
    return static_cast<std::int64_t>(next) % n;
  }
  /// True once in n times; an ended tape says no.
  bool one_in(std::int64_t n) { return below(n) == n - 1; }
  template <typename T>
  const T& pick(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size())))];
  }
  template <typename T>
  T& pick(std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size())))];
  }
  /// How many choices were read.
  [[nodiscard]] std::size_t used() const { return at_; }

 private:
  const Choices& choices_;
  std::size_t at_ = 0;
};

/// A number from the environment: WW_RANDOM_COUNT, WW_RANDOM_SEED.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace ww::test
