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
#define WW_SPECIAL_VALUE(id, name, value) {name, Special::id},
#include "sim/specials.def"
#undef WW_SPECIAL_VALUE
};

// What the rows of specials.def are made of.
struct SpecialSource {
  explicit SpecialSource(const Warp& of)
      : warp(of), clock(of.unit->executed + of.executed + of.current + of.splits.turn) {}

  [[nodiscard]] std::uint64_t value(Special special, unsigned lane) const {
    const std::uint64_t thread = std::uint64_t{warp.index} * kLanes + lane;
    const Mask bit = lane_bit(lane);
    switch (special) {
#define WW_SPECIAL_VALUE(id, name, value) \
  case Special::id:                       \
    return value;
#include "sim/specials.def"
#undef WW_SPECIAL_VALUE
    }
    return 0;
  }

  const Warp& warp;
  const std::uint64_t clock;
  const Cta& cta = *warp.cta;
  const RunContext& context = warp.unit->context;
  const Launch& launch = *context.launch;
  const Dim3& block = launch.block;
  const Dim3& grid = launch.grid;
  const Dim3& cluster = context.cluster;
  const Dim3& ctaid = cta.id;
};

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
  const SpecialSource source(warp);
  for (unsigned l = 0; l < kLanes; ++l) out[l] = source.value(special, l);
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
    if (warp.undefined.are_kept())
      std::memset(warp.undefined.write(use.place, kAllLanes), 0, use.bytes == 1 ? 4 : kLanes);
  }
}

}  // namespace ww::sim
