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

constexpr std::uint64_t kIndexed = 32;  // bytes that an index takes for an entry

}  // namespace

// --- noting --------------------------------------------------------------------------------------

void BlockRaces::Accesses::note_strong_write(unsigned slot, std::uint8_t which,
                                             const Manner& manner, std::uint32_t op) {
  if (strong == nullptr) strong = std::make_unique<Strong>();
  if (strong->op[slot] == 0) {
    strong->op[slot] = op + 1;
    strong->manner[slot] = manner;
  } else {
    Manner& all = strong->manner[slot];
    if (agreement(all, manner, Scope::Cta) != Agreement::Agree) strong->is_mixed[slot] = true;
    all.scope = std::min(all.scope, manner.scope);
  }
  strong->bytes[slot] |= which;
}

std::uint32_t BlockRaces::Accesses::writer_of(unsigned slot, std::uint8_t which) const {
  if ((wrote[slot].bytes() & which) != 0) return wrote[slot].op() + 1;
  return strong != nullptr && (strong->bytes[slot] & which) != 0 ? strong->op[slot] : 0;
}

std::size_t BlockRaces::EntryHash::operator()(const Entry& entry) const {
  std::uint64_t hash = 0;
  for (const std::uint64_t part :
       {entry.writes.first, entry.writes.last, entry.reads.first, entry.reads.last})
    hash = std::rotl((hash ^ part) * 0x9E37'79B9'7F4A'7C15U, 29);
  return hash;
}

std::uint32_t BlockRaces::number_of(Part& part, const Entry& entry) {
  const auto next = static_cast<std::uint32_t>(part.entries.size());
  const auto [found, is_new] = part.numbers.try_emplace(entry, next);
  if (is_new) {
    part.entries.push_back(entry);
    bytes_ += 2 * sizeof(Entry) + kIndexed;
  }
  return found->second;
}

void BlockRaces::give_entries(const Part& part, Page& page) {
  page.own = std::make_unique<std::array<Entry, kPageWords>>();
  for (unsigned i = 0; i < kPageWords; ++i) (*page.own)[i] = part.entries[page.numbers[i]];
  bytes_ += sizeof(*page.own);
}

// A word that was touched as a whole.
void BlockRaces::note_word(Part& part, Page& page, unsigned slot, const Change& now,
                           Change& before) {
  constexpr std::size_t kFewWords = 16;  // if entries stand for fewer words, they are not worth it
  const bool is_known = page.own == nullptr && before.after != 0 &&
                        before.before == page.numbers[slot] &&
                        before.wrote.bits == now.wrote.bits && before.read.bits == now.read.bits;
  if (is_known) {
    page.numbers[slot] = before.after;
    return;
  }
  Entry entry = part.entry(page, slot);
  if (!now.wrote.empty()) entry.writes.add((now.unit << 32U) | now.wrote.op());
  if (!now.read.empty()) entry.reads.add((now.unit << 32U) | now.read.op());
  const bool is_full = part.entries.size() > part.words.size() * kPageWords / kFewWords;
  if (page.own == nullptr && is_full && !part.numbers.contains(entry)) give_entries(part, page);
  if (page.own != nullptr) {
    (*page.own)[slot] = entry;
    return;
  }
  before = now;
  before.before = page.numbers[slot];
  before.after = number_of(part, entry);
  page.numbers[slot] = before.after;
}

void BlockRaces::note(std::uint64_t number, std::uint64_t unit, const Accesses& accesses) {
  Part& part = parts_[number % parts_.size()];
  const std::lock_guard lock(part.mutex);
  const auto [found, is_new] = part.words.try_emplace(number);
  if (is_new) bytes_ += sizeof(Page) + kIndexed;
  Page& page = found->second;
  const Strong* const strong = accesses.strong.get();
  Change change;
  for (unsigned i = 0; i < kPageWords; ++i) {
    const Accesses::Word wrote = accesses.wrote[i];
    const Accesses::Word read = accesses.read[i];
    const bool is_strong = strong != nullptr && strong->op[i] != 0;
    if (wrote.empty() && read.empty() && !is_strong) continue;
    const bool in_parts = (!wrote.empty() && wrote.bytes() != kWholeWord) ||
                          (!read.empty() && read.bytes() != kWholeWord) ||
                          (is_strong && strong->bytes[i] != kWholeWord);
    if (in_parts) {
      note_bytes(part, number * kPageWords + i, unit, accesses, i);
      continue;
    }
    if (!wrote.empty() || !read.empty())
      note_word(part, page, i, {.unit = unit, .wrote = wrote, .read = read}, change);
    if (!is_strong) continue;
    if (page.strong == nullptr) {
      page.strong = std::make_unique<std::array<StrongEntry, kPageWords>>();
      bytes_ += sizeof(*page.strong);
    }
    add_strong((*page.strong)[i], unit, *strong, i);
  }
}

void BlockRaces::add_strong(StrongEntry& entry, std::uint64_t unit, const Strong& strong,
                            unsigned slot) {
  const Manner& manner = strong.manner[slot];
  const bool is_first = entry.writes.empty();
  const bool is_other =
      !is_first && agreement(entry.manner, manner, Scope::Cta) == Agreement::Sizes;
  entry.is_mixed = entry.is_mixed || strong.is_mixed[slot] || is_other;
  // The narrowest scope says why they race.
  if (is_first || manner.scope < entry.manner.scope) entry.manner = manner;
  entry.writes.add((unit << 32U) | (strong.op[slot] - 1));
}

void BlockRaces::note_bytes(Part& part, std::uint64_t word, std::uint64_t unit,
                            const Accesses& accesses, unsigned slot) {
  for (unsigned b = 0; b < 4; ++b) {
    const auto has = [&](unsigned bytes) { return ((bytes >> b) & 1U) != 0; };
    const bool writes = has(accesses.wrote[slot].bytes());
    const bool reads = has(accesses.read[slot].bytes());
    const Strong* strong = accesses.strong.get();
    const bool is_strong = strong != nullptr && strong->op[slot] != 0 && has(strong->bytes[slot]);
    if (!writes && !reads && !is_strong) continue;
    const auto [found, is_new] = part.bytes.try_emplace(word * 4 + b);
    if (is_new) bytes_ += sizeof(Both) + kIndexed;
    Both& both = found->second;
    if (writes) both.weak.writes.add((unit << 32U) | accesses.wrote[slot].op());
    if (reads) both.weak.reads.add((unit << 32U) | accesses.read[slot].op());
    if (is_strong) add_strong(both.strong, unit, *strong, slot);
  }
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
                                                            const StrongEntry* strong,
                                                            std::uint64_t address) {
  if (const auto pair = apart(entry.writes, entry.writes))
    return Conflict{address, pair->first, pair->second, true, Agreement::Weak, {}};
  if (const auto pair = apart(entry.writes, entry.reads))
    return Conflict{address, pair->first, pair->second, false, Agreement::Weak, {}};
  if (strong == nullptr) return std::nullopt;
  if (const auto pair = apart(strong->writes, entry.writes))
    return Conflict{address, pair->first, pair->second, true, Agreement::Weak, {}};
  if (const auto pair = apart(strong->writes, entry.reads))
    return Conflict{address, pair->first, pair->second, false, Agreement::Weak, {}};
  const bool is_narrow = strong->manner.scope != Scope::Gpu;
  if (!is_narrow && !strong->is_mixed) return std::nullopt;
  if (const auto pair = apart(strong->writes, strong->writes))
    return Conflict{address,
                    pair->first,
                    pair->second,
                    true,
                    is_narrow ? Agreement::Scopes : Agreement::Sizes,
                    strong->manner};
  return std::nullopt;
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
  for (const auto& [number, page] : part.words) {
    for (unsigned i = 0; i < kPageWords; ++i) {
      const std::uint64_t word = number * kPageWords + i;
      const StrongEntry* strong = page.strong != nullptr ? &(*page.strong)[i] : nullptr;
      add_conflict(causes, conflict_of(part.entry(page, i), strong, word * 4));
    }
  }
  const auto add = [](Span& to, const Span& from) {
    if (from.empty()) return;
    to.add(from.first);
    to.add(from.last);
  };
  for (const auto& [address, entry] : part.bytes) {
    Both both = entry;
    const auto page = part.words.find(address / 4 / kPageWords);
    if (page != part.words.end()) {
      const auto slot = static_cast<unsigned>(address / 4 % kPageWords);
      const Entry& words = part.entry(page->second, slot);
      add(both.weak.writes, words.writes);
      add(both.weak.reads, words.reads);
      if (page->second.strong != nullptr) {
        const StrongEntry& whole = (*page->second.strong)[slot];
        const bool is_both = !both.strong.writes.empty() && !whole.writes.empty();
        both.strong.is_mixed = both.strong.is_mixed || whole.is_mixed || is_both;
        if (both.strong.writes.empty()) both.strong.manner = whole.manner;
        add(both.strong.writes, whole.writes);
      }
    }
    add_conflict(causes, conflict_of(both.weak, &both.strong, address));
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
