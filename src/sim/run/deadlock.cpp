// SPDX-License-Identifier: Apache-2.0
#include "sim/run/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/join.h"
#include "sim/run/registers.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

constexpr std::size_t kMaxWaiting = 4;  // splits in the text
constexpr std::size_t kMaxSuppliers = 3;

/// A split that cannot go on.
struct Stuck {
  const Warp* warp = nullptr;
  const Split* split = nullptr;
};

std::vector<Stuck> all_stuck(const Unit& unit) {
  std::vector<Stuck> all;
  for (const Warp* warp : unit.warps)
    for (const Split& split : warp->splits.list) all.push_back({warp, &split});
  // Barriers are most often where the others wait for these.
  std::stable_partition(all.begin(), all.end(), [](const Stuck& stuck) {
    return stuck.split->state != SplitState::AtBarrier &&
           stuck.split->state != SplitState::AtClusterBarrier;
  });
  return all;
}

std::uint32_t line_at(const Unit& unit, std::uint32_t op) {
  return op == kNoOp ? 0 : unit.context.program->infos[op].line;
}

std::string count_text(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// --- mbarriers -----------------------------------------------------------------------------------

// "1 of 2 arrivals and 128 of 256 bytes"
std::string lacking(const Mbarrier& barrier) {
  std::string text;
  if (barrier.pending != 0)
    text = fmt::format("{} of {}", barrier.pending, count_text(barrier.expected, "arrival"));
  if (barrier.tx == 0) return text;
  if (!text.empty()) text += " and ";
  return text +
         (barrier.tx > 0
              ? fmt::format("{} of {}", barrier.tx, count_text(barrier.bytes, "byte"))
              : fmt::format("the expectation of {} that came", count_text(-barrier.tx, "byte")));
}

const Warp& warp_of(const Unit& unit, std::uint32_t unit_warp) {
  const std::size_t per_cta = unit.ctas[0]->warps.size();
  return *unit.ctas[unit_warp / per_cta]->warps[unit_warp % per_cta];
}

// Where a warp is now: "waits at line 12", "has ended at line 40".
std::string where_now(const Unit& unit, const Warp& warp) {
  if (warp.done()) return fmt::format("has ended at line {}", line_at(unit, warp.ended_at));
  const Split& split = warp.splits.list.front();
  return fmt::format("is at line {}", line_at(unit, split.pc));
}

// Who has supplied it before.
std::string suppliers_text(const Unit& unit, const Mbarrier& barrier) {
  if (barrier.supplies.empty()) return "nothing has arrived at it since it was made";
  std::vector<std::string> texts;
  for (const MbarrierSupply& supply : barrier.supplies) {
    if (texts.size() == kMaxSuppliers) break;
    const Warp& warp = warp_of(unit, supply.unit_warp);
    texts.push_back(fmt::format("{}, warp {} {} line {} and {}", unit.describe(*warp.cta),
                                warp.index, supply.sends ? "sent to it at" : "arrived at it at",
                                line_at(unit, supply.op), where_now(unit, warp)));
  }
  return fmt::format("before, {}", join(texts, "; "));
}

// A warp that did not look while two phases ended takes the third one for the first.
std::string run_ahead_text(const Mbarrier& barrier, unsigned unit_warp) {
  const auto seen = barrier.seen.find(unit_warp);
  if (seen == barrier.seen.end() || barrier.phase < seen->second + 3) return "";
  return fmt::format(
      "; phases {} to {} ended since this warp last saw one end, and a wait by parity cannot tell "
      "them from the one it waits for",
      seen->second + 1, barrier.phase - 1);
}

std::string mbarrier_text(Unit& unit, const Stuck& stuck) {
  const std::string at = shared_text(unit, stuck.split->address);
  const Mbarrier* barrier = find_mbarrier(unit, stuck.split->address);
  if (barrier == nullptr) return fmt::format("for the mbarrier at {}", at);
  return fmt::format("for phase {} of the mbarrier at {}, which lacks {} ({}){}", barrier->phase,
                     at, lacking(*barrier), suppliers_text(unit, *barrier),
                     run_ahead_text(*barrier, stuck.warp->unit_warp()));
}

// --- one waiting split ---------------------------------------------------------------------------

std::string waiting_text(Unit& unit, const Stuck& stuck) {
  const Split& split = *stuck.split;
  std::string what;
  switch (split.state) {
    case SplitState::AtBarrier:
      what = fmt::format("at barrier {}", split.value & 15U);
      break;
    case SplitState::AtClusterBarrier:
      what = "at the cluster's barrier";
      break;
    case SplitState::AtAlloc:
      what = "for columns of tensor memory";
      break;
    case SplitState::AtWarpgroup:
      what = "for the other warps of its warpgroup";
      break;
    case SplitState::AtRegisters:
      what = fmt::format(
          "for {} registers for each thread, of which it has {} and the CTA has {} left,",
          split.value, registers_of(*stuck.warp), free_registers(*stuck.warp));
      break;
    default:
      what = mbarrier_text(unit, stuck);
      break;
  }
  const std::string line = fmt::format("at line {}", line_at(unit, split.pc));
  const bool is_long = split.state == SplitState::Asleep;
  return fmt::format("{}, warp {}, lanes {} waits {} {}", unit.describe(*stuck.warp->cta),
                     stuck.warp->index, lanes_text(split.lanes), is_long ? line : what,
                     is_long ? what : line);
}

// --- cycles --------------------------------------------------------------------------------------

/// A warp that waits for an mbarrier, and one that has supplied it.
struct WaitEdge {
  unsigned from = 0, to = 0;  // of the unit
  std::uint64_t address = 0;
  std::uint32_t op = kNoOp;  // of the supply
};

std::vector<WaitEdge> wait_edges(Unit& unit, const std::vector<Stuck>& all) {
  std::vector<WaitEdge> edges;
  for (const Stuck& stuck : all) {
    if (stuck.split->state != SplitState::Asleep) continue;
    const Mbarrier* barrier = find_mbarrier(unit, stuck.split->address);
    if (barrier == nullptr) continue;
    for (const MbarrierSupply& supply : barrier->supplies)
      edges.push_back({stuck.warp->unit_warp(), supply.unit_warp, stuck.split->address, supply.op});
  }
  return edges;
}

// Follows edges from a warp until it comes back there; `path` has them then.
bool find_cycle(const std::vector<WaitEdge>& edges, unsigned start, unsigned at,
                std::vector<WaitEdge>& path, std::vector<unsigned>& visited) {
  for (const WaitEdge& edge : edges) {
    if (edge.from != at) continue;
    path.push_back(edge);
    if (edge.to == start) return true;
    if (std::ranges::find(visited, edge.to) == visited.end()) {
      visited.push_back(edge.to);
      if (find_cycle(edges, start, edge.to, path, visited)) return true;
    }
    path.pop_back();
  }
  return false;
}

std::string cycle_text(Unit& unit, const std::vector<Stuck>& all) {
  const std::vector<WaitEdge> edges = wait_edges(unit, all);
  for (const WaitEdge& first : edges) {
    if (first.to == first.from) continue;
    std::vector<WaitEdge> path;
    std::vector<unsigned> visited = {first.from};
    if (!find_cycle(edges, first.from, first.from, path, visited) || path.size() < 2) continue;
    std::vector<std::string> texts;
    for (const WaitEdge& edge : path) {
      const Warp& from = warp_of(unit, edge.from);
      const Warp& to = warp_of(unit, edge.to);
      texts.push_back(fmt::format(
          "{}, warp {} waits for {}, which warp {} supplies at line {}", unit.describe(*from.cta),
          from.index, shared_text(unit, edge.address), to.index, line_at(unit, edge.op)));
    }
    return fmt::format("; they wait for each other: {}", join(texts, "; "));
  }
  return "";
}

}  // namespace

void report_deadlock(Unit& unit) {
  report_skips(unit);
  report_left_over(unit);
  const std::vector<Stuck> all = all_stuck(unit);
  std::vector<std::string> waiting;
  Party parties[2];
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Stuck& stuck = all[i];
    if (i < 2)
      parties[i] = {stuck.split->pc, stuck.warp->cta->linear, stuck.warp->index,
                    stuck.split->lanes};
    if (i < kMaxWaiting) waiting.push_back(waiting_text(unit, stuck));
  }
  std::string text = "no thread can go on: " + join(waiting, "; ");
  if (all.size() > waiting.size())
    text += fmt::format("; and {} more", all.size() - waiting.size());
  text += cycle_text(unit, all);
  if (unit.checks(Check::Barrier)) {
    unit.findings.add(
        {.check = Check::Barrier, .who = parties[0], .other = parties[1], .text = text});
  }
  unit.stop(Outcome::Deadlocked, std::move(text));
}

}  // namespace ww::sim
