// SPDX-License-Identifier: Apache-2.0
#include "sim/run/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
  return all;
}

const Warp& warp_of(const Unit& unit, std::uint32_t unit_warp) {
  const std::size_t per_cta = unit.ctas[0]->warps.size();
  return *unit.ctas[unit_warp / per_cta]->warps[unit_warp % per_cta];
}

// The last phase that a warp saw end, if it did not look while two more ended: it takes the third one
// for the first.
std::optional<std::uint64_t> last_seen(const Mbarrier& barrier, unsigned unit_warp) {
  const auto seen = barrier.seen.find(unit_warp);
  if (seen == barrier.seen.end() || barrier.phase < seen->second + 3) return std::nullopt;
  return seen->second;
}

// Who cannot be helped comes first: who has missed a phase, or waits for what nobody left can supply;
// of these, at the barrier with the fewest waiters. Barriers are most often where the others wait.
void put_culprits_first(Unit& unit, std::vector<Stuck>& all) {
  const auto rank = [&](const Stuck& stuck) {
    const SplitState state = stuck.split->state;
    if (state == SplitState::AtBarrier || state == SplitState::AtClusterBarrier) return 2;
    const Mbarrier* const barrier =
        state == SplitState::Asleep ? find_mbarrier(unit, stuck.split->address) : nullptr;
    if (barrier == nullptr) return 1;
    const bool is_hopeless =
        last_seen(*barrier, stuck.warp->unit_warp()) ||
        std::ranges::all_of(barrier->supplies, [&](const MbarrierSupply& supply) {
          return warp_of(unit, supply.unit_warp).done();
        });
    return is_hopeless ? 0 : 1;
  };
  std::unordered_map<std::uint64_t, std::size_t> waiters;
  for (const Stuck& stuck : all) ++waiters[stuck.split->address];
  std::ranges::stable_sort(all, {}, [&](const Stuck& stuck) {
    const int first = rank(stuck);
    return std::pair(first, first == 0 ? waiters[stuck.split->address] : 0);
  });
}

const LaunchNames& names_in(const Unit& unit) { return unit.context.options->names; }

std::string line_at(const Unit& unit, std::uint32_t op) {
  const Program& program = *unit.context.program;
  const std::string own = names_in(unit).has_lines ? program.source_place(op) : "";
  return own.empty() ? program.place_text(op) : own;
}

// "the mbarrier at 0x40", "`full[0]`".
std::string mbarrier_at(const Unit& unit, std::uint64_t address) {
  const auto& name_of = names_in(unit).mbarrier;
  const std::string name = name_of ? name_of(shared_offset(address)) : "";
  if (name.empty()) return "the mbarrier at " + shared_text(unit, address);
  if (unit.ctas.size() == 1) return fmt::format("`{}`", name);
  return fmt::format("`{}` of CTA {}", name, shared_rank(address));
}

// --- warps ---------------------------------------------------------------------------------------

// "block (0,0,0), warps 4-7, 9 (consumer)", of one block. In order.
std::string warps_text(const Unit& unit, const Cta& cta, std::span<const unsigned> warps) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0, end = 0; i < warps.size(); i = end) {
    for (end = i + 1; end < warps.size() && warps[end] == warps[end - 1] + 1; ++end) {
    }
    ranges.push_back(end == i + 1 ? fmt::format("{}", warps[i])
                                  : fmt::format("{}-{}", warps[i], warps[end - 1]));
  }
  std::string text = fmt::format("{}, warp{} {}", unit.describe(cta), warps.size() == 1 ? "" : "s",
                                 join(ranges, ", "));
  const auto& role_of = names_in(unit).role;
  const std::string role = role_of ? role_of(warps[0]) : "";
  const bool is_of_all =
      !role.empty() && std::ranges::all_of(warps, [&](unsigned w) { return role_of(w) == role; });
  if (is_of_all) text += fmt::format(" ({})", role);
  return text;
}

// What several do, after what one does: "waits at line 4".
std::string of_several(std::string_view what) {
  constexpr std::pair<std::string_view, std::string_view> kVerbs[] = {
      {"waits ", "wait "},
      {"keeps ", "keep "},
      {"is ", "are "},
      {"has ", "have "},
      {"always comes ", "always come "}};
  for (const auto& [one, several] : kVerbs)
    if (what.starts_with(one)) return std::string(several).append(what.substr(one.size()));
  return std::string(what);
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

// Where a warp is now: "waits at line 12", "has ended at line 40".
std::string where_now(const Unit& unit, const Warp& warp) {
  if (warp.done()) return fmt::format("has ended at {}", line_at(unit, warp.ended_at));
  const Split& split = warp.splits.list.front();
  return fmt::format("is at {}", line_at(unit, split.pc));
}

// Who has supplied it before: who could do it now.
std::string suppliers_text(const Unit& unit, const Mbarrier& barrier) {
  if (barrier.supplies.empty()) return "nothing has arrived at it since it was made";
  struct Group {
    const Cta* cta;
    std::string did, now;
    std::vector<unsigned> warps;
  };
  std::vector<Group> groups;
  for (const MbarrierSupply& supply : barrier.supplies) {
    const Warp& warp = warp_of(unit, supply.unit_warp);
    Group mine{warp.cta,
               fmt::format("{} {}", supply.sends ? "sent to it at" : "arrived at it at",
                           line_at(unit, supply.op)),
               where_now(unit, warp),
               {warp.index}};
    const auto found = std::ranges::find_if(groups, [&](const Group& each) {
      return each.cta == mine.cta && each.did == mine.did && each.now == mine.now;
    });
    if (found == groups.end())
      groups.push_back(std::move(mine));
    else
      found->warps.push_back(warp.index);
  }
  std::vector<std::string> texts;
  for (Group& group : groups) {
    if (texts.size() == kMaxSuppliers) break;
    std::ranges::sort(group.warps);
    texts.push_back(fmt::format("{} {} and {}", warps_text(unit, *group.cta, group.warps),
                                group.did,
                                group.warps.size() == 1 ? group.now : of_several(group.now)));
  }
  return fmt::format("before, {}", join(texts, "; "));
}

std::string run_ahead_text(const Unit& unit, const Mbarrier& barrier, unsigned unit_warp) {
  const auto seen = last_seen(barrier, unit_warp);
  if (!seen) return "";
  std::string text = fmt::format(
      "; phases {} to {} ended since this warp last saw one end, and a wait by parity cannot tell "
      "them from the one it waits for",
      *seen + 1, barrier.phase - 1);
  const auto most = std::ranges::max_element(barrier.supplies, {}, &MbarrierSupply::arrivals);
  if (most != barrier.supplies.end() && most->arrivals > barrier.expected)
    text += fmt::format(": {} lanes arrive at once at {}, and a phase takes {}", most->arrivals,
                        line_at(unit, most->op), count_text(barrier.expected, "arrival"));
  return text;
}

std::string mbarrier_text(Unit& unit, const Stuck& stuck) {
  const std::string at = mbarrier_at(unit, stuck.split->address);
  const Mbarrier* barrier = find_mbarrier(unit, stuck.split->address);
  if (barrier == nullptr) return "for " + at;
  return fmt::format("for phase {} of {}, which lacks {} ({}){}", barrier->phase, at,
                     lacking(*barrier), suppliers_text(unit, *barrier),
                     run_ahead_text(unit, *barrier, stuck.warp->unit_warp()));
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

// Whether they are warps of one block with all their lanes.
bool are_whole(const std::vector<const Stuck*>& who) {
  return std::ranges::all_of(who, [&](const Stuck* each) {
    return each->warp->cta == who[0]->warp->cta && each->split->lanes == each->warp->live;
  });
}

// "block (0,0,0), warps 0-3 ", "block (0,0,0), warp 0, lanes 0 (and 2 more warps) ".
std::string who_text(const std::vector<const Stuck*>& who) {
  const Stuck& first = *who.front();
  const Unit& unit = *first.warp->unit;
  std::vector<unsigned> warps = {first.warp->index};
  if (are_whole(who)) {
    for (std::size_t i = 1; i < who.size(); ++i) warps.push_back(who[i]->warp->index);
    std::ranges::sort(warps);
  }
  std::string text = warps_text(unit, *first.warp->cta, warps);
  if (warps.size() == 1 && !(names_in(unit).has_lines && are_whole(who)))
    text += fmt::format(", lanes {}", lanes_text(first.split->lanes));
  if (warps.size() < who.size())
    text += fmt::format(" (and {})", count_text(who.size() - warps.size(), "more warp"));
  return text + ' ';
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
    texts.push_back(who_text(who) + (are_whole(who) && who.size() > 1 ? of_several(what) : what));
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
      texts.push_back(fmt::format("{} waits for {}, which warp {} supplies at {}",
                                  warps_text(unit, *from.cta, {{from.index}}),
                                  mbarrier_at(unit, edge.address), to.index,
                                  line_at(unit, edge.op)));
    }
    return fmt::format("; they wait for each other: {}", join(texts, "; "));
  }
  return "";
}

}  // namespace

void report_deadlock(Unit& unit) {
  report_skips(unit);
  report_left_over(unit);
  std::vector<Stuck> all = all_stuck(unit);
  put_culprits_first(unit, all);
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
    const bool is_at_barrier = each.split->state == SplitState::AtBarrier ||
                               each.split->state == SplitState::AtClusterBarrier;
    const int kind = each.reads_global() ? 0 : each.read() != nullptr ? 1 : is_at_barrier ? 3 : 2;
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
