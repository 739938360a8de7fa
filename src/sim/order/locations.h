// SPDX-License-Identifier: Apache-2.0
// Places in memory through which threads synchronise. A strong write that releases, or has a fence
// before it, publishes what its thread knows; a strong read takes from there what both scopes
// allow. An atomic adds to what is published; a store starts afresh, because a reader of its value
// has not seen the earlier ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/order/clocks.h"

namespace ww::sim {

/// What one location has for its readers.
class Location {
 public:
  /// Something is published here for threads within `scope` of `from`.
  void publish(Scope scope, const Home& from, const Clocks& what);
  /// Calls visit(distance, clocks) for what a read of that scope may observe.
  template <typename Visit>
  void observe(Scope scope, const Home& reader, Visit&& visit) const {
    for (const Part& part : parts_) {
      const Scope distance = std::max(part.spread, scope_of(part.from, reader));
      if (distance <= scope && distance <= part.scope) visit(distance, part.clocks);
    }
  }
  /// Calls visit(clocks) for all of it.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Part& part : parts_) visit(part.clocks);
  }
  /// Publishes here what another one has.
  void join(const Location& other);
  void clear() { parts_.clear(); }
  [[nodiscard]] bool empty() const { return parts_.empty(); }

  std::uint64_t writer = ~std::uint64_t{0};  // the thread that wrote here last

 private:
  /// What has one scope. Only parts for the whole GPU come from several places.
  struct Part {
    Scope scope{};
    Scope spread{};  // of the threads that it comes from
    Home from{};
    Clocks clocks;
  };
  std::vector<Part> parts_;
};

/// Locations by address and size: accesses of different sizes do not synchronise.
class Locations {
 public:
  /// nullptr: nothing is published there.
  Location* find(std::uint64_t address, unsigned bytes) {
    if (map_.empty()) return nullptr;
    const auto found = map_.find(key(address, bytes));
    return found == map_.end() ? nullptr : &found->second;
  }
  Location& at(std::uint64_t address, unsigned bytes) { return map_[key(address, bytes)]; }
  void forget(std::uint64_t address, unsigned bytes) { map_.erase(key(address, bytes)); }
  void clear() { map_.clear(); }
  [[nodiscard]] std::uint64_t bytes() const { return map_.size() * 256; }

 private:
  static std::uint64_t key(std::uint64_t address, unsigned bytes) {
    return (address << 5U) | (bytes & 31U);
  }
  std::unordered_map<std::uint64_t, Location> map_;
};

}  // namespace ww::sim
