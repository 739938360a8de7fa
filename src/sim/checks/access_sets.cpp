// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/access_sets.h"

#include <algorithm>
#include <utility>

namespace ww::sim {

// Where the index has the set of that entry and rest, or has room for it.
std::uint32_t& AccessSets::slot_of(std::uint32_t rest, const AccessEntry& entry) {
  const std::uint64_t access = (std::uint64_t{entry.stamp} << 32U) | entry.turned;
  const std::uint64_t hash = (rest ^ access) * 0x9E37'79B9'7F4A'7C15U + (rest >> 3U);
  const std::size_t mask = index_.size() - 1;
  std::size_t at = (hash ^ (hash >> 32U)) & mask;
  while (index_[at] != 0 && !(sets_[index_[at]].rest == rest && sets_[index_[at]].entry == entry))
    at = (at + 1) & mask;
  return index_[at];
}

std::uint32_t AccessSets::number_of(std::uint32_t rest, const AccessEntry& entry) {
  constexpr std::size_t kLeast = 1024;
  const auto next = static_cast<std::uint32_t>(sets_.size());
  if (2 * (sets_.size() + 1) > index_.size()) {
    index_.assign(std::max(kLeast, 2 * index_.size()), 0);
    for (std::uint32_t i = 1; i < next; ++i) slot_of(sets_[i].rest, sets_[i].entry) = i;
  }
  std::uint32_t& slot = slot_of(rest, entry);
  if (slot != 0) return slot;
  slot = next;
  AccessSet set = sets_[rest];
  const Manner& manner = stamp(entry).manner;
  if (manner.is_strong) {
    const bool is_same = set.strong == 0 || set.bytes == manner.bytes;
    set.bytes = is_same ? manner.bytes : AccessSet::kMixed;
    set.strong = next;
    if (manner.scope != Scope::Gpu) set.narrow = next;
  } else {
    set.weak = next;
  }
  set.rest = rest;
  set.entry = entry;
  sets_.push_back(set);
  return next;
}

void AccessSets::forget() {
  forgotten_ += static_cast<std::uint32_t>(stamps_.size());
  stamps_.resize(1);
  if (sets_.size() == 1) return;
  sets_.resize(1);
  index_.clear();
}

void AccessSets::mark(const WordAccesses& cell, Renumbering& to) const {
  const auto keep = [&](const AccessEntry& entry) { to.stamps[entry.stamp - forgotten_] = 1; };
  if (has(cell.written())) keep(cell.written());
  if (!has(cell.latest)) return;
  keep(cell.latest);
  if (cell.rest == WordAccesses::kSplit) return;
  for (std::uint32_t s = cell.rest; s != 0 && to.sets[s] == 0; s = sets_[s].rest) {
    to.sets[s] = 1;
    keep(sets_[s].entry);
  }
}

void AccessSets::keep_marked(Renumbering& to, std::size_t cells) {
  const std::vector<AccessStamp> old_stamps = std::exchange(stamps_, std::vector<AccessStamp>(1));
  const std::vector<AccessSet> old_sets = std::exchange(sets_, std::vector<AccessSet>(1));
  const std::uint32_t forgotten = std::exchange(forgotten_, 0);
  index_.clear();
  recent_.fill(0);
  for (std::size_t i = 1; i < old_stamps.size(); ++i) {
    if (to.stamps[i] == 0) continue;
    to.stamps[i] = static_cast<std::uint32_t>(stamps_.size());
    stamps_.push_back(old_stamps[i]);
  }
  for (std::size_t i = 1; i < old_sets.size(); ++i) {
    if (to.sets[i] == 0) continue;
    const AccessEntry& entry = old_sets[i].entry;
    to.sets[i] =
        number_of(to.sets[old_sets[i].rest], {to.stamps[entry.stamp - forgotten], entry.turned});
  }
  collect_at_ = std::max({kCollectAt, 2 * (sets_.size() + stamps_.size()), cells / 4});
}

}  // namespace ww::sim
