// SPDX-License-Identifier: Apache-2.0
// Where undefined values come from, and which instructions they went through. A value has a number
// here only while it is undefined, so runs without any pay nothing. Registers keep the numbers in
// UndefinedMarks::origins; an undefined register without one was never set.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/lanes.h"
#include "sim/memory/memory.h"
#include "sim/op.h"

namespace ww::sim {

/// 0: none.
using OriginId = std::uint32_t;

/// The beginning of an undefined value.
struct Origin {
  Place place{};              // the register that was never set; not present: it was in memory
  std::uint32_t op = 0;       // that used the register, or read the memory, first
  Mask lanes = 0;             // in which the register was not set
  std::uint64_t address = 0;  // of the memory, generic; 0: not known
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// The origins of a unit. Equal ones have the same number.
class Origins {
 public:
  OriginId from(const Origin& origin);
  /// The value of that origin has gone through an op, too. Of a long way, and in loops, only the first
  /// ops are kept.
  OriginId through(OriginId before, std::uint32_t op);
  [[nodiscard]] const Origin& origin_of(OriginId id) const;
  /// The ops that it went through, first to last.
  [[nodiscard]] std::vector<std::uint32_t> way_of(OriginId id) const;

  /// A warp of the unit has left undefined bytes at that offset of a region.
  void stored(unsigned warp, const Region& region, std::uint64_t offset, unsigned bytes,
              OriginId id);
  /// 0: they were never set.
  [[nodiscard]] OriginId stored_at(unsigned warp, const Region& region, std::uint64_t offset) const;
  /// The same of four bytes at an address that all warps have in common (kTensorWindow).
  void stored(std::uint64_t address, OriginId id);
  [[nodiscard]] OriginId stored_at(std::uint64_t address) const;
  void clear();

 private:
  // A beginning, or a step on from `before`.
  struct Node {
    OriginId before = 0;
    std::uint32_t op = 0;
    std::uint32_t origin = 0;  // its place in origins_
    std::uint32_t steps = 0;
  };
  OriginId add(const Node& node);
  [[nodiscard]] const Node& node(OriginId id) const { return nodes_[id - 1]; }

  std::vector<Node> nodes_;
  std::vector<Origin> origins_;
  std::unordered_map<std::uint64_t, std::vector<OriginId>> beginnings_;  // by op and place
  std::unordered_map<std::uint64_t, OriginId> steps_;                    // by number before and op
  std::unordered_map<std::uint64_t, OriginId> memory_;                   // by word
};

}  // namespace ww::sim
