// SPDX-License-Identifier: Apache-2.0
// Finds the number of a thing in a list by its value. The list keeps the things; the table keeps
// only their numbers, so that a lookup touches little memory and an insertion allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ww::sim {

/// Numbers start at 1: item 0 of the list stands for none.
class NumberTable {
 public:
  /// The number of the thing of that hash for which is_it(number) holds; else takes `next` for it
  /// and returns it. `hash_of(number)` gives the hash of an item that is in the table.
  template <typename IsIt, typename HashOf>
  std::uint32_t find_or_add(std::size_t hash, std::uint32_t next, const IsIt& is_it,
                            const HashOf& hash_of) {
    if (2 * (count_ + 1) > slots_.size()) grow(hash_of);
    std::uint32_t& slot = slot_of(hash, is_it);
    if (slot == 0) {
      slot = next;
      ++count_;
    }
    return slot;
  }
  void clear() {
    slots_.clear();
    count_ = 0;
  }

 private:
  template <typename IsIt>
  std::uint32_t& slot_of(std::size_t hash, const IsIt& is_it) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (hash ^ (hash >> 32U)) & mask;
    while (slots_[at] != 0 && !is_it(slots_[at])) at = (at + 1) & mask;
    return slots_[at];
  }
  template <typename HashOf>
  void grow(const HashOf& hash_of) {
    std::vector<std::uint32_t> old(slots_.empty() ? kLeast : 2 * slots_.size());
    old.swap(slots_);
    for (const std::uint32_t number : old) {
      if (number != 0) slot_of(hash_of(number), [](std::uint32_t) { return false; }) = number;
    }
  }

  static constexpr std::size_t kLeast = 1024;
  std::vector<std::uint32_t> slots_;  // a power of two of them; 0: free
  std::size_t count_ = 0;
};

}  // namespace ww::sim
