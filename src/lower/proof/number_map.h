// SPDX-License-Identifier: Apache-2.0
// A table by numbers that are hashes already (lower/proof/registers.h), in one piece of memory: a
// proof of a fold puts thousands of values in and finds each of them a few times.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "lower/proof/registers.h"

namespace ww::lower {

template <typename Value>
class NumberMap {
 public:
  /// Nothing where there is none; valid until the next `put`.
  [[nodiscard]] const Value* find(Number key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.is_used ? &slot.value : nullptr;
  }
  void put(Number key, const Value& value) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    if (!slot.is_used) ++count_;
    slot = {key, value, true};
  }

 private:
  struct Slot {
    Number key = 0;
    Value value = {};
    bool is_used = false;
  };

  // Where the key is, or belongs: some slot is free.
  [[nodiscard]] std::size_t place_of(Number key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(key) & mask;
    while (slots_[at].is_used && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> before(slots_.empty() ? 256 : 2 * slots_.size());
    std::swap(before, slots_);
    for (const Slot& slot : before)
      if (slot.is_used) slots_[place_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::size_t count_ = 0;
};

}  // namespace ww::lower
