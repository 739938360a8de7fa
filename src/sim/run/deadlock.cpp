// SPDX-License-Identifier: Apache-2.0
#include "sim/run/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>
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
  const Spins* spins = nullptr;  // that has watched it; null: it waits

  [[nodiscard]] const SpinRead* read() const {
    const SpinRead* const it = spins == nullptr ? nullptr : spins->read_of(*warp);
    return it != nullptr && (it->lanes & split->lanes) != 0 ? it : nullptr;
  }
  [[nodiscard]] bool reads_global() const { return read() != nullptr && read()->is_global(); }
  [[nodiscard]] std::uint32_t loop() const {
    const WatchedWarp* const it = spins == nullptr ? nullptr : spins->find(*warp);
    return it == nullptr ? kNoOp : it->back_to;
  }
  [[nodiscard]] Party party() const {
    const std::uint32_t op = read() != nullptr ? read()->op : loop() != kNoOp ? loop() : split->pc;
    return {op, warp->cta->linear, warp->index, read() != nullptr ? read()->lanes : split->lanes};
  }
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

std::string line_at(const Unit& unit, std::uint32_t op) {
  return unit.context.program->place_text(op);
}

template <typename Count>
std::string count_text(Count count, std::string_view noun) {
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
  if (warp.done()) return fmt::format("has ended at {}", line_at(unit, warp.ended_at));
  const Split& split = warp.splits.list.front();
  return fmt::format("is at {}", line_at(unit, split.pc));
}

// Who has supplied it before.
std::string suppliers_text(const Unit& unit, const Mbarrier& barrier) {
  if (barrier.supplies.empty()) return "nothing has arrived at it since it was made";
  std::vector<std::string> texts;
  for (const MbarrierSupply& supply : barrier.supplies) {
    if (texts.size() == kMaxSuppliers) break;
    const Warp& warp = warp_of(unit, supply.unit_warp);
    texts.push_back(fmt::format("{}, warp {} {} {} and {}", unit.describe(*warp.cta), warp.index,
                                supply.sends ? "sent to it at" : "arrived at it at",
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

// --- spins ---------------------------------------------------------------------------------------

// Who wrote what is read; kNoOp: nobody, or it is not known.
Party writer_of(const Stuck& stuck) {
  GridOrder* const grid = stuck.warp->unit->context.grid;
  if (grid == nullptr || !stuck.reads_global()) return {};
  return grid->writers.of(stuck.read()->address);
}

// "last written by block (0,0,0), warp 0 at line 12, which has ended at line 14"
std::string writer_text(const Stuck& stuck) {
  const Unit& unit = *stuck.warp->unit;
  if (unit.context.grid == nullptr)
    return ", by a plain read, which need not see what others write: make it atomic or volatile";
  const Party writer = writer_of(stuck);
  if (writer.op == kNoOp) return unit.races == nullptr ? "" : ", which nothing has written";
  const Warp* const warp = stuck.spins->find(writer);
  return fmt::format(", last written by {}, warp {} at {}, which {}",
                     Unit::describe(unit.context.launch->grid.at(writer.block)), writer.warp,
                     line_at(unit, writer.op),
                     warp == nullptr ? "has ended" : where_now(unit, *warp));
}

std::string running_text(Unit& unit, const Stuck& stuck) {
  const std::string line = line_at(unit, stuck.party().op);
  if (stuck.read() == nullptr)
    return fmt::format("{} {}", stuck.loop() == kNoOp ? "is at" : "always comes back to", line);
  const SpinRead& read = *stuck.read();
  const Region& region = *read.region;
  const std::uint64_t offset = region.offset(read.address, first_lane(read.lanes));
  std::uint64_t value = 0;
  std::memcpy(&value, region.data + offset, std::min<std::size_t>(read.bytes, sizeof value));
  const std::string place =
      stuck.reads_global()
          ? fmt::format("element {} of {}{}", offset / read.bytes, region.name, writer_text(stuck))
      : region.space == Space::Shared
          ? fmt::format("shared memory at {}", shared_text(unit, read.address))
          : region.name;
  return fmt::format("keeps reading {} at {}, from {}", value, line, place);
}

// --- one waiting split ---------------------------------------------------------------------------

// "waits at barrier 1 at line 12", and of what still runs where it is and what it reads.
std::string what_text(Unit& unit, const Stuck& stuck) {
  const Split& split = *stuck.split;
  if (split.state == SplitState::Running || stuck.read() != nullptr)
    return running_text(unit, stuck);
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
    case SplitState::Meeting:
      what = "for other lanes of its warp";
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
  const std::string line = fmt::format("at {}", line_at(unit, split.pc));
  const bool is_long = split.state == SplitState::Asleep;
  return fmt::format("waits {} {}", is_long ? line : what, is_long ? what : line);
}

// Those who do the same are told of together, as far as there is room.
std::string groups_text(const std::vector<Stuck>& all) {
  std::vector<std::pair<std::string, std::vector<const Stuck*>>> groups;
  std::unordered_map<std::string, std::size_t> known;
  for (const Stuck& stuck : all) {
    const auto [at, is_new] = known.try_emplace(what_text(*stuck.warp->unit, stuck), groups.size());
    if (is_new) groups.emplace_back(at->first, 0);
    groups[at->second].second.push_back(&stuck);
  }
  std::vector<std::string> texts;
  std::size_t told = 0;
  for (const auto& [what, who] : groups) {
    if (texts.size() == kMaxWaiting) break;
    const Stuck& first = *who.front();
    const std::string more =
        who.size() > 1 ? fmt::format(" (and {})", count_text(who.size() - 1, "more warp")) : "";
    texts.push_back(fmt::format("{}, warp {}, lanes {}{} {}",
                                first.warp->unit->describe(*first.warp->cta), first.warp->index,
                                lanes_text(first.split->lanes), more, what));
    told += who.size();
  }
  std::string text = join(texts, "; ");
  if (all.size() > told) text += fmt::format("; and {} more", all.size() - told);
  return text;
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
          "{}, warp {} waits for {}, which warp {} supplies at {}", unit.describe(*from.cta),
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
  std::string text = "no thread can go on: " + groups_text(all) + cycle_text(unit, all);
  if (unit.checks(Check::Barrier)) {
    unit.findings.add({.check = Check::Barrier,
                       .who = all.front().party(),
                       .other = all.size() > 1 ? all[1].party() : Party{},
                       .text = text});
  }
  unit.stop(Outcome::Deadlocked, std::move(text));
}

namespace {

std::string hang_text(std::span<Unit* const> units, std::uint64_t blocks_left) {
  Spins spins(units);
  const bool is_for_ever = spins.last_for_ever() && blocks_left == 0;
  std::vector<Stuck> all;
  for (const Unit* each : units)
    for (Stuck& stuck : all_stuck(*each)) all.push_back({stuck.warp, stuck.split, &spins});
  if (all.empty()) return "";
  std::ranges::stable_sort(all, {}, [](const Stuck& each) {
    const int kind = each.reads_global() ? 0 : each.read() != nullptr ? 1 : 2;
    return std::pair(kind, each.warp->cta->linear);
  });
  const Stuck& first = all.front();
  const std::string text = groups_text(all);
  if (!is_for_ever && blocks_left == 0) return "; " + text;
  if (!is_for_ever)
    return fmt::format("; {}; {} {} not begun", text, count_text(blocks_left, "block"),
                       blocks_left == 1 ? "has" : "have");
  const bool is_global = first.reads_global();
  const std::string whole = fmt::format("no thread can go on: {}{}", text,
                                        is_global ? "; no thread is left to write it" : "");
  if (units[0]->checks(Check::Barrier))
    units[0]->findings.add({.check = Check::Barrier,
                            .who = first.party(),
                            .other = writer_of(first),
                            .text = whole,
                            .address = is_global ? first.read()->address : 0,
                            .has_address = is_global});
  return "; " + whole;
}

}  // namespace

void report_hang(std::span<Unit* const> units, std::uint64_t blocks_left) {
  units[0]->reason += hang_text(units, blocks_left);
}

}  // namespace ww::sim
