// SPDX-License-Identifier: Apache-2.0
// Where the lanes of a warp are. Lanes that diverge (at a branch that only some take) form
// `Split`s, each a set of lanes at one instruction. The split furthest behind runs first, so the
// others wait where the paths meet, and splits that reach the same instruction merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/lanes.h"

namespace ww::sim {

class Warp;

enum class SplitState : std::uint8_t {
  Running,
  Meeting,    // at a collective instruction whose other lanes are not there yet
  AtBarrier,  // at a barrier of the CTA
  AtClusterBarrier,
  Asleep,       // at an mbarrier that is not done
  AtAlloc,      // waits for columns of tensor memory
  AtRegisters,  // waits for registers that other warps give back
  AtWarpgroup,  // at a wgmma that other warps of its group have not come to
};

/// A function as some lanes run it.
struct Activation {
  std::uint32_t frame = 0;  // where its registers start
  std::uint32_t local = 0;  // where its local memory starts
  std::uint32_t call = 0;   // who called it: index into the warp's call nodes
  std::uint32_t depth = 0;
  friend bool operator==(const Activation&, const Activation&) = default;
};

/// Lanes of a warp at one place of the program.
struct Split {
  std::uint32_t pc = 0;
  Mask lanes = 0;
  Activation in{};
  SplitState state = SplitState::Running;
  bool is_granted = false;    // what it waited for has happened; the op at `pc` takes note
  std::uint32_t value = 0;    // barrier number, or the result of a barrier's reduction
  std::uint64_t address = 0;  // of the mbarrier; Meeting: the lanes it waits for
  std::uint64_t last_run = 0;

  void resume(bool granted, std::uint32_t with = 0) {
    state = SplitState::Running;
    is_granted = granted;
    value = with;
  }
};

/// Results of waiting for a warpgroup: another warp has issued for all, or some cannot come.
constexpr std::uint32_t kIssuedForAll = 1, kWithoutWarps = 2;

/// What the running split waited for and now has.
struct Grant {
  /// The value for lanes that are let go without those they wait for.
  static constexpr std::uint32_t kWithoutOthers = ~std::uint32_t{0};

  bool is_open = false;
  std::uint32_t value = 0;
  std::uint64_t address = 0;
};

/// The splits of a warp and whose turn it is.
struct Splits {
  std::vector<Split> list;
  std::size_t running = 0;  // index of the one that runs
  bool is_loaded = false;   // whether the warp's own members are those of list[running]
  bool yields = false;      // the warp gives up its turn
  std::uint64_t turn = 0;
  std::uint32_t crowded_turns = 0;  // in which one ran and others could have
  std::uint32_t crowded_steps = 0;  // the same, of single ops
};

// --- for ops -------------------------------------------------------------------------------------

/// The executing lanes leave the running split and become this one.
void split_off(Warp& warp, Split split);
/// Goes to `target` in the executing lanes.
void branch_to(Warp& warp, std::uint32_t target);
/// Ends the executing lanes.
void end_lanes(Warp& warp);
/// Executes the op again later, in the executing lanes; the others go on.
void wait_in(Warp& warp, SplitState state, std::uint32_t value = 0, std::uint64_t address = 0);
/// Whether what this split waited for has happened; takes note of it.
bool take_grant(Warp& warp, std::uint32_t* value = nullptr);
/// Ends the run of this warp's turn after this op.
void yield_turn(Warp& warp);

// --- for the unit and the loop -------------------------------------------------------------------

/// Loads the split that runs next into the warp; false: none can run.
bool choose_split(Warp& warp);
/// Puts what the warp has of the running split back into the list.
void save_split(Warp& warp);
[[nodiscard]] bool can_run(const Warp& warp);
/// Lets a split that waits in vain for others go on, with a finding. Whether there was one.
bool break_meeting(Warp& warp);
/// Makes every split in that state run again.
bool wake(Warp& warp, SplitState state, bool granted, std::uint32_t value = 0);

}  // namespace ww::sim
