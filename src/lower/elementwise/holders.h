// SPDX-License-Identifier: Apache-2.0
// Which threads hold the elements of an operand in registers, and where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
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
  out.reserve(side.size());
  for_each_holder(side, threads, [&](std::size_t x, std::int64_t u, std::int64_t slot) {
    out.push_back({static_cast<std::int64_t>(x), u, slot});
  });
  return out;
}

namespace holders {

/// Sorts by a number; equal ones stay in order. By counting where the numbers are as dense as those
/// of threads and registers are.
template <typename Key>
void sort_by(std::vector<ElementCell>& cells, Key&& key) {
  std::int64_t least = 0, most = 0;
  for (const ElementCell& cell : cells) {
    least = std::min(least, key(cell));
    most = std::max(most, key(cell));
  }
  if (least < 0 || most > 4 * std::ssize(cells) + 4096) {
    std::ranges::stable_sort(cells, {}, key);
    return;
  }
  std::vector<std::size_t> next(as_index(most) + 2, 0);
  for (const ElementCell& cell : cells) ++next[as_index(key(cell)) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<ElementCell> out(cells.size());
  for (const ElementCell& cell : cells) out[next[as_index(key(cell))]++] = cell;
  cells = std::move(out);
}

}  // namespace holders

/// The element that each thread has in each register.
struct RegisterTable {
  static constexpr std::int32_t kNone = -1;
  std::int64_t slots = 0;
  std::vector<std::int32_t> elements = {};  // by register, then by thread
};
/// Nothing where it would be much larger than the operand, or where a register has several elements.
inline std::optional<RegisterTable> register_table(const OperandPlaces& side,
                                                   std::int64_t threads) {
  std::int64_t least = 0, most = 0;
  for (const std::int64_t slot : side.linear) {
    least = std::min(least, slot);
    most = std::max(most, slot);
  }
  for (const Shift& replica : side.replicas)
    if (replica.place != 0) return std::nullopt;
  const auto count = std::ssize(side.linear) * std::ssize(side.replicas) * std::ssize(side.spread);
  if (least < 0 || (most + 1) * threads > 4 * count + 4096) return std::nullopt;
  constexpr std::int32_t kNone = RegisterTable::kNone;
  std::vector<std::int32_t> table(as_index((most + 1) * threads), kNone);
  bool has_one_each = true;
  for_each_holder(side, threads, [&](std::size_t x, std::int64_t u, std::int64_t slot) {
    const auto element = static_cast<std::int32_t>(x);
    const std::int32_t before = std::exchange(table[as_index(slot * threads + u)], element);
    has_one_each = has_one_each && (before == kNone || before == element);
  });
  if (!has_one_each) return std::nullopt;
  return RegisterTable{most + 1, std::move(table)};
}

/// By register, then by thread, then by element; one that is in the same register twice may come once.
inline std::vector<ElementCell> cells_by_slot(const OperandPlaces& side, std::int64_t threads) {
  std::vector<ElementCell> out;
  if (const auto table = register_table(side, threads)) {
    out.reserve(side.size());
    const std::int32_t* at = table->elements.data();
    for (std::int64_t slot = 0; slot < table->slots; ++slot)
      for (std::int64_t u = 0; u < threads; ++u, ++at)
        if (*at != RegisterTable::kNone) out.push_back({*at, u, slot});
    return out;
  }
  out = cells_of(side, threads);  // the elements in order
  holders::sort_by(out, [](const ElementCell& cell) { return cell.thread; });
  holders::sort_by(out, [](const ElementCell& cell) { return cell.slot; });
  return out;
}

/// Where the elements of a source are, thread by thread.
class Holders {
 public:
  /// `element` by element of the destination: which of the side goes into it.
  Holders(const OperandPlaces& side, std::int64_t threads, std::vector<std::int64_t> element)
      : element_(std::move(element)), cells_(cells_of(side, threads)) {
    // The elements come in order.
    starts_.assign(side.size() + 1, 0);
    for (const ElementCell& cell : cells_) ++starts_[as_index(cell.x) + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    for (std::size_t x = 0; x < side.size(); ++x) {
      if (starts_[x + 1] - starts_[x] < 2) continue;
      std::sort(iterator_at(starts_[x]), iterator_at(starts_[x + 1]),
                [](const ElementCell& a, const ElementCell& b) {
                  return std::pair(a.thread, a.slot) < std::pair(b.thread, b.slot);
                });
    }
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
    const auto from = as_index(source_of(x));
    return std::lower_bound(
        cells_.begin() + starts_[from], cells_.begin() + starts_[from + 1], thread,
        [](const ElementCell& cell, std::int64_t wanted) { return cell.thread < wanted; });
  }
  std::vector<ElementCell>::iterator iterator_at(std::ptrdiff_t i) { return cells_.begin() + i; }

  std::vector<std::int64_t> element_;
  std::vector<ElementCell> cells_;      // by element, then by thread
  std::vector<std::ptrdiff_t> starts_;  // by element: its first cell
};

}  // namespace ww::lower
