// SPDX-License-Identifier: Apache-2.0
// A table by numbers that are hashes already (lower/proof/registers.h), in one piece of memory: a
// proof of a fold puts thousands of values in and finds each of them a few times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
    return slot.value == 0 ? nullptr : &values_[slot.value - 1];
  }
  /// Room for so many.
  void reserve(std::size_t count) {
    values_.reserve(count);
    std::size_t slots = std::max(kMinSlots, slots_.size());
    while (4 * count > 3 * slots) slots *= 2;
    if (slots > slots_.size()) resize(slots);
  }
  void put(Number key, const Value& value) {
    if (!has_room_for(values_.size() + 1)) grow();
    Slot& slot = slots_[place_of(key)];
    if (slot.value != 0) {
      values_[slot.value - 1] = value;
      return;
    }
    values_.push_back(value);
    slot = {key, static_cast<std::uint32_t>(values_.size())};
  }

 private:
  static constexpr std::size_t kMinSlots = 256;

  struct Slot {
    Number key = 0;
    std::uint32_t value = 0;  // its number, from 1 on; 0: the slot is free
  };

  // At most three of four slots are used.
  [[nodiscard]] bool has_room_for(std::size_t count) const {
    return 4 * count <= 3 * slots_.size();
  }

  // Where the key is, or belongs: some slot is free.
  [[nodiscard]] std::size_t place_of(Number key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(key) & mask;
    while (slots_[at].value != 0 && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void grow() { resize(std::max(kMinSlots, 2 * slots_.size())); }
  void resize(std::size_t count) {
    std::vector<Slot> before(count);
    std::swap(before, slots_);
    for (const Slot& slot : before)
      if (slot.value != 0) slots_[place_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::vector<Value> values_;
};

}  // namespace ww::lower
