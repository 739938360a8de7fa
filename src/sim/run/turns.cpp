// SPDX-License-Identifier: Apache-2.0
#include "sim/run/turns.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "sim/run/unit.h"

namespace ww::sim {
namespace {

// Ops that a warp does before the next one has its turn.
constexpr std::uint32_t kTurn = 1024;
// The same of a warp that is to let others of a higher rank go on that only spin.
constexpr std::uint32_t kReliefTurn = 64;
// Rounds in which lower ranks may be passed over, and how many one counts for in which nothing
// happens.
constexpr std::uint64_t kRankPatience = 32;
constexpr std::uint64_t kIdleRound = 8;
// Moments at which ranks are lost: one less than the depth of the orders that are sought.
constexpr unsigned kRankChanges = 2;

bool runs_now(const Warp* warp) { return !warp->done() && can_run(*warp); }

// Asynchronous work may complete at any time.
void complete_some(Unit& unit) {
  if (unit.jobs.empty() || unit.random() % 4 != 0) return;
  const PendingJob& job = unit.jobs[unit.random() % unit.jobs.size()];
  if (job.kind == PendingJob::JobKind::Signal && job.mbarrier != 0)
    deliver_jobs(unit, job.mbarrier);
}

// Whether it did something, or the unit has stopped.
bool run_turn(Unit& unit, Warp& warp, std::uint32_t turn) {
  turn = static_cast<std::uint32_t>(std::min<std::uint64_t>(turn, unit.budget));
  if (turn == 0) {
    unit.stop(Outcome::InstructionLimit, "the budget of instructions is used up");
    return true;
  }
  const std::uint32_t done = run_warp(warp, turn);
  unit.executed += done;
  unit.counters.instructions += done;
  unit.budget -= std::min<std::uint64_t>(unit.budget, done);
  return done != 0 || unit.outcome != Outcome::Finished;
}

// --- ranks ---------------------------------------------------------------------------------------

// The warp that runs gets the lowest rank of all, at the moments that were drawn.
void change_ranks(Unit& unit, Warp& warp) {
  std::vector<std::uint64_t>& changes = unit.ranks.changes;
  while (!changes.empty() && unit.executed >= changes.back()) {
    changes.pop_back();
    warp.rank = ++unit.ranks.lowest;
  }
}

// The warps of the foremost rank that can run; if they have only spun for long, those of the next.
std::vector<Warp*> foremost(Unit& unit, bool& is_first) {
  std::vector<Warp*> ready;
  std::ranges::copy_if(unit.warps, std::back_inserter(ready), runs_now);
  std::ranges::stable_sort(ready, {}, &Warp::rank);
  Ranks& ranks = unit.ranks;
  is_first = true;
  const auto end_of = [&](std::size_t begin) {
    while (begin + 1 < ready.size() && ready[begin + 1]->rank == ready[begin]->rank) ++begin;
    return begin + 1;
  };
  if (ready.empty()) return ready;
  std::size_t begin = 0, end = end_of(0);
  if (end < ready.size()) {
    ranks.passed_over += unit.activity == ranks.activity ? kIdleRound : 1;
    ranks.activity = unit.activity;
    for (std::uint64_t p = kRankPatience; p <= ranks.passed_over && end < ready.size();
         p += kRankPatience) {
      begin = end;
      end = end_of(begin);
      is_first = false;
    }
    if (!is_first && end == ready.size()) ranks.passed_over = 0;
  }
  return {ready.begin() + static_cast<std::ptrdiff_t>(begin),
          ready.begin() + static_cast<std::ptrdiff_t>(end)};
}

bool run_ranked(Unit& unit) {
  bool is_first = true;
  const std::vector<Warp*> turns = foremost(unit, is_first);
  // Whether some of a higher rank wait, for what this one may do next.
  const bool is_ahead = std::ranges::all_of(unit.warps, [&](const Warp* warp) {
    return turns.empty() || warp->done() || warp->rank >= turns[0]->rank;
  });
  std::uint32_t turn = is_ahead ? kTurn : !is_first ? kReliefTurn : 1;
  if (!unit.ranks.changes.empty())
    turn = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(turn, unit.ranks.changes.back() - unit.executed));
  bool any = false;
  for (Warp* warp : turns) {
    if (!runs_now(warp)) continue;
    const std::uint64_t before = unit.activity;
    std::uint32_t done = 0;
    do {
      any = run_turn(unit, *warp, std::max(turn, 1U)) || any;
      if (unit.outcome != Outcome::Finished) return true;
      change_ranks(unit, *warp);
      done += turn;
    } while (!is_ahead && done < kTurn && unit.activity == before && runs_now(warp));
  }
  return any;
}

void draw_ranks(Unit& unit, std::uint64_t steps) {
  std::vector<Warp*> order = unit.warps;
  std::ranges::shuffle(order, unit.random);
  for (std::size_t i = 0; i < order.size(); ++i) order[i]->rank = static_cast<std::uint32_t>(i);
  for (unsigned i = 0; i < kRankChanges; ++i)
    unit.ranks.changes.push_back(unit.random() % std::max<std::uint64_t>(steps, 1) + 1);
  std::ranges::sort(unit.ranks.changes, std::greater());
}

}  // namespace

void start_turns(Unit& unit) {
  const Schedule& schedule = unit.context.options->schedule;
  unit.ranks = {};
  for (Warp* warp : unit.warps) warp->rank = 0;
  unit.ranks.lowest = static_cast<std::uint32_t>(unit.warps.size());
  if (schedule.is(Turns::Ranked)) draw_ranks(unit, schedule.steps);
  for (const WarpRange& range : schedule.delayed)
    for (std::uint32_t w = range.first; w <= range.last && w < unit.warps.size(); ++w)
      unit.warps[w]->rank = 1;
  if (schedule.is(Turns::Backward)) std::ranges::reverse(unit.warps);
}

bool run_warps(Unit& unit) {
  const Schedule& schedule = unit.context.options->schedule;
  const bool is_fair = unit.spins != nullptr;  // they watch whether anybody can go on
  if (!is_fair && (schedule.is(Turns::Delayed) || schedule.is(Turns::Ranked)))
    return run_ranked(unit);
  const bool shuffled = schedule.is(Turns::Random), stepwise = schedule.is(Turns::Stepwise);
  if (shuffled) {
    std::shuffle(unit.warps.begin(), unit.warps.end(), unit.random);
    complete_some(unit);
  }
  if (unit.recorder != nullptr) unit.recorder->round_begins();
  // Who is let go in a round of single steps runs in the next one, whatever its number.
  std::vector<Warp*> ready;
  if (stepwise) std::ranges::copy_if(unit.warps, std::back_inserter(ready), runs_now);
  bool any = false;
  for (Warp* warp : stepwise ? ready : unit.warps) {
    if (!runs_now(warp)) continue;
    const std::uint32_t turn = stepwise   ? 1
                               : shuffled ? static_cast<std::uint32_t>(unit.random() % 64 + 1)
                                          : kTurn;
    any = run_turn(unit, *warp, turn) || any;
    if (unit.outcome != Outcome::Finished) return true;
  }
  unit.work_is_due = false;
  if (unit.recorder != nullptr) unit.recorder->round_done();
  return any;
}

}  // namespace ww::sim
