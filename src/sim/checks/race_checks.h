// SPDX-License-Identifier: Apache-2.0
// The rule that says whether an access races with an earlier one, and the findings. Two accesses to
// the same bytes, of which one writes, race when nothing orders them (order.h), unless both are
// strong with scopes that reach the other thread, and of the same size (manner.h).
#pragma once

#include <cstdint>
#include <string>

#include "sim/checks/access_sets.h"
#include "sim/checks/findings.h"
#include "sim/memory/memory.h"
#include "sim/order/manner.h"
#include "sim/order/order.h"

namespace ww::sim {

class Unit;
class Warp;

/// The value of a coming store, for the rule that rewriting a value does not race with the write
/// that put it there.
class StoredBytes {
 public:
  /// `are_there(region, address, lane)` tells whether the bytes of that lane's store are at its
  /// address already. It must outlive this object.
  template <typename Test>
  explicit StoredBytes(const Test& are_there)
      : test_(&are_there),
        call_([](const void* test, const Region& region, std::uint64_t address, unsigned lane) {
          return (*static_cast<const Test*>(test))(region, address, lane);
        }) {}
  [[nodiscard]] bool are_there(const Region& region, std::uint64_t address, unsigned lane) const {
    return call_(test_, region, address, lane);
  }

 private:
  const void* test_;
  bool (*call_)(const void*, const Region&, std::uint64_t, unsigned);
};

/// The access of a lane to a word, or to a byte. Of lanes that do the same, the first one.
struct RaceStep {
  Warp& warp;
  const Order& order;
  const AccessSets& sets;
  Touched how{};
  AccessStamp by;
  std::uint32_t stamp = 0;  // its number; 0: none
  unsigned bytes = 0;       // of the whole access
  unsigned lane = 0;
  std::uint64_t address = 0;            // of the whole access
  std::uint64_t word = 0;               // that is looked at
  const StoredBytes* stored = nullptr;  // null: rewriting is a race
  const Region* region = nullptr;       // known wherever `stored` is asked
  bool is_noted = false;                // for other units, too, which have shadows of their own
  /// Whether another lane has done the same at the word in this instruction, so that other units
  /// have been looked at.
  bool is_again = false;
  /// Whether it was reported, or the very lane decided: then it says nothing about other lanes.
  bool is_special = false;
};
/// Reports what the step races with.
void check_races(RaceStep& step, const WordAccesses& cell);
/// Which of the lanes that made an earlier access nothing orders before the step.
Mask unordered(RaceStep& step, const AccessEntry& entry);
/// The non-coherent cache need not see what the kernel writes, ordered or not: reports a write.
void check_stale(RaceStep& step, const WordAccesses& cell);
/// The lane of the step reads, through the non-coherent cache, what the kernel has written.
void report_stale(RaceStep& step, const Party& writer);

/// "4 bytes of shared memory at 0x80", "lane 3, column 0 of tensor memory".
std::string place_text(const Unit& unit, std::uint64_t address, unsigned bytes);
/// "reads", "writes", "frees".
const char* verb_of(Touched how);
/// ": both are strong, and …" where two strong accesses race all the same; else empty.
std::string why_not_strong(Agreement why, const Manner& a, const Manner& b);

}  // namespace ww::sim
