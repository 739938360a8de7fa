// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/access_sets.h"

#include <algorithm>
#include <utility>

namespace ww::sim {
namespace {

std::size_t mix(std::size_t a, std::uint64_t b) {
  return (a ^ b) * 0x9E37'79B9'7F4A'7C15U + (a >> 29U);
}

std::size_t hash_of(const AccessStamp& s) {
  const std::uint64_t how = (std::uint64_t{s.manner.is_strong} << 1U) |
                            (std::uint64_t{s.manner.bytes} << 2U) |
                            (static_cast<std::uint64_t>(s.manner.scope) << 10U) |
                            (std::uint64_t{s.stride} << 16U) | s.writes;
  return mix(mix(mix(s.unit, s.warp), (std::uint64_t{s.op} << 32U) | s.clock), how);
}

std::size_t hash_of(std::uint32_t rest, const AccessEntry& entry) {
  return mix(rest, (std::uint64_t{entry.stamp} << 32U) | entry.turned);
}

}  // namespace

std::uint32_t AccessSets::number_of(const AccessStamp& stamp) {
  std::uint32_t& recent = recent_[stamp.op % recent_.size()];
  if (recent != 0 && stamps_[recent] == stamp) return recent;
  const auto next = static_cast<std::uint32_t>(stamps_.size());
  const std::uint32_t found = stamp_index_.find_or_add(
      hash_of(stamp), next, [&](std::uint32_t i) { return stamps_[i] == stamp; },
      [&](std::uint32_t i) { return hash_of(stamps_[i]); });
  if (found == next) stamps_.push_back(stamp);
  return recent = found;
}

std::uint32_t AccessSets::number_of(std::uint32_t rest, const AccessEntry& entry) {
  const auto next = static_cast<std::uint32_t>(sets_.size());
  const std::uint32_t found = set_index_.find_or_add(
      hash_of(rest, entry), next,
      [&](std::uint32_t i) { return sets_[i].rest == rest && sets_[i].entry == entry; },
      [&](std::uint32_t i) { return hash_of(sets_[i].rest, sets_[i].entry); });
  if (found != next) return found;
  const AccessSet& before = sets_[rest];
  const AccessStamp& by = stamp(entry);
  AccessSet set = before;
  set.rest = rest;
  set.entry = entry;
  if (by.writes) set.write = next;
  if (!by.manner.is_strong) {
    set.weak = next;
  } else {
    if (by.manner.scope != Scope::Gpu) set.narrow = next;
    const bool is_same = !before.is_strong || before.bytes == by.manner.bytes;
    set.bytes = is_same ? by.manner.bytes : AccessSet::kMixed;
    set.is_strong = true;
  }
  sets_.push_back(set);
  return next;
}

void AccessSets::mark(const WordAccesses& cell, Renumbering& to) const {
  to.stamps[cell.latest.stamp] = 1;
  for (std::uint32_t s = cell.rest; s != 0 && to.sets[s] == 0; s = sets_[s].rest) {
    to.sets[s] = 1;
    to.stamps[sets_[s].entry.stamp] = 1;
  }
}

void AccessSets::keep_marked(Renumbering& to) {
  const std::vector<AccessStamp> old_stamps = std::exchange(stamps_, std::vector<AccessStamp>(1));
  const std::vector<AccessSet> old_sets = std::exchange(sets_, std::vector<AccessSet>(1));
  stamp_index_.clear();
  set_index_.clear();
  recent_.fill(0);
  to.stamps[0] = 0;
  for (std::size_t i = 1; i < old_stamps.size(); ++i) {
    if (to.stamps[i] != 0) to.stamps[i] = number_of(old_stamps[i]);
  }
  for (std::size_t i = 1; i < old_sets.size(); ++i) {
    if (to.sets[i] == 0) continue;
    const AccessEntry& entry = old_sets[i].entry;
    to.sets[i] = number_of(to.sets[old_sets[i].rest], {to.stamps[entry.stamp], entry.turned});
  }
  collect_at_ = std::max(std::size_t{1} << 20U, 2 * (sets_.size() + stamps_.size()));
}

}  // namespace ww::sim
