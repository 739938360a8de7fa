// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/neighbours.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/checks/race_checks.h"
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
  if (life.is_over) report(*warp.unit, life, region.owner, *use, first_lane(lanes));
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
        report(*warp.unit, life, warp.cta->rank, use, l);
    }
  }
}

void Neighbours::report(Unit& unit, const Life& life, unsigned owner, const WarpUse& use,
                        unsigned lane) const {
  if (unit.findings.count_up(Check::Race, use.ops[lane], life.end.op, 1)) return;
  unit.findings.add(
      {.check = Check::Race,
       .who = unit.party(use.ops[lane], use.warp, lane_bit(lane)),
       .other = life.end,
       .text = fmt::format("{} {} of CTA {} of the cluster, which may have ended by "
                           "then: nothing orders the end of its threads behind this",
                           verb_of(use.how), place_text(use.address[lane], use.bytes), owner),
       .address = use.address[lane],
       .has_address = true});
}

}  // namespace ww::sim
