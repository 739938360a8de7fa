// SPDX-License-Identifier: Apache-2.0
#include "sim/run/special.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "sim/limits.h"
#include "sim/memory/access.h"
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

// Low bytes of the values, one value a lane, which are defined.
void fill(Warp& warp, Place place, unsigned bytes, const std::uint64_t* values) {
  for (unsigned l = 0; l < kLanes; ++l)
    std::memcpy(warp.frame + place.offset() + std::size_t{l} * bytes, &values[l], bytes);
  if (warp.undefined.are_kept()) std::memset(warp.undefined.write(place, kAllLanes), 0, kLanes);
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
  const SpecialSource source(warp);
  for (unsigned l = 0; l < kLanes; ++l) out[l] = source.value(special, l);
}

void fill_specials(Warp& warp, const Code& code) {
  std::uint64_t values[kLanes];
  for (const SpecialUse& use : code.specials) {
    special_values(warp, use.what, values);
    if (use.bytes != 1) {
      fill(warp, use.place, use.bytes, values);
      continue;
    }
    *warp.lanes<Mask>(use.place) = values[0] != 0 ? kAllLanes : 0;
    if (warp.undefined.are_kept()) std::memset(warp.undefined.write(use.place, kAllLanes), 0, 4);
  }
  for (const SharedAddress& use : code.shared_addresses) {
    std::fill(std::begin(values), std::end(values),
              start_of(warp, AddressOrigin::Shared) + use.offset);
    fill(warp, use.place, use.bytes, values);
  }
}

}  // namespace ww::sim
