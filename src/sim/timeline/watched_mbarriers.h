// SPDX-License-Identifier: Apache-2.0
// The mbarriers of a unit while it is recorded. Each look compares them with the last one and adds what
// has changed to Recording::mbarriers, where an mbarrier keeps its index. An address has one mbarrier
// at a time: one that is made there after an mbarrier.inval is a new record.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "sim/timeline/recorder_context.h"

namespace ww::sim {

class Cta;
struct Mbarrier;

class WatchedMbarriers {
 public:
  explicit WatchedMbarriers(RecorderContext& context) : context_(context) {}

  /// Looks at all of them.
  void update();
  /// The index of the mbarrier at this address, with rank; empty: none was seen there.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t address) const;
  /// The same; looks at all of them first if none was seen there.
  [[nodiscard]] std::optional<std::uint32_t> look_up(std::uint64_t address);
  /// The phase in which an mbarrier was last seen, by its index.
  [[nodiscard]] std::uint64_t phase(std::uint32_t index) const {
    return context_.out.mbarriers[index].phases.back().number;
  }
  /// Work has just arrived at it: if that ends a phase, who issued the work has ended it.
  void note_arrival(std::uint32_t index, const Doer& issued_by);
  /// The next op begins: what ends a phase from now on is not that work.
  void forget_arrivals() { arrived_.clear(); }
  /// The recording ends at that step; those alive last until then.
  void end(std::uint64_t steps);

 private:
  void note(const Cta& cta, std::uint32_t offset, const Mbarrier& barrier);

  RecorderContext& context_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_address_;  // those alive
  std::unordered_map<std::uint64_t, Doer> arrived_;              // by address
};

}  // namespace ww::sim
