// SPDX-License-Identifier: Apache-2.0
// Active sets in words.

#include "base/join.h"
#include "ir/launch/active_set.h"

namespace ww::ir {
namespace {

constexpr std::size_t kMaxRuns = 4;
constexpr std::size_t kShownRuns = 3;

// The warps that `threads` consists of, if it is whole ones.
std::optional<Threads> whole_warps(const Threads& threads, std::size_t count) {
  Threads warps;
  for (std::size_t t = 0; t < count; ++t) {
    if (threads[t] != threads[t / 32 * 32]) return std::nullopt;
    if (threads[t]) warps.set(t / 32);
  }
  return warps;
}

std::string members(const Threads& threads, const LaunchShape& shape) {
  const auto count = static_cast<std::size_t>(shape.threads());
  const std::size_t size = threads.count();
  if (size == 0) return "no thread";
  if (size == count) return count == 1 ? "the only thread" : fmt::format("all {} threads", count);
  if (const auto warps = whole_warps(threads, count))
    return fmt::format("{} {} of {}", warps->count() == 1 ? "warp" : "warps",
                       to_text(*warps, kMaxThreads), shape.warps());
  const std::string list = to_text(threads, count);
  if (list.ends_with("…")) return fmt::format("threads {} ({} of {})", list, size, count);
  return fmt::format("{} {} of {}", size == 1 ? "thread" : "threads", list, count);
}

}  // namespace

std::string to_text(const Threads& threads, std::size_t count) {
  std::vector<std::string> runs;
  std::size_t total = 0;
  for (std::size_t t = 0; t < count; ++t) {
    if (!threads[t]) continue;
    const std::size_t first = t;
    while (t + 1 < count && threads[t + 1]) ++t;
    if (++total <= kMaxRuns)
      runs.push_back(first == t ? fmt::format("{}", t) : fmt::format("{}-{}", first, t));
  }
  if (total <= kMaxRuns) return join(runs, ", ");
  runs.resize(kShownRuns);
  return fmt::format("{} …", join(runs, ", "));
}

std::string to_text(const ActiveSet& set, const LaunchShape& shape) {
  std::string who = members(set.may, shape);
  if (set.may.none()) return who;
  const bool whole = set.granule >= Unit::Cta;
  if (set.one_lane_per_warp) {
    if (whole) return "one lane of each warp of " + who;
    return (set.granule == Unit::Thread ? "at most one lane of each warp of "
                                        : "one lane of some warps of ") +
           who;
  }
  return whole ? who : fmt::format("some {}s of {}", name_of(set.granule), who);
}

}  // namespace ww::ir
