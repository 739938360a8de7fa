// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/block_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/checks/race_checks.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

// What is kept of a byte, with its place in the table.
constexpr std::uint64_t kBytesOfByte = 128;

}  // namespace

// --- noting --------------------------------------------------------------------------------------

void BlockRaces::Accesses::note_strong_write(unsigned slot, std::uint8_t which,
                                             const Manner& manner, std::uint32_t op) {
  if (strong == nullptr) strong = std::make_unique<Strong>();
  StrongWrite& all = (*strong)[slot];
  if (all.op == 0) {
    all.op = op + 1;
    all.manner = manner;
  } else {
    if (agreement(all.manner, manner, Scope::Cta) != Agreement::Agree) all.is_mixed = true;
    all.manner.scope = std::min(all.manner.scope, manner.scope);
  }
  all.bytes |= which;
}

bool BlockRaces::Accesses::has(unsigned slot, std::uint8_t which) const {
  return (read[slot].bytes() & which) != 0 || writer_of(slot, which) != 0;
}

std::uint32_t BlockRaces::Accesses::writer_of(unsigned slot, std::uint8_t which) const {
  if ((wrote[slot].bytes() & which) != 0) return wrote[slot].op() + 1;
  return strong != nullptr && ((*strong)[slot].bytes & which) != 0 ? (*strong)[slot].op : 0;
}

bool BlockRaces::Accesses::has_parts(unsigned slot) const {
  const auto is_part = [](std::uint8_t bytes) { return bytes != 0 && bytes != kWholeWord; };
  return is_part(wrote[slot].bytes()) || is_part(read[slot].bytes()) ||
         (strong != nullptr && is_part((*strong)[slot].bytes));
}

void BlockRaces::Entry::add_strong(const Span& by, const Manner& how, bool is_other) {
  const bool is_first = strong.empty();
  is_mixed =
      is_mixed || is_other || (!is_first && agreement(manner, how, Scope::Cta) == Agreement::Sizes);
  // The narrowest scope says why they race.
  if (is_first || how.scope < manner.scope) manner = how;
  strong.add(by);
}

// What a unit did to any of these bytes of a word.
void BlockRaces::Entry::add(std::uint64_t unit, const Accesses& accesses, unsigned slot,
                            std::uint8_t which) {
  const auto by = [&](std::uint32_t op) { return (unit << 32U) | op; };
  const Accesses::Word wrote = accesses.wrote[slot];
  const Accesses::Word read = accesses.read[slot];
  if ((wrote.bytes() & which) != 0) writes.add(by(wrote.op()));
  if ((read.bytes() & which) != 0) reads.add(by(read.op()));
  if (accesses.strong == nullptr) return;
  const StrongWrite& write = (*accesses.strong)[slot];
  if ((write.bytes & which) != 0)
    add_strong({by(write.op - 1), by(write.op - 1)}, write.manner, write.is_mixed);
}

void BlockRaces::note(std::uint64_t number, std::uint64_t unit, const Accesses& accesses) {
  Part& part = parts_[number % parts_.size()];
  const std::lock_guard lock(part.mutex);
  std::vector<Run>& runs = part.words[number];
  bytes_ -= runs.size() * sizeof(Run) + part.bytes.size() * kBytesOfByte;
  if (runs.empty()) runs.emplace_back();
  std::vector<Run> after;
  auto run = runs.begin();
  for (unsigned i = 0, next = 0; i < kPageWords; i = next) {
    if (i == run->end) ++run;
    Entry entry = run->entry;
    next = i + 1;
    if (accesses.has_parts(i)) {
      for (unsigned b = 0; b < 4; ++b) {
        const auto bit = static_cast<std::uint8_t>(1U << b);
        if (accesses.has(i, bit))
          part.bytes[(number * kPageWords + i) * 4 + b].add(unit, accesses, i, bit);
      }
    } else {
      entry.add(unit, accesses, i, kWholeWord);
      while (next < run->end && accesses.are_alike(i, next)) ++next;
    }
    if (after.empty() || !(after.back().entry == entry)) after.push_back({.entry = entry});
    after.back().end = next;
  }
  runs.assign(after.begin(), after.end());
  bytes_ += runs.size() * sizeof(Run) + part.bytes.size() * kBytesOfByte;
}

// --- finding -------------------------------------------------------------------------------------

namespace {

std::uint64_t unit_of(std::uint64_t access) { return access >> 32U; }

}  // namespace

// An access of each, by different units.
std::optional<std::pair<std::uint64_t, std::uint64_t>> BlockRaces::apart(const Span& a,
                                                                         const Span& b) {
  if (a.empty() || b.empty()) return std::nullopt;
  for (const std::uint64_t one : {a.first, a.last}) {
    for (const std::uint64_t other : {b.first, b.last}) {
      if (unit_of(one) != unit_of(other)) return std::pair(one, other);
    }
  }
  return std::nullopt;
}

std::optional<BlockRaces::Conflict> BlockRaces::conflict_of(const Entry& entry,
                                                            std::uint64_t address) {
  const auto conflict = [&](const Span& a, const Span& b, Agreement why) {
    const auto pair = apart(a, b);
    if (!pair) return std::optional<Conflict>();
    const Manner manner = why == Agreement::Weak ? Manner{} : entry.manner;
    return std::optional(
        Conflict{address, pair->first, pair->second, &b != &entry.reads, why, manner});
  };
  for (const Span* writes : {&entry.writes, &entry.strong}) {
    for (const Span* others : {&entry.writes, &entry.reads})
      if (const auto found = conflict(*writes, *others, Agreement::Weak)) return found;
  }
  const bool is_narrow = entry.manner.scope != Scope::Gpu;
  if (!is_narrow && !entry.is_mixed) return std::nullopt;
  return conflict(entry.strong, entry.strong, is_narrow ? Agreement::Scopes : Agreement::Sizes);
}

// One cause is one finding: its first place says where.
void BlockRaces::add_conflict(Causes& causes, const std::optional<Conflict>& found) {
  if (!found) return;
  const auto op = [](std::uint64_t access) { return static_cast<std::uint32_t>(access); };
  Cause& cause = causes[{op(found->later), op(found->earlier)}];
  if (cause.count == 0 || found->address < cause.first.address) cause.first = *found;
  ++cause.count;
}

void BlockRaces::find_conflicts(const Part& part, Causes& causes) {
  for (const auto& [number, runs] : part.words) {
    std::uint64_t word = number * kPageWords;
    for (const Run& run : runs) {
      for (; word < number * kPageWords + run.end; ++word)
        add_conflict(causes, conflict_of(run.entry, word * 4));
    }
  }
  for (const auto& [address, entry] : part.bytes) {
    const std::uint64_t word = address / 4;
    const auto run = std::ranges::find_if(part.words.at(word / kPageWords),
                                          [&](const Run& r) { return word % kPageWords < r.end; });
    const Entry& whole = run->entry;
    Entry both = entry;
    both.writes.add(whole.writes);
    both.reads.add(whole.reads);
    if (!whole.strong.empty())
      both.add_strong(whole.strong, whole.manner, whole.is_mixed || !both.strong.empty());
    add_conflict(causes, conflict_of(both, address));
  }
}

void BlockRaces::report(Findings& findings, const RunContext& context) const {
  Causes causes;
  for (const Part& part : parts_) find_conflicts(part, causes);
  std::vector<Cause> sorted;
  for (const auto& [ops, cause] : causes) sorted.push_back(cause);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Cause& a, const Cause& b) {
    return a.first.address < b.first.address;
  });
  for (const auto& [c, count] : sorted) {
    const auto party = [&](std::uint64_t access) {
      return Party{static_cast<std::uint32_t>(access), cta_linear(context, unit_of(access), 0), 0,
                   0};
    };
    findings.add({.check = Check::Race,
                  .who = party(c.later),
                  .other = party(c.earlier),
                  .text = fmt::format("{} global memory at 0x{:x} that another block writes, with "
                                      "nothing to order the two{}",
                                      c.is_write_write ? "writes" : "reads", c.address,
                                      why_not_strong(c.why, c.manner, c.manner)),
                  .address = c.address,
                  .has_address = true,
                  .count = count});
  }
}

}  // namespace ww::sim
