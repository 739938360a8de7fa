// SPDX-License-Identifier: Apache-2.0
// Two hash tables for the compiler's most frequent look-ups: values by the number of a node, and
// numbers of equal things. Both are one array, searched from a key's slot on; a look-up takes a few
// instructions, and an insertion allocates no block as `std::unordered_map` does. Nothing is ever
// removed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ww {

/// Spreads the bits of a number over all of the result.
constexpr std::uint32_t spread(std::uint64_t number) {
  return static_cast<std::uint32_t>((number * 0x9E3779B97F4A7C15U) >> 32U);
}

/// Values by the index of an id (base/id.h).
template <typename Value>
class IdMap {
 public:
  /// Empty if there is no value; valid until the next `add`.
  [[nodiscard]] const Value* find(std::uint32_t key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.key == key ? &slot.value : nullptr;
  }
  /// For a key without a value. The greatest number, which means "no id", is not a key.
  void add(std::uint32_t key, Value value) {
    if (4 * (count_ + 1) > 3 * slots_.size()) grow();
    slots_[place_of(key)] = {key, value};
    ++count_;
  }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  static constexpr std::uint32_t kFree = 0xffffffffU;
  static constexpr std::size_t kMinSlots = 16;

  struct Slot {
    std::uint32_t key = kFree;
    Value value = {};
  };

  // Where the key is, or belongs: some slot is free.
  [[nodiscard]] std::size_t place_of(std::uint32_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = spread(key) & mask;
    while (slots_[at].key != key && slots_[at].key != kFree) at = (at + 1) & mask;
    return at;
  }
  [[gnu::noinline]] void grow() {
    std::vector<Slot> before(std::max(kMinSlots, 2 * slots_.size()));
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.key != kFree) slots_[place_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two of them, a quarter of them free
  std::size_t count_ = 0;
};

/// Numbers of things that someone else keeps, by a hash of what they are.
class HashIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  /// The number with that hash for which `same` says yes; else kNone.
  template <typename Same>
  [[nodiscard]] std::uint32_t find(std::uint32_t hash, const Same& same) const {
    if (slots_.empty()) return kNone;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask; slots_[at].number != kNone; at = (at + 1) & mask)
      if (slots_[at].hash == hash && same(slots_[at].number)) return slots_[at].number;
    return kNone;
  }
  /// Of a thing that has none yet.
  void add(std::uint32_t hash, std::uint32_t number) {
    if (4 * (count_ + 1) > 3 * slots_.size()) grow();
    put({hash, number});
    ++count_;
  }

 private:
  static constexpr std::size_t kMinSlots = 16;

  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = kNone;
  };

  void put(Slot slot) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = slot.hash & mask;
    while (slots_[at].number != kNone) at = (at + 1) & mask;
    slots_[at] = slot;
  }
  [[gnu::noinline]] void grow() {
    std::vector<Slot> before(std::max(kMinSlots, 2 * slots_.size()));
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.number != kNone) put(slot);
  }

  std::vector<Slot> slots_;  // a power of two of them, a quarter of them free
  std::size_t count_ = 0;
};

}  // namespace ww
