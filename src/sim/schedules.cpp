// SPDX-License-Identifier: Apache-2.0
#include "sim/schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/memory/snapshot.h"

namespace ww::sim {
namespace {

// Memory beyond which no copy of it is kept for further runs.
constexpr std::uint64_t kMaxCopied = std::uint64_t{32} << 20U;
// Bytes that are copied and compared at the cost of an instruction.
constexpr std::uint64_t kBytesPerStep = 64;
// A delayed or ranked run may execute so many times the instructions of the first: others poll longer.
constexpr std::uint64_t kLonger = 8, kLongerAtLeast = 100'000;
// Schedules besides the first that are not drawn.
constexpr std::size_t kMaxPlanned = 9;

// --- which schedules -----------------------------------------------------------------------------

Schedule delay(std::vector<WarpRange> warps) {
  return {.turns = Turns::Delayed, .delayed = std::move(warps)};
}

// The warps of each role: those that do the same to others.
std::vector<std::vector<WarpRange>> roles_in(const ScheduleHints& seen) {
  std::vector<std::uint64_t> known;
  std::vector<std::vector<WarpRange>> out;
  for (std::uint32_t w = 0; w < seen.acts.size(); ++w) {
    const auto found = std::ranges::find(known, seen.acts[w]);
    const auto role = static_cast<std::size_t>(found - known.begin());
    if (found == known.end()) {
      known.push_back(seen.acts[w]);
      out.emplace_back();
    }
    std::vector<WarpRange>& ranges = out[role];
    if (!ranges.empty() && ranges.back().last + 1 == w)
      ranges.back().last = w;
    else
      ranges.push_back({w, w});
  }
  return out;
}

// The schedules that are not drawn: each overtaken warp is delayed, each role, a warp of each, and the
// first and the last block of a cluster.
std::vector<Schedule> planned(const ScheduleHints& seen) {
  std::vector<Schedule> out = {{.turns = Turns::Backward}};
  const auto add = [&](std::vector<WarpRange> warps) {
    const bool is_there =
        std::ranges::any_of(out, [&](const Schedule& each) { return each.delayed == warps; });
    if (!is_there && out.size() < kMaxPlanned) out.push_back(delay(std::move(warps)));
  };
  for (const std::uint32_t warp : seen.overtaken) add({{warp, warp}});
  const auto warps = static_cast<std::uint32_t>(seen.acts.size());
  if (warps < 2) return out;
  const auto roles = roles_in(seen);
  if (roles.size() > 1)
    for (const auto& role : roles) add(role);
  for (const auto& role : roles) add({{role[0].first, role[0].first}});
  if (warps > seen.warps_per_block) {
    add({{0, seen.warps_per_block - 1}});
    add({{warps - seen.warps_per_block, warps - 1}});
  }
  add({{warps - 1, warps - 1}});
  return out;
}

}  // namespace

std::string text_of(const Schedule& schedule) {
  switch (schedule.turns) {
    case Turns::InOrder:
      return "rr";
    case Turns::Backward:
      return "reverse";
    case Turns::Stepwise:
      return "step";
    case Turns::Random:
      return fmt::format("random:{}", schedule.seed);
    case Turns::Ranked:
      return fmt::format("pct:{}:{}", schedule.seed, schedule.steps);
    case Turns::Delayed:
      break;
  }
  std::string out = "delay:";
  for (const WarpRange& range : schedule.delayed) {
    if (&range != schedule.delayed.data()) out += ',';
    out += range.first == range.last ? fmt::format("{}", range.first)
                                     : fmt::format("{}-{}", range.first, range.last);
  }
  return out;
}

std::vector<Schedule> schedules_after(const ScheduleHints& seen, unsigned count) {
  std::vector<Schedule> out = planned(seen);
  for (std::uint64_t drawn = 2; out.size() < count; ++drawn)
    out.push_back(drawn % 2 == 0
                      ? Schedule{.turns = Turns::Ranked, .seed = drawn / 2, .steps = seen.steps}
                      : Schedule::random(drawn / 2));
  out.resize(count);
  return out;
}

Result<LaunchReport> run_in_schedules(
    GlobalMemory& memory, const Code& code, const RunOptions& options,
    const std::function<Result<LaunchReport>(const RunOptions&)>& run) {
  const bool is_usual = options.schedules.is_bounded();
  const bool is_watched = options.trace || options.stop_at || options.record || options.count;
  const bool is_alone = options.schedules.most < 2 || !options.schedule.is(Turns::InOrder);
  if (is_alone || (is_usual && (is_watched || !options.checks.has(Check::Race) ||
                                !code.meets_in_parts || memory.bytes() > kMaxCopied)))
    return run(options);
  const Snapshot before(memory);
  LaunchReport first = WW_TRY(run(options));
  // A unit of one warp runs as it does.
  if (is_usual && first.hints.acts.size() < 2) return first;
  first.schedules.run = {options.schedule};
  if (!first.ok()) return first;
  const std::uint64_t work = first.counters.instructions + first.counters.engine_steps +
                             memory.bytes() / kBytesPerStep + 1;
  const auto further = static_cast<unsigned>(
      std::min<std::uint64_t>(options.schedules.most - 1, options.schedules.work / work));
  if (further == 0) return first;
  const Snapshot after(memory);
  RunOptions one = options;
  one.trace.reset();
  one.stop_at.reset();
  one.record.reset();
  one.count = false;
  one.limits.instructions =
      std::min(options.limits.instructions, first.counters.instructions * kLonger + kLongerAtLeast);
  for (Schedule& schedule : schedules_after(first.hints, further)) {
    before.restore();
    one.schedule = schedule;
    LaunchReport later = WW_TRY(run(one));
    if (later.outcome == Outcome::Stopped || later.outcome == Outcome::TimeLimit) break;
    // It may have been on its way.
    if (later.outcome == Outcome::InstructionLimit && later.findings.empty()) continue;
    first.schedules.run.push_back(std::move(schedule));
    std::string problem;
    if (later.outcome != Outcome::Finished) {
      problem = fmt::format("did not finish: {}", name_of(later.outcome));
    } else if (!later.findings.empty()) {
      const std::size_t found = later.findings.list().size();
      problem = fmt::format("has {} finding{}, `rr` has none", found, found == 1 ? "" : "s");
    } else if (const auto other = after.difference()) {
      problem = fmt::format("leaves other values than `rr` in {}, from byte {} on",
                            other->region->name, other->offset);
    } else if (later.printed != first.printed) {
      problem = "prints other text than `rr`";
    }
    if (problem.empty()) continue;
    if (is_usual && later.ok() && code.has_atomics) {
      if (first.schedules.first_difference.empty())
        first.schedules.first_difference = text_of(first.schedules.run.back());
      continue;
    }
    later.schedules = {.run = std::move(first.schedules.run), .problem = std::move(problem)};
    return later;
  }
  after.restore();
  return first;
}

}  // namespace ww::sim
