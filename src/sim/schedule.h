// SPDX-License-Identifier: Apache-2.0
// Which warp of a unit runs next. What a right kernel does must not depend on it, and one rarely
// shows what a wrong one does: sim/schedules.h runs a launch in several.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ww::sim {

/// Warps of a unit, the first and the last of a range.
struct WarpRange {
  std::uint32_t first = 0, last = 0;

  friend bool operator==(const WarpRange&, const WarpRange&) = default;
};

enum class Turns : std::uint8_t {
  InOrder,
  Backward,
  Stepwise,  // all of them one instruction at a time
  Random,    // by seed, reproducibly
  Delayed,   // some warps go on only when no other can
  Ranked,    // the warp of the highest rank that can; ranks are drawn, and lost at drawn moments
};

/// Steps of Ranked where none are given.
inline constexpr std::uint64_t kUsualRankSteps = 10'000;

/// At random, asynchronous work that signals an mbarrier also completes early now and then; otherwise
/// it completes as late as it may: when a thread waits for it, and in single steps when no thread can
/// do anything else.
struct Schedule {
  Turns turns = Turns::InOrder;
  std::uint64_t seed = 0;            // of Random and Ranked
  std::uint64_t steps = 0;           // Ranked: the instructions in which ranks are lost
  std::vector<WarpRange> delayed{};  // of Delayed

  static Schedule random(std::uint64_t seed) { return {.turns = Turns::Random, .seed = seed}; }
  [[nodiscard]] bool is(Turns wanted) const { return turns == wanted; }
};

/// `rr`, `reverse`, `step`, `random:7`, `delay:4-7,12`, `pct:7:5000`: as `--schedule` takes it.
std::string text_of(const Schedule& schedule);

}  // namespace ww::sim
