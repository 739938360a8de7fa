// SPDX-License-Identifier: Apache-2.0
#include "lower/copy_async/one_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/settings.h"

namespace ww::lower {

Match<bool> check_one_thread(const Call& call) {
  if (call.tile.scope != ir::Unit::Thread)
    return decline("scope", "{} scope, expected thread: who starts the copy is who commits",
                   ir::name_of(call.tile.scope));
  const ir::ActiveSet& active = call.active;
  // At most so many of each unit of `size` threads; at least so many where they come together.
  const auto most_of = [&](std::int64_t size) {
    std::map<std::int64_t, std::int64_t> of_unit;
    std::set<std::int64_t> warps;
    for (std::size_t t = 0; t < active.may.size(); ++t) {
      if (!active.may[t]) continue;
      const auto thread = static_cast<std::int64_t>(t);
      if (active.one_lane_per_warp && !warps.insert(thread / 32).second) continue;
      ++of_unit[thread / size];
    }
    std::int64_t out = 0;
    for (const auto& [unit, count] : of_unit) out = std::max(out, count);
    return out;
  };
  constexpr auto kCta = static_cast<std::int64_t>(ir::kMaxThreads);
  if (most_of(kCta) <= 1) return true;
  const std::int64_t size = active.granule >= ir::Unit::Cta         ? kCta
                            : active.granule == ir::Unit::Warpgroup ? 128
                            : active.granule == ir::Unit::Warp      ? 32
                                                                    : 1;
  if (const std::int64_t several = most_of(size); several > 1)
    return decline("threads", "{} threads come here, of which each would start the copy: {}",
                   several, ir::to_text(active, call.context.launch));
  return false;
}

void note_one_thread(PlanReport& report, const Call& call) {
  report.notes.push_back(fmt::format("one thread must come here, of {}",
                                     ir::to_text(call.active, call.context.launch)));
}

Match<bool> loads_by_engine(const Call& call) {
  const ir::Scope from = call.memory(1), to = call.memory(0);
  if (from == ir::Scope::Global && ir::is_shared(to)) return true;
  if (ir::is_shared(from) && to == ir::Scope::Global) return false;
  return other_memories(call, "global to shared memory or back");
}

Match<void> check_engine_mbarrier(const Call& call, bool is_load) {
  const bool has_one = ir::mbarrier_setting(call.tile) != nullptr;
  if (is_load && !has_one)
    return decline("mbarrier", "no `mbar=`: the copy engine tells an mbarrier that it is done");
  if (!is_load && has_one)
    return decline("mbarrier",
                   "`mbar=` of a copy from shared memory, which is waited for by bulk groups");
  return {};
}

}  // namespace ww::lower
