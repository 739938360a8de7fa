// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/race_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/memory/tensor_memory.h"
#include "sim/order/async_fences.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

// Clock of a write that has not landed.
constexpr std::uint32_t kNoClock = ~std::uint32_t{0};

// Lanes of one instruction that read and write one place, or all write it, as the program may want.
bool is_together(const RaceStep& step, const AccessStamp& old) {
  return old.is_of(step.by) && old.op == step.by.op && old.clock == step.by.clock;
}

void report(RaceStep& step, const AccessEntry& entry, Mask lanes, const std::string& why = {}) {
  step.is_special = true;
  const AccessStamp& old = step.sets.stamp(entry);
  if (!step.warp.is_new(Check::Race, old.op)) return;
  const Unit& unit = *step.warp.unit;
  step.warp.report_at(Check::Race, lane_bit(step.lane), step.address,
                      fmt::format("{} {} that another {} has {}, with nothing to order the two{}",
                                  verb_of(step.how), place_text(unit, step.address, step.bytes),
                                  old.unit == step.by.unit ? "thread" : "block",
                                  old.writes ? "written" : "read", why),
                      unit.party(old.op, old.unit, old.warp, lanes));
}

void check_write(RaceStep& step, const AccessEntry& entry) {
  const AccessStamp& old = step.sets.stamp(entry);
  if (is_together(step, old)) return;
  const Mask lanes = unordered(step, entry);
  if (lanes == 0) return;
  step.is_special = true;
  if (step.stored != nullptr && old.unit == step.by.unit &&
      step.stored->are_there(*step.region, step.address, step.lane))
    return;
  report(step, entry, lanes);
}

// Volatile accesses do not race, and lanes may spin on what others of their warp write. But lanes
// that go together and take it that they do so in step have been wrong since lanes are scheduled
// one by one.
bool is_in_step(const RaceStep& step, const AccessStamp& old) {
  return step.by.manner.is_volatile && old.manner.is_volatile && old.is_of(step.by) &&
         step.address < kLocalWindow && !is_together(step, old);
}
void check_in_step(RaceStep& step, const AccessEntry& entry) {
  step.is_special = true;
  const Mask bad = unordered(step, entry) & step.warp.active & ~lane_bit(step.lane);
  if (bad == 0) return;
  report(step, entry, bad,
         "; both are volatile, but lanes of a warp need not run in step: `bar.warp.sync` orders "
         "them");
}

// Whether the thread that made an access had written there, too: who races with the one races with
// the other. Between blocks only the write is reported.
bool is_covered(const RaceStep& step, const WordAccesses& cell, const AccessEntry& entry) {
  const AccessEntry written = cell.written();
  if (!step.sets.has(written)) return false;
  const AccessStamp& by = step.sets.stamp(entry);
  const AccessStamp& write = step.sets.stamp(written);
  return by.unit != step.by.unit && write.is_of(by) && write.clock == by.clock &&
         step.sets.lanes_of(written, step.word) == step.sets.lanes_of(entry, step.word);
}

// A weak access does not race with strong writes whose value its own thread has seen there by a
// strong access: to one location writes have one order, which a thread keeps to. So the last of
// several blocks may reset the counter that told it so.
void check_strong(RaceStep& step, const WordAccesses& cell) {
  const AccessSets& sets = step.sets;
  const AccessStamp& now = step.by;
  const AccessSet& rest = sets.set(cell.rest);
  if (rest.strong == 0 && !sets.stamp(cell.latest).manner.is_strong) return;
  const bool is_weak = !now.manner.is_strong;
  // Strong accesses of the usual manner do not race with each other.
  const bool is_usual = !is_weak && now.manner.scope == Scope::Gpu &&
                        (rest.strong == 0 || rest.bytes == now.manner.bytes) &&
                        (!now.manner.is_volatile || step.address >= kLocalWindow);
  if (is_weak) step.is_special = true;
  const Home home = step.order.home_of(now.warp);
  bool has_seen = false;
  sets.for_each(
      cell, is_usual ? &AccessSet::narrow : &AccessSet::strong, [&](const AccessEntry& entry) {
        const AccessStamp& old = sets.stamp(entry);
        if (!old.manner.is_strong) return;
        const bool is_seen = has_seen && old.writes;
        has_seen = has_seen || (is_weak && old.reads && old.is_of(now) &&
                                has_lane(sets.lanes_of(entry, step.word), step.lane));
        if (is_seen || (!old.writes && !now.writes)) return;
        const Scope apart =
            old.unit == now.unit ? scope_of(home, step.order.home_of(old.warp)) : Scope::Gpu;
        const Agreement why = agreement(now.manner, old.manner, apart);
        if (why == Agreement::Agree) {
          if (is_in_step(step, old)) check_in_step(step, entry);
          return;
        }
        const Mask lanes = unordered(step, entry);
        if (lanes != 0 && !is_covered(step, cell, entry))
          report(step, entry, lanes, why_not_strong(why, now.manner, old.manner));
      });
}

void check_reads(RaceStep& step, const WordAccesses& cell) {
  struct Racing {
    AccessEntry entry;
    Mask lanes;
  };
  std::vector<Racing> all;
  step.sets.for_each(cell, &AccessSet::weak, [&](const AccessEntry& entry) {
    const AccessStamp& old = step.sets.stamp(entry);
    if (old.manner.is_strong || is_together(step, old)) return;
    const Mask lanes = unordered(step, entry);
    if (lanes != 0 && !is_covered(step, cell, entry)) all.push_back({entry, lanes});
  });
  // The first reader stands for all that do not come again.
  if (!all.empty() && step.sets.stamp(all.back().entry).unit == step.by.unit)
    std::ranges::rotate(all, all.end() - 1);
  for (const Racing& each : all) report(step, each.entry, each.lanes);
}

}  // namespace

Mask unordered(RaceStep& step, const AccessEntry& entry) {
  const AccessStamp& now = step.by;
  const AccessStamp& old = step.sets.stamp(entry);
  const Mask lanes = step.sets.lanes_of(entry, step.word);
  if (old.unit != now.unit) {
    if (step.is_again) return 0;
    return step.order.unordered_from(now.warp, step.lane, old.unit, old.warp, lanes,
                                     old.lasts ? kNoClock : old.clock, step.is_special);
  }
  if (step.order.knows(now.warp, old.warp, old.clock)) return 0;
  // In tensor memory fences order what barriers without release and acquire would not; and a warp
  // works there as one.
  if (is_in_tensor(step.address) &&
      (old.warp == now.warp || fenced_in_tensor(step.order, now.warp, old.warp, old.clock)))
    return 0;
  const bool is_alike =
      step.order.lanes_know_alike(now.warp) && (now.warp != old.warp || now.shift == old.shift);
  if (!is_alike) step.is_special = true;
  Mask bad = 0;
  for_each_lane(lanes, [&](unsigned l) {
    if (!step.order.ordered(now.warp, step.lane, old.warp, l, old.clock)) bad |= lane_bit(l);
  });
  return bad;
}

void check_races(RaceStep& step, const WordAccesses& cell) {
  if (step.sets.has(cell.written())) check_write(step, cell.written());
  if (!step.sets.has(cell.latest)) return;
  check_strong(step, cell);
  if (step.by.writes) check_reads(step, cell);
}

void check_stale(RaceStep& step, const WordAccesses& cell) {
  const auto report = [&](const AccessEntry& entry) {
    const AccessStamp& old = step.sets.stamp(entry);
    report_stale(step, step.warp.unit->party(old.op, old.unit, old.warp,
                                             step.sets.lanes_of(entry, step.word)));
  };
  bool is_found = false;
  if (step.sets.has(cell.latest)) {
    step.sets.for_each(cell, &AccessSet::strong, [&](const AccessEntry& entry) {
      if (is_found || !step.sets.stamp(entry).writes) return;
      is_found = true;
      report(entry);
    });
  }
  if (!is_found && step.sets.has(cell.written())) report(cell.written());
}

// --- texts --------------------------------------------------------------------------------------

std::string place_text(const Unit& unit, std::uint64_t address, unsigned bytes) {
  if (is_in_tensor(address)) return tensor_text(address);
  if (address < kLocalWindow)
    return fmt::format("{} bytes of shared memory at {}", bytes, shared_text(unit, address));
  return fmt::format("{} bytes of global memory at 0x{:x}", bytes, address);
}

const char* verb_of(Touched how) {
  return is_read(how) ? "reads" : how == Touched::Free ? "frees" : "writes";
}

std::string why_not_strong(Agreement why, const Manner& a, const Manner& b) {
  switch (why) {
    case Agreement::Agree:
    case Agreement::Weak:
      return "";
    case Agreement::Scopes: {
      const bool is_cta = std::min(a.scope, b.scope) == Scope::Cta;
      return fmt::format("; both are strong, but scope `.{}` does not include the other thread",
                         is_cta ? "cta" : "cluster");
    }
    case Agreement::Sizes:
      return a.bytes == b.bytes
                 ? "; both are strong, but of different sizes"
                 : fmt::format("; both are strong, but of different sizes, {} and {} bytes",
                               a.bytes, b.bytes);
  }
  return "";
}

void report_stale(RaceStep& step, const Party& writer) {
  step.is_special = true;
  if (!step.warp.is_new(Check::Race, writer.op)) return;
  step.warp.report_at(Check::Race, lane_bit(step.lane), step.address,
                      fmt::format("reads {} with `.nc`, which need not see what the kernel writes, "
                                  "whatever orders the two; `ld.global` does",
                                  place_text(*step.warp.unit, step.address, step.bytes)),
                      writer);
}

}  // namespace ww::sim
