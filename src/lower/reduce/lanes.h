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

/// Lanes fold a part with that of a lane on the other side of `bit`: the one whose number differs
/// in nothing else, in all lanes; or, where rows begin anywhere in a warp, one that holds part of the
/// same element, in the lanes that there is one for.
struct Exchange {
  std::int64_t bit = 1, row = 0;
  bool is_butterfly = true;
  std::vector<bool> takers = {};  // by thread of the unit
  // Lanes that have the same part, by thread of the unit: the nearest of them, and the first.
  std::vector<std::int64_t> nearest = {}, first = {};
};
/// The part of a warp: who has it.
struct WarpPart {
  std::int64_t thread, row;
};

/// What the parts of all threads have become.
class LaneParts {
 public:
  explicit LaneParts(const ReduceProblem& p);

  /// Folds what lanes hold of one element, from bit 0 on.
  std::vector<Exchange> exchanges();

  /// The part of a thread that has all elements of one of the destination.
  [[nodiscard]] std::optional<std::int64_t> whole(std::int64_t into, std::int64_t thread) const;
  /// A thread with the greatest part of it, and how many elements that has.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> greatest(std::int64_t into) const;
  /// By element of the destination, the parts of the warps in order. Declines elements that several
  /// warps hold in part, and parts that the lanes of a warp cannot bring together.
  [[nodiscard]] Match<std::vector<std::vector<WarpPart>>> warp_parts(const Call& call) const;

 private:
  /// Sets that are folded into a part: few, since a warp has 32 lanes.
  struct Folded {
    std::int64_t into = -1;
    std::vector<std::int64_t> sets = {};  // sorted
  };
  using Row = std::vector<Folded>;  // by thread

  static bool share(const Folded& a, const Folded& b);
  static bool joins(const Row& parts, std::int64_t bit);
  [[nodiscard]] bool has_replicas() const;
  static std::vector<std::int64_t> partners_of(const Row& parts, std::int64_t thread,
                                               std::int64_t bit);
  static std::optional<Exchange> guided(Row& parts, std::int64_t bit);
  static void fold(Row& parts, std::int64_t bit);
  [[nodiscard]] std::int64_t count(const Folded& part) const;

  const ReduceProblem& p_;
  std::vector<Row> rows_;
};

}  // namespace ww::lower
