// SPDX-License-Identifier: Apache-2.0
// Where the elements of a buffer lie, as numbers: layouts made ready for asking millions of times.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"

namespace ww::eval {

/// A place. For registers `owner` is the thread's id as far as the layout's thread axes say it
/// (their digits of the linear id; the others are 0); in tensor memory it is the lane. `memory`
/// counts elements on `m` or TCol.
struct Spot {
  std::int64_t memory = 0;
  std::int64_t owner = 0;
  std::int64_t cta = 0;  // its number in the cluster, as far as the layout says it
};

using Coordinates = std::array<std::int64_t, 3>;

/// Digits [begin, end) of the linear thread id: a thread axis reads (id / begin) % (end / begin).
struct Digits {
  std::int64_t begin = 1;
  std::int64_t end = 0;  // 0: all from `begin` on
};

class Placement {
 public:
  /// Elements one after the other.
  Placement() : copies_(1) {}
  /// `cluster`: its CTAs. Refuses, with NotEvaluated, offsets that are not constant, axes across
  /// clusters, thread axes that overlap or leave their range, and memory axes other than m, TLane and
  /// TCol.
  static Result<Placement> make(const layout::Layout& layout,
                                const Coordinates& cluster = {1, 1, 1});

  /// The place of a copy (0 ≤ copy < copies()) of element `flat`.
  [[nodiscard]] Spot spot(std::int64_t flat, std::size_t copy = 0) const {
    if (is_plain_) return {.memory = flat};
    const std::size_t index = static_cast<std::size_t>(flat) * copies_.size() + copy;
    return index < table_.size() ? table_[index] : find_spot(flat, copy);
  }
  [[nodiscard]] std::size_t copies() const { return copies_.size(); }
  /// The digits of thread ids that the layout decides, smallest first.
  [[nodiscard]] const std::vector<Digits>& digits() const { return digits_; }
  /// Is the spot in the CTA that has these coordinates in its cluster?
  [[nodiscard]] bool is_in_cta(const Spot& spot, const Coordinates& at) const;
  [[nodiscard]] bool is_plain() const { return is_plain_; }
  /// Makes `spot` a table look-up for layouts of this many elements.
  void remember(std::int64_t size);

 private:
  struct Digit {
    std::int64_t extent;
    Spot stride;
  };
  [[nodiscard]] Spot find_spot(std::int64_t flat, std::size_t copy) const;

  bool is_plain_ = true;
  std::vector<Digit> shard_;  // fastest first
  Spot offset_;
  std::vector<Spot> copies_;
  layout::Swizzle swizzle_;
  std::vector<Digits> digits_;
  Coordinates cluster_{1, 1, 1};
  std::array<bool, 3> tells_ctas_apart_{};  // by dimension of the cluster
  std::vector<Spot> table_;                 // [element][copy]
};

/// Threads of the unit [first, first + size) of a CTA with `threads` threads that hold an element
/// whose owner is `owner`: the digits that the layout leaves open take every value within the unit,
/// and the unit's own beyond it. Ascending offsets, to be added to `owner + base`.
struct Holders {
  std::int64_t base = 0;
  std::vector<std::int64_t> spread;
};
Holders holders_of(const Placement& placement, std::int64_t first, std::int64_t size);

}  // namespace ww::eval
