// SPDX-License-Identifier: Apache-2.0
#include "sim/run/splits.h"

#include <algorithm>
#include <utility>

#include "sim/run/barriers.h"
#include "sim/run/unit.h"
#include "sim/run/warp.h"

namespace ww::sim {
namespace {

constexpr std::uint32_t kNever = ~std::uint32_t{0};

// After this many turns in which one split ran and others could have, the others get a turn: the
// lanes may wait for each other.
constexpr std::uint32_t kPatience = 32;

void load_split(Warp& warp, std::size_t number) {
  Split& split = warp.splits.list[number];
  warp.splits.running = number;
  warp.active = split.lanes;
  warp.pc = split.pc;
  warp.enter(split.in);
  warp.grant = {std::exchange(split.is_granted, false), split.value, split.address};
  warp.splits.is_loaded = true;
}

// Splits that are at the same place are one. A split that waits for other lanes there runs again.
void merge_splits(Splits& splits) {
  const auto moves = [](const Split& split) {
    return (split.state == SplitState::Running && !split.is_granted) ||
           split.state == SplitState::Meeting;
  };
  for (std::size_t i = 0; i < splits.list.size(); ++i) {
    for (std::size_t j = i + 1; j < splits.list.size();) {
      Split& a = splits.list[i];
      const Split& b = splits.list[j];
      if (a.pc != b.pc || a.in != b.in || !moves(a) || !moves(b)) {
        ++j;
        continue;
      }
      a.lanes |= b.lanes;
      a.state = SplitState::Running;
      a.last_run = std::min(a.last_run, b.last_run);
      splits.list.erase(splits.list.begin() + static_cast<std::ptrdiff_t>(j));
      splits.crowded_turns = 0;
    }
  }
}

// Where the running split could meet another.
void set_stop(Warp& warp) {
  warp.stop = kNever;
  const std::vector<Split>& list = warp.splits.list;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != warp.splits.running && list[i].in.depth == warp.here.depth && list[i].pc > warp.pc)
      warp.stop = std::min(warp.stop, list[i].pc);
  }
}

}  // namespace

void save_split(Warp& warp) {
  Splits& splits = warp.splits;
  if (!splits.is_loaded) return;
  splits.is_loaded = false;
  if (warp.active == 0) {
    splits.list.erase(splits.list.begin() + static_cast<std::ptrdiff_t>(splits.running));
    return;
  }
  Split& split = splits.list[splits.running];
  split.lanes = warp.active;
  split.pc = warp.pc;
  split.in = warp.here;
  split.last_run = ++splits.turn;
}

// The deepest in calls, then the furthest behind. When that one has run for long while others could
// have, the one that has waited longest.
bool choose_split(Warp& warp) {
  Splits& splits = warp.splits;
  if (splits.list.size() > 1) merge_splits(splits);
  const bool patient = splits.crowded_turns < kPatience;
  const auto is_better = [&](const Split& a, const Split& b) {
    if (!patient) return a.last_run < b.last_run;
    return a.in.depth > b.in.depth || (a.in.depth == b.in.depth && a.pc < b.pc);
  };
  const Split* best = nullptr;
  for (const Split& split : splits.list) {
    if (split.state != SplitState::Running) continue;
    if (best == nullptr || is_better(split, *best)) best = &split;
  }
  if (best == nullptr) return false;
  if (!patient) splits.crowded_turns = 0;
  load_split(warp, static_cast<std::size_t>(best - splits.list.data()));
  set_stop(warp);
  return true;
}

bool can_run(const Warp& warp) {
  return std::any_of(warp.splits.list.begin(), warp.splits.list.end(),
                     [](const Split& split) { return split.state == SplitState::Running; });
}

bool wake(Warp& warp, SplitState state, bool granted, std::uint32_t value) {
  bool any = false;
  for (Split& split : warp.splits.list) {
    if (split.state != state) continue;
    split.resume(granted, value);
    any = true;
  }
  return any;
}

bool break_meeting(Warp& warp) {
  // One split at a time: what it does next may let the others meet.
  for (Split& split : warp.splits.list) {
    if (split.state != SplitState::Meeting) continue;
    split.resume(true, Grant::kWithoutOthers);
    return true;
  }
  return false;
}

// --- what ops ask for ----------------------------------------------------------------------------

void split_off(Warp& warp, Split split) {
  split.lanes = warp.exec;
  split.last_run = warp.splits.turn;
  warp.active &= ~warp.exec;
  warp.splits.list.push_back(split);
  warp.stop = 0;
}

void branch_to(Warp& warp, std::uint32_t target) {
  if (warp.exec == warp.active) {
    warp.pc = target;
    if (warp.splits.list.size() > 1) warp.stop = 0;
    return;
  }
  split_off(warp, {.pc = target, .in = warp.here});
}

void end_lanes(Warp& warp) {
  warp.live &= ~warp.exec;
  warp.active &= ~warp.exec;
  act(warp);
  warp.stop = 0;
  for (Split& split : warp.splits.list) {
    if (split.state == SplitState::Meeting && (split.address & warp.live & ~split.lanes) == 0)
      split.resume(true, Grant::kWithoutOthers);
  }
  lanes_ended(warp, warp.exec);
}

void wait_in(Warp& warp, SplitState state, std::uint32_t value, std::uint64_t address) {
  split_off(
      warp,
      {.pc = warp.current, .in = warp.here, .state = state, .value = value, .address = address});
  if (state == SplitState::Asleep) warp.splits.yields = true;
}

bool take_grant(Warp& warp, std::uint32_t* value) {
  if (!warp.grant.is_open) return false;
  warp.grant.is_open = false;
  if (value != nullptr) *value = warp.grant.value;
  return true;
}

void yield_turn(Warp& warp) {
  warp.stop = 0;
  warp.splits.yields = true;
}

}  // namespace ww::sim
