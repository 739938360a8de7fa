// SPDX-License-Identifier: Apache-2.0
#include "sim/run/spins.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "sim/run/unit.h"

namespace ww::sim {
namespace {

constexpr unsigned kMaxRounds = 64;
constexpr std::uint64_t kMaxOps = 32'000'000;
constexpr std::size_t kMaxStates = 1024;  // of a warp
// So often a read of one address is made by a warp that waits, if that is not known for sure.
constexpr std::uint64_t kManyTimes = 16;

std::uint64_t state_of(const Warp& warp) {
  const Code& code = warp.program->functions[warp.program->infos[warp.pc].function];
  std::uint64_t state = std::hash<std::string_view>{}(
      {reinterpret_cast<const char*>(warp.frame), code.frame_bytes});  // NOLINT: raw bits
  const auto add = [&](std::uint64_t part) {
    state = (state ^ part) * 0x9E37'79B9'7F4A'7C15U;
    state ^= state >> 29U;
  };
  add((std::uint64_t{warp.pc} << 32U) | warp.active);
  const std::vector<Split>& splits = warp.splits.list;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    if (i == warp.splits.running) continue;
    add((std::uint64_t{splits[i].pc} << 32U) | splits[i].lanes);
    add(static_cast<std::uint64_t>(splits[i].state));
  }
  return state;
}

}  // namespace

Spins::Spins(std::span<Unit* const> units) {
  for (Unit* unit : units) {
    kept_.push_back({unit, std::exchange(unit->outcome, Outcome::Finished), unit->reason,
                     unit->counters.instructions, unit->executed, std::move(unit->recorder)});
    unit->budget = kMaxOps;
    unit->spins = this;
  }
}

Spins::~Spins() {
  look_for_changes();
  for (Kept& kept : kept_) {
    kept.unit->outcome = kept.outcome;
    kept.unit->reason = std::move(kept.reason);
    kept.unit->counters.instructions = kept.counted;
    kept.unit->executed = kept.executed;
    kept.unit->recorder = std::move(kept.recorder);
    kept.unit->spins = nullptr;
  }
}

// --- what warps do -------------------------------------------------------------------------------

void Spins::before_op(Warp& warp) {
  look_for_changes();
  if (has_changed_) return yield_turn(warp);
  WatchedWarp& watched = warps_[&warp];
  if (warp.pc <= watched.last && watched.back_to == kNoOp &&
      !watched.states.insert(state_of(warp)).second)
    watched.back_to = warp.pc;
  watched.last = warp.pc;
}

void Spins::accesses(const Warp& warp, const Region& region, const std::uint64_t* address,
                     Mask lanes, unsigned bytes, Touched how) {
  for_each_lane(lanes, [&](unsigned l) {
    std::byte* const at = region.data + region.offset(address[l], l);
    latest_.emplace_back(at, std::string(reinterpret_cast<const char*>(at), bytes));  // NOLINT
  });
  if (how != Touched::Atomic && !is_read(how)) return;
  const unsigned lane = first_lane(lanes);
  SpinRead& read = warps_[&warp].reads[warp.current];
  const bool is_same = read.region == nullptr || (read.address == address[lane] && read.times > 0);
  read = {&region, address[lane], bytes, lanes, is_same ? read.times + 1 : 0, warp.current};
}

// Whether the latest access has changed memory, which is then as before.
void Spins::look_for_changes() {
  for (const auto& [at, bytes] : latest_) {
    if (std::memcmp(at, bytes.data(), bytes.size()) == 0) continue;
    std::memcpy(at, bytes.data(), bytes.size());
    has_changed_ = true;
  }
  latest_.clear();
}

// --- what comes of it ----------------------------------------------------------------------------

bool Spins::is_settled(const Warp& warp) const {
  if (warp.done()) return true;
  const WatchedWarp* const watched = find(warp);
  if (watched != nullptr && watched->back_to != kNoOp) return true;
  return !can_run(warp) && (is_first_ || (watched == nullptr && waiting_.contains(&warp)));
}

// Whether all warps come back to where they were, or wait.
bool Spins::all_settle() {
  warps_.clear();
  std::uint64_t executed = 0;
  for (unsigned round = 0; round < kMaxRounds && executed < kMaxOps; ++round) {
    bool all = true;
    for (const Kept& kept : kept_) {
      const std::uint64_t before = kept.unit->executed;
      kept.unit->run(1);
      executed += kept.unit->executed - before;
      look_for_changes();
      if (has_changed_ || kept.unit->outcome != Outcome::Finished) return false;
      all = all && std::ranges::all_of(kept.unit->warps,
                                       [&](const Warp* warp) { return is_settled(*warp); });
    }
    for (const auto& [warp, watched] : warps_)
      if (watched.states.size() > kMaxStates) return false;
    if (!all) continue;
    for (const Kept& kept : kept_)
      for (const Warp* warp : kept.unit->warps)
        if (warps_[warp].back_to == kNoOp) waiting_.insert(warp);
    is_first_ = false;
    return true;
  }
  return false;
}

const WatchedWarp* Spins::find(const Warp& warp) const {
  const auto watched = warps_.find(&warp);
  return watched == warps_.end() ? nullptr : &watched->second;
}

const SpinRead* Spins::read_of(const Warp& warp) const {
  const WatchedWarp* const watched = find(warp);
  if (watched == nullptr) return nullptr;
  const std::uint64_t least = watched->back_to != kNoOp ? 1 : kManyTimes;
  const SpinRead* best = nullptr;
  for (const auto& [op, read] : watched->reads) {
    if (read.times < least) continue;
    if (best == nullptr || (read.is_global() && !best->is_global())) best = &read;
  }
  return best;
}

const Warp* Spins::find(const Party& party) const {
  for (const Kept& kept : kept_)
    for (const auto& cta : kept.unit->ctas)
      if (cta->linear == party.block) return cta->warps[party.warp].get();
  return nullptr;
}

}  // namespace ww::sim
