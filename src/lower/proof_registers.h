// SPDX-License-Identifier: Apache-2.0
// What registers hold while the proof of a product carries out its code: a number per element.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "lower/proof_names.h"

namespace ww::lower {

/// Modulo 2^64.
using Number = std::uint64_t;

/// SplitMix64.
inline Number mixed(Number x) {
  x += 0x9E37'79B9'7F4A'7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return x ^ (x >> 31U);
}
inline Number mixed(Number a, Number b) { return mixed(mixed(a) ^ b); }

/// What the registers of all threads of the unit hold, element by element.
class Registers {
 public:
  struct Place {
    ir::BufferId storage;
    std::size_t thread;
    std::int64_t bit;
    int bits;  // of the element

    friend bool operator==(const Place&, const Place&) = default;
  };

  /// Elements of another width that lie there are no longer known.
  void put(const Place& place, Number value) {
    std::set<int>& widths = widths_[place.storage.index];
    widths.insert(place.bits);
    for (const int width : widths)
      if (width != place.bits) forget(place, width);
    held_[place] = value;
  }
  /// What is there beside others: elements of another width stay.
  void put_beside(const Place& place, Number value) {
    widths_[place.storage.index].insert(place.bits);
    held_[place] = value;
  }
  /// Nothing where nothing has been put.
  [[nodiscard]] std::optional<Number> at(const Place& place) const {
    const auto found = held_.find(place);
    if (found == held_.end()) return std::nullopt;
    return found->second;
  }
  template <typename Change>
  void change_all(Change&& change) {
    for (auto& [place, number] : held_) number = change(number);
  }

 private:
  void forget(const Place& place, int width) {
    const std::int64_t first = granule_at(place.bit, width) * width;
    for (std::int64_t bit = first; bit < place.bit + place.bits; bit += width)
      held_.erase({place.storage, place.thread, bit, width});
  }

  struct Hash {
    std::size_t operator()(const Place& place) const {
      const Number where = mixed(place.storage.index, place.thread);
      return where ^ (static_cast<Number>(place.bit) * 64 + static_cast<Number>(place.bits));
    }
  };
  std::unordered_map<Place, Number, Hash> held_;
  std::map<std::uint32_t, std::set<int>> widths_;  // by storage
};

/// Numbers of elements that share a register, which are one number.
class SharedNumbers {
 public:
  [[nodiscard]] Number known_as(Number x) const {
    for (auto at = as_.find(x); at != as_.end(); at = as_.find(x)) x = at->second;
    return x;
  }
  void unite(Number x, Number y) {
    x = known_as(x);
    y = known_as(y);
    if (x != y) as_[x] = y;
  }
  [[nodiscard]] bool empty() const { return as_.empty(); }

 private:
  std::unordered_map<Number, Number> as_;
};

}  // namespace ww::lower
