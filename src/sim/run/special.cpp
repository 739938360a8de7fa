// SPDX-License-Identifier: Apache-2.0
#include "sim/run/special.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/limits.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

constexpr std::pair<std::string_view, Special> kNames[] = {
#define WW_SPECIAL_VALUE(id, name) {name, Special::id},
#include "sim/specials.def"
#undef WW_SPECIAL_VALUE
};

std::uint64_t thread_coordinate(std::uint64_t thread, const Dim3& block, Special which) {
  switch (which) {
    case Special::TidX:
      return thread % block.x;
    case Special::TidY:
      return thread / block.x % block.y;
    default:
      return thread / block.x / block.y;
  }
}

// Values that are the same in all lanes.
std::uint64_t uniform_value(const Warp& warp, Special special) {
  const Unit& unit = *warp.unit;
  const Cta& cta = *warp.cta;
  const Launch& launch = *unit.context.launch;
  const Dim3 cluster = unit.context.cluster;
  const std::uint64_t warps = (launch.block.count() + kLanes - 1) / kLanes;
  const std::uint64_t clock = unit.executed + warp.executed + warp.current + warp.splits.turn;
  switch (special) {
    case Special::NtidX:
      return launch.block.x;
    case Special::NtidY:
      return launch.block.y;
    case Special::NtidZ:
      return launch.block.z;
    case Special::CtaidX:
      return cta.id.x;
    case Special::CtaidY:
      return cta.id.y;
    case Special::CtaidZ:
      return cta.id.z;
    case Special::NctaidX:
      return launch.grid.x;
    case Special::NctaidY:
      return launch.grid.y;
    case Special::NctaidZ:
      return launch.grid.z;
    case Special::Warpid:
      return warp.index;
    case Special::Nwarpid:
      return warps;
    case Special::Smid:
      return cta.linear % kSms;
    case Special::Nsmid:
      return kSms;
    case Special::Gridid:
      return 1;
    case Special::Clock:
    case Special::Clock64:
      return clock;
    case Special::ClockHi:
      return (clock) >> 32U;
    case Special::Globaltimer:
    case Special::GlobaltimerLo:
      return 1'000'000 + clock;
    case Special::GlobaltimerHi:
      return (1'000'000 + clock) >> 32U;
    case Special::TotalSmemSize:
      return unit.context.shared_bytes;
    case Special::DynamicSmemSize:
      return launch.dynamic_shared;
    case Special::AggrSmemSize:
      return unit.context.shared_bytes + kReservedShared;
    case Special::ReservedSmemBegin:
      return 0;
    case Special::ReservedSmemEnd:
      return kReservedShared;
    case Special::ReservedSmemCap:
      return kReservedShared;
    case Special::ClusteridX:
      return cta.id.x / cluster.x;
    case Special::ClusteridY:
      return cta.id.y / cluster.y;
    case Special::ClusteridZ:
      return cta.id.z / cluster.z;
    case Special::NclusteridX:
      return launch.grid.x / cluster.x;
    case Special::NclusteridY:
      return launch.grid.y / cluster.y;
    case Special::NclusteridZ:
      return launch.grid.z / cluster.z;
    case Special::ClusterCtaidX:
      return cta.id.x % cluster.x;
    case Special::ClusterCtaidY:
      return cta.id.y % cluster.y;
    case Special::ClusterCtaidZ:
      return cta.id.z % cluster.z;
    case Special::ClusterNctaidX:
      return cluster.x;
    case Special::ClusterNctaidY:
      return cluster.y;
    case Special::ClusterNctaidZ:
      return cluster.z;
    case Special::ClusterCtarank:
      return cta.rank;
    case Special::ClusterNctarank:
      return cluster.count();
    case Special::IsExplicitCluster:
      return unit.context.is_explicit_cluster ? 1 : 0;
    case Special::GridWorkspaceHigh:
      return unit.context.grid_workspace >> 32U;
    case Special::GridWorkspaceLow:
      return unit.context.grid_workspace & 0xFFFF'FFFFU;
    default:
      return 0;
  }
}

}  // namespace

Special parse_special(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kNames), std::end(kNames),
                                         [&](const auto& row) { return row.first == name; });
  return found == std::end(kNames) ? Special::Zero : found->second;
}

bool is_changing(Special special) {
  return special >= Special::Clock && special <= Special::GlobaltimerHi;
}

void special_values(const Warp& warp, Special special, std::uint64_t* out) {
  const Dim3& block = warp.unit->context.launch->block;
  const std::uint64_t same = uniform_value(warp, special);
  for (unsigned l = 0; l < kLanes; ++l) {
    const Mask bit = lane_bit(l);
    switch (special) {
      case Special::TidX:
      case Special::TidY:
      case Special::TidZ:
        out[l] = thread_coordinate(std::uint64_t{warp.index} * kLanes + l, block, special);
        break;
      case Special::Laneid:
        out[l] = l;
        break;
      case Special::LanemaskEq:
        out[l] = bit;
        break;
      case Special::LanemaskLt:
        out[l] = bit - 1;
        break;
      case Special::LanemaskLe:
        out[l] = bit | (bit - 1);
        break;
      case Special::LanemaskGt:
        out[l] = ~(bit | (bit - 1));
        break;
      case Special::LanemaskGe:
        out[l] = ~(bit - 1);
        break;
      default:
        out[l] = same;
        break;
    }
  }
}

void fill_specials(Warp& warp, const Code& code) {
  for (const SpecialUse& use : code.specials) {
    std::uint64_t values[kLanes];
    special_values(warp, use.what, values);
    for (unsigned l = 0; l < kLanes; ++l) {
      if (use.bytes == 8) {
        warp.lanes<std::uint64_t>(use.place)[l] = values[l];
      } else if (use.bytes == 4) {
        warp.lanes<std::uint32_t>(use.place)[l] = static_cast<std::uint32_t>(values[l]);
      }
    }
    if (use.bytes == 1) *warp.lanes<Mask>(use.place) = values[0] != 0 ? kAllLanes : 0;
    if (warp.tracks())
      std::memset(warp.mark_lanes(use.place, kAllLanes), 0, use.bytes == 1 ? 4 : kLanes);
  }
}

}  // namespace ww::sim
