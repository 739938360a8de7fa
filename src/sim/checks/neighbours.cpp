// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/neighbours.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/checks/race_checks.h"
#include "sim/run/mbarriers.h"
#include "sim/run/unit.h"

namespace ww::sim {

void Neighbours::reset() { std::fill(lives_.begin(), lives_.end(), Life{}); }

void Neighbours::used(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                      unsigned bytes, Touched how) {
  if (region.owner == warp.cta->rank || lanes == 0) return;
  Life& life = lives_[region.owner];
  const unsigned unit_warp = warp.unit_warp();
  auto use = std::find_if(life.uses.begin(), life.uses.end(),
                          [&](const WarpUse& u) { return u.warp == unit_warp; });
  if (use == life.uses.end()) use = life.uses.insert(use, WarpUse{.warp = unit_warp});
  use->bytes = bytes;
  use->how = how;
  for_each_lane(lanes, [&](unsigned l) {
    use->clocks[l] = order_.now(unit_warp);
    use->ops[l] = warp.current;
    use->address[l] = address[l];
  });
  if (life.is_over) report(*warp.unit, life, *use, first_lane(lanes));
}

void Neighbours::ended(Warp& warp) {
  Life& life = lives_[warp.cta->rank];
  add_known(order_, actor_of(warp, warp.exec), life.known);
  const auto& warps = warp.cta->warps;
  life.is_over =
      std::all_of(warps.begin(), warps.end(), [](const auto& w) { return w->live == 0; });
  if (!life.is_over) return;
  life.end = {warp.current, warp.cta->linear, warp.index, warp.exec};
  for (const WarpUse& use : life.uses) {
    for (unsigned l = 0; l < kLanes; ++l) {
      if (use.clocks[l] != 0 && !life.known.here.knows(use.warp, l, use.clocks[l]))
        report(*warp.unit, life, use, l);
    }
  }
  for (const EngineRead& read : life.reads)
    if (!is_heard_of(life, warp.cta->rank, read)) report(*warp.unit, life, read);
}

Neighbours::ReadId Neighbours::read_begins(const Warp& warp, unsigned lane, std::uint64_t address,
                                           std::uint64_t bytes, std::uint64_t mbarrier) {
  std::vector<EngineRead>& reads = lives_[warp.cta->rank].reads;
  const EngineRead made{.op = warp.current,
                        .warp = warp.unit_warp(),
                        .lane = lane,
                        .address = address,
                        .bytes = bytes,
                        .mbarrier = mbarrier};
  auto found = std::find_if(reads.begin(), reads.end(), [&](const EngineRead& each) {
    return each.op == made.op && each.warp == made.warp && each.lane == lane &&
           each.mbarrier == mbarrier;
  });
  if (found == reads.end())
    found = reads.insert(found, made);
  else
    *found = made;
  return {warp.cta->rank, static_cast<std::size_t>(found - reads.begin())};
}

void Neighbours::waited(const Warp& warp, Mask lanes, std::uint64_t mbarrier, std::uint64_t phase) {
  const EngineRead::Wait made{warp.unit_warp(), lanes, order_.now(warp.unit_warp())};
  for (Life& life : lives_) {
    for (EngineRead& read : life.reads) {
      if (read.mbarrier != mbarrier || read.phase >= phase) continue;
      const bool is_new =
          std::none_of(read.waits.begin(), read.waits.end(), [&](const EngineRead::Wait& each) {
            return each.warp == made.warp && (lanes & ~each.lanes) == 0;
          });
      if (is_new) read.waits.push_back(made);
    }
  }
}

// A thread that the CTA's own end is ordered behind has seen that the engine is done.
bool Neighbours::is_heard_of(const Life& life, unsigned rank, const EngineRead& read) const {
  return std::any_of(read.waits.begin(), read.waits.end(), [&](const EngineRead::Wait& wait) {
    if (order_.home_of(wait.warp).cta == rank) return true;  // one of its own
    for (unsigned l = 0; l < kLanes; ++l)
      if (has_lane(wait.lanes, l) && life.known.here.knows(wait.warp, l, wait.clock)) return true;
    return false;
  });
}

void Neighbours::report(Unit& unit, const Life& life, const EngineRead& read) {
  if (unit.findings.count_up(Check::Race, read.op, life.end.op, 1)) return;
  unit.findings.add(
      {.check = Check::Race,
       .who = unit.party(read.op, read.warp, lane_bit(read.lane)),
       .other = life.end,
       .text = fmt::format(
           "the copy engine reads {} for CTA {} of the cluster, and the CTA that has it may have "
           "ended by then: nothing orders the end of its threads behind a wait for the mbarrier "
           "at {}",
           place_text(unit, read.address, static_cast<unsigned>(read.bytes)),
           shared_rank(read.mbarrier), shared_text(unit, read.mbarrier)),
       .address = read.address,
       .has_address = true});
}

void Neighbours::report(Unit& unit, const Life& life, const WarpUse& use, unsigned lane) const {
  if (unit.findings.count_up(Check::Race, use.ops[lane], life.end.op, 1)) return;
  unit.findings.add(
      {.check = Check::Race,
       .who = unit.party(use.ops[lane], use.warp, lane_bit(lane)),
       .other = life.end,
       .text = fmt::format("{} {}, which may have ended by then: nothing orders the end of its "
                           "threads behind this",
                           verb_of(use.how), place_text(unit, use.address[lane], use.bytes)),
       .address = use.address[lane],
       .has_address = true});
}

}  // namespace ww::sim
