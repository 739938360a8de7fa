// SPDX-License-Identifier: Apache-2.0
// Which lanes of a warp fold their parts of a reduction, and who has the whole result then.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lower/reduce/problem.h"

namespace ww::lower {

inline constexpr std::int64_t kLanesOfWarp = 32;

/// Lanes whose numbers differ in `bit` fold their parts `rows`.
struct Butterfly {
  std::int64_t bit = 1;
  std::vector<std::int64_t> rows = {};
};
/// What the parts of all threads have become.
class LaneParts {
 public:
  explicit LaneParts(const ReduceProblem& p);

  /// Folds where that joins parts of one element everywhere, from bit 0 on.
  std::vector<Butterfly> butterflies();

  /// The part of a thread that has all elements of one of the destination.
  [[nodiscard]] std::optional<std::int64_t> whole(std::int64_t into, std::int64_t thread) const;
  /// A thread with the greatest part of it, and how many elements that has.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> greatest(std::int64_t into) const;

 private:
  /// Sets that are folded into a part: few, since a warp has 32 lanes.
  struct Folded {
    std::int64_t into = -1;
    std::vector<std::int64_t> sets = {};  // sorted
  };
  using Row = std::vector<Folded>;  // by thread

  static bool share(const Folded& a, const Folded& b);
  static bool joins(const Row& parts, std::int64_t bit);
  static void fold(Row& parts, std::int64_t bit);
  [[nodiscard]] std::int64_t count(const Folded& part) const;

  const ReduceProblem& p_;
  std::vector<Row> rows_;
};

}  // namespace ww::lower
