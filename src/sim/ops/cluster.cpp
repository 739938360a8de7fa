// SPDX-License-Identifier: Apache-2.0
// Clusters: addresses in the shared memories of neighbours; and dependent grids. Launches run one after the
// other, so `griddepcontrol` takes no time. The wait is noted for the check of what an earlier grid would
// still write (checks/grid_wait.h).
#include "sim/ops/cluster_cancel.h"
#include "sim/ops/families.h"
#include "sim/run/unit.h"

namespace ww::sim::cluster_ops {
namespace {

// The same offset in the shared memory of CTA `rank`. The generic form keeps the window.
template <typename T>
void run_mapa(Warp& warp, const Op& op) {
  const auto* a = warp.source<T>(op.p[1]);
  const auto* rank = warp.source<std::uint32_t>(op.p[2]);
  T mapped[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    const T window = static_cast<T>(std::uint64_t{a[l]} & ~std::uint64_t{0xFFFF'FFFFU});
    mapped[l] = static_cast<T>(window | shared_offset(a[l]) | (rank[l] << kRankShift));
  }
  Mask bad = 0;
  for_each_lane(warp.exec, [&](unsigned l) {
    if (rank[l] >= warp.unit->ctas.size()) bad |= lane_bit(l);
  });
  if (bad != 0 && warp.checks(Check::Bounds)) {
    warp.report(Check::Bounds, bad, "`mapa` of a block that the cluster does not have");
  }
  warp.write(op.p[0], mapped);
}

template <typename T>
void run_getctarank(Warp& warp, const Op& op) {
  const auto* a = warp.source<T>(op.p[1]);
  std::uint32_t rank[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) rank[l] = static_cast<std::uint32_t>(a[l]) >> kRankShift;
  warp.write(op.p[0], rank);
}

bool decode_mapa(Decode& in) {
  return in.runs(in.word("type") == "u32" ? run_mapa<std::uint32_t> : run_mapa<std::uint64_t>,
                 {in.result(0), in.source(1), in.source(2)});
}
bool decode_getctarank(Decode& in) {
  in.op.run =
      in.word("type") == "u32" ? run_getctarank<std::uint32_t> : run_getctarank<std::uint64_t>;
  in.operands({in.result(0), in.source(1)});
  return true;
}

void run_grid_wait(Warp& warp, const Op& /*op*/) { note_grid_wait(warp); }
bool decode_griddepcontrol(Decode& in) {
  return in.word("action") == "wait" ? decode_bare<run_grid_wait>(in)
                                     : decode_bare<run_nothing>(in);
}

constexpr OpRow kRows[] = {{"mapa", decode_mapa},
                           {"getctarank", decode_getctarank},
                           {"griddepcontrol", decode_griddepcontrol},
                           {"clusterlaunchcontrol.try_cancel", decode_try_cancel},
                           {"clusterlaunchcontrol.query_cancel", decode_query_cancel}};

}  // namespace

constinit const OpFamily family{"cluster", kRows};

}  // namespace ww::sim::cluster_ops
