// SPDX-License-Identifier: Apache-2.0
#include "explore/encode.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/sim/report.h"
#include "isa/type.h"

namespace ww::explore {

std::string_view state_name(const sim::WarpStatus& status) {
  if (status.has_ended) return "ended";
  static constexpr std::string_view kTexts[] = {"runs",      "mbarrier", "barrier",   "cluster",
                                                "warpgroup", "columns",  "registers", "lanes"};
  return kTexts[std::to_underlying(status.state)];
}

Json subject_json(const StoredRun& run, const sim::WarpStatus& status) {
  if (status.has_ended) return nullptr;
  if (status.state == sim::WarpState::AtBarrier) return fmt::format("barrier {}", status.subject);
  if (status.state == sim::WarpState::AtMbarrier)
    return run.name_of_shared(driver::place_of(status.subject).address & 0xFF'FFFFU);
  return nullptr;
}

Json barrier_json(const StoredRun& run, const sim::BarrierHistory& barrier) {
  return {{"kind", barrier.is_mbarrier ? "mbarrier" : "barrier"},
          {"rank", barrier.cta},
          {"name", barrier.is_mbarrier ? run.name_of_shared(barrier.place)
                                       : fmt::format("barrier {}", barrier.place)},
          {"offset", barrier.is_mbarrier ? Json(barrier.place) : Json(nullptr)}};
}

unsigned lane_bytes(isa::Type type) {
  return static_cast<unsigned>(std::max(isa::info(type).bits / 8, 1));
}

Json names_json(const StoredRun& run) {
  Json out = json_list(run.capture().source.names, [&](const driver::SharedName& each) -> Json {
    return {{"name", each.name}, {"offset", each.offset}, {"bytes", each.bytes}};
  });
  for (const sim::SharedVariable& each : run.capture().program->shared)
    out.push_back({{"name", each.name}, {"offset", each.offset}, {"bytes", each.bytes}});
  return out;
}

}  // namespace ww::explore
