// SPDX-License-Identifier: Apache-2.0
// The smallest subject that goes wrong in the same way as a given one.
#pragma once

#include <functional>
#include <utility>

namespace ww::test {

/// Keeps the smallest of the subjects that it is shown.
template <typename Subject>
class Shrinker {
 public:
  /// Whether a subject still goes wrong in the same way.
  using StillFails = std::function<bool(const Subject&)>;
  /// `most_tries`: how many subjects it looks at; negative: all.
  Shrinker(Subject subject, StillFails still_fails, int most_tries)
      : best_(std::move(subject)), still_fails_(std::move(still_fails)), tries_left_(most_tries) {}

  /// Takes a smaller subject if it goes wrong, too.
  bool attempt(Subject smaller) {
    if (tries_left_ == 0) return false;
    --tries_left_;
    if (!still_fails_(smaller)) return false;
    best_ = std::move(smaller);
    return true;
  }
  [[nodiscard]] bool is_over() const { return tries_left_ == 0; }
  [[nodiscard]] const Subject& best() const { return best_; }

 private:
  Subject best_;
  StillFails still_fails_;
  int tries_left_;
};

}  // namespace ww::test
