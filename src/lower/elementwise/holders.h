// SPDX-License-Identifier: Apache-2.0
// Which threads hold the elements of an operand in registers, and where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "lower/as_index.h"
#include "lower/operand_places.h"

namespace ww::lower {

/// An element of a side in one of the threads that hold it.
struct ElementCell {
  std::int64_t x, thread, slot;
};

inline std::vector<ElementCell> cells_of(const OperandPlaces& side, std::int64_t threads) {
  std::vector<ElementCell> out;
  for_each_holder(side, threads, [&](std::size_t x, std::int64_t u, std::int64_t slot) {
    out.push_back({static_cast<std::int64_t>(x), u, slot});
  });
  return out;
}

/// Where the elements of a source are, thread by thread.
class Holders {
 public:
  /// `element` by element of the destination: which of the side goes into it.
  Holders(const OperandPlaces& side, std::int64_t threads, std::vector<std::int64_t> element)
      : element_(std::move(element)), cells_(cells_of(side, threads)) {
    std::ranges::sort(cells_, {}, [](const ElementCell& cell) {
      return std::tuple(cell.x, cell.thread, cell.slot);
    });
  }
  /// The element that goes into element x of the destination.
  [[nodiscard]] std::int64_t source_of(std::int64_t x) const { return element_[as_index(x)]; }
  /// Its register in a thread, the first of several.
  [[nodiscard]] std::optional<std::int64_t> slot(std::int64_t x, std::int64_t thread) const {
    const auto found = first_from(x, thread);
    if (found == cells_.end() || found->x != source_of(x) || found->thread != thread)
      return std::nullopt;
    return found->slot;
  }
  /// The threads that have it, in ascending order.
  [[nodiscard]] std::vector<std::int64_t> threads_of(std::int64_t x) const {
    std::vector<std::int64_t> out;
    for (auto at = first_from(x, 0); at != cells_.end() && at->x == source_of(x); ++at)
      if (out.empty() || out.back() != at->thread) out.push_back(at->thread);
    return out;
  }
  /// A thread that has it.
  [[nodiscard]] std::int64_t owner(std::int64_t x) const { return first_from(x, 0)->thread; }

 private:
  [[nodiscard]] std::vector<ElementCell>::const_iterator first_from(std::int64_t x,
                                                                    std::int64_t thread) const {
    return std::ranges::lower_bound(
        cells_, std::pair(source_of(x), thread), {},
        [](const ElementCell& cell) { return std::pair(cell.x, cell.thread); });
  }

  std::vector<std::int64_t> element_;
  std::vector<ElementCell> cells_;  // by element, then by thread
};

}  // namespace ww::lower
