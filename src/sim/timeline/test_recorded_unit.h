// SPDX-License-Identifier: Apache-2.0
// For tests of the recorder's parts: a unit of one warp that runs nothing. Tests change its mbarriers
// and pending work by hand.
#pragma once

#include "sim/run/unit.h"
#include "sim/timeline/watched_mbarriers.h"

namespace ww::sim {

struct RecordedUnit {
  RecordedUnit() {
    cta.shared.base = shared_start(0);
    context.out.warps.resize(1);
  }
  Mbarrier& make_mbarrier(std::uint32_t offset, std::int64_t arrivals) {
    Mbarrier& made = cta.mbarriers[offset];
    made.expected = made.pending = arrivals;
    return made;
  }

  const Program program;
  const Launch launch{.block = {32}};
  const RunOptions options{.checks = CheckSet::nothing()};
  const RunContext run{.program = &program, .launch = &launch, .options = &options};
  Unit unit{run};
  Cta& cta = *unit.ctas[0];
  Warp& warp = *cta.warps[0];
  RecorderContext context{.unit = unit};
  WatchedMbarriers mbarriers{context};
};

}  // namespace ww::sim
