// SPDX-License-Identifier: Apache-2.0
// Threads that are still running when a limit ends the run: do they get anywhere? Their units run on
// for a little while and are watched. A warp that comes back to an instruction with the same
// registers, while no memory changes, will do so for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sim/checks/findings.h"
#include "sim/memory/memory.h"
#include "sim/order/manner.h"

namespace ww::sim {

class Recorder;
class Unit;
class Warp;
enum class Outcome : std::uint8_t;

/// A read that some lanes make again and again.
struct SpinRead {
  const Region* region = nullptr;
  std::uint64_t address = 0;  // of the first of the lanes
  unsigned bytes = 0;
  Mask lanes = 0;
  std::uint64_t times = 0;  // 0: its address changes
  std::uint32_t op = kNoOp;

  [[nodiscard]] bool is_global() const { return region->space == Space::Global; }
};

/// What a warp does while it is watched.
struct WatchedWarp {
  std::uint32_t last = 0;                    // op
  std::unordered_set<std::uint64_t> states;  // after jumps back
  std::uint32_t back_to = kNoOp;             // the op at which it was in a state again
  std::map<std::uint32_t, SpinRead> reads;   // by op
};

class Spins {
 public:
  /// Watches units while it lives. How they ended and what was counted stays as it was.
  explicit Spins(std::span<Unit* const> units);
  ~Spins();
  Spins(const Spins&) = delete;
  Spins& operator=(const Spins&) = delete;

  /// Whether none of the threads can ever go on, as long as no others come.
  [[nodiscard]] bool last_for_ever() { return all_settle() && all_settle(); }
  /// nullptr: it did nothing.
  [[nodiscard]] const WatchedWarp* find(const Warp& warp) const;
  /// What the warp waits for, as it seems; nullptr: there is no such read.
  [[nodiscard]] const SpinRead* read_of(const Warp& warp) const;
  /// The warp of a party, unless it was not watched; then its block has ended.
  [[nodiscard]] const Warp* find(const Party& party) const;

  // --- for the loop over ops and for what accesses memory ----------------------------------------
  void before_op(Warp& warp);
  void accesses(const Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                unsigned bytes, Touched how);

 private:
  struct Kept {
    Unit* unit;
    Outcome outcome;
    std::string reason;
    std::uint64_t counted, executed;
    std::unique_ptr<Recorder> recorder;
  };

  bool all_settle();
  [[nodiscard]] bool is_settled(const Warp& warp) const;
  void look_for_changes();

  std::vector<Kept> kept_;
  std::unordered_map<const Warp*, WatchedWarp> warps_;
  std::vector<std::pair<std::byte*, std::string>> latest_;  // what the latest access found where
  std::unordered_set<const Warp*> waiting_;                 // through all of an earlier watch
  bool is_first_ = true, has_changed_ = false;
};

}  // namespace ww::sim
