// SPDX-License-Identifier: Apache-2.0
#include "lower/reduce/lanes.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "lower/as_index.h"

namespace ww::lower {

LaneParts::LaneParts(const ReduceProblem& p) : p_(p) {
  for (const std::vector<ReducePart>& row : p.rows) {
    Row& parts = rows_.emplace_back();
    for (const ReducePart& part : row) {
      Folded folded{.into = part.into};
      if (part.set >= 0) folded.sets.push_back(part.set);
      parts.push_back(std::move(folded));
    }
  }
}

std::vector<Exchange> LaneParts::exchanges() {
  std::vector<Exchange> out;
  if (p_.threads % kLanesOfWarp != 0) return out;
  const bool is_once = !has_replicas();
  for (std::int64_t bit = 1; bit < kLanesOfWarp; bit *= 2)
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      std::optional<Exchange> found;
      if (joins(rows_[row], bit)) {
        fold(rows_[row], bit);
        found = Exchange{.bit = bit};
      } else if (is_once) {
        found = guided(rows_[row], bit);
      }
      if (!found) continue;
      found->row = static_cast<std::int64_t>(row);
      out.push_back(*std::move(found));
    }
  return out;
}

// Does another thread, or another part, have the same elements?
bool LaneParts::has_replicas() const {
  std::vector<bool> seen(p_.set_sizes.size());
  for (const std::vector<ReducePart>& row : p_.rows)
    for (const ReducePart& part : row) {
      if (part.set < 0) continue;
      if (seen[as_index(part.set)]) return true;
      seen[as_index(part.set)] = true;
    }
  return false;
}

// Threads on the other side of the bit that hold part of the same element.
std::vector<std::int64_t> LaneParts::partners_of(const Row& parts, std::int64_t thread,
                                                 std::int64_t bit) {
  std::vector<std::int64_t> out;
  const Folded& mine = parts[as_index(thread)];
  if (mine.sets.empty()) return out;
  const std::int64_t first = (thread ^ bit) & ~(bit - 1);
  for (std::int64_t other = first; other < first + bit; ++other) {
    const Folded& part = parts[as_index(other)];
    if (!part.sets.empty() && part.into == mine.into && !share(part, mine)) out.push_back(other);
  }
  return out;
}

std::optional<Exchange> LaneParts::guided(Row& parts, std::int64_t bit) {
  Exchange out{.bit = bit,
               .is_butterfly = false,
               .takers = std::vector<bool>(parts.size()),
               .nearest = std::vector<std::int64_t>(parts.size()),
               .first = std::vector<std::int64_t>(parts.size())};
  Row next = parts;
  bool is_useful = false;
  for (std::size_t u = 0; u < parts.size(); ++u) {
    const auto thread = static_cast<std::int64_t>(u);
    const std::vector<std::int64_t> partners = partners_of(parts, thread, bit);
    if (partners.empty()) continue;
    is_useful = true;
    out.takers[u] = true;
    out.first[u] = partners.front() % kLanesOfWarp;
    out.nearest[u] =
        (thread < partners.front() ? partners.front() : partners.back()) % kLanesOfWarp;
    next[u].sets.clear();
    std::ranges::set_union(parts[u].sets, parts[as_index(partners.front())].sets,
                           std::back_inserter(next[u].sets));
  }
  if (!is_useful) return std::nullopt;
  parts = std::move(next);
  return out;
}

std::optional<std::int64_t> LaneParts::whole(std::int64_t into, std::int64_t thread) const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const Folded& part = rows_[row][as_index(thread)];
    if (part.into == into && count(part) == p_.folded) return static_cast<std::int64_t>(row);
  }
  return std::nullopt;
}

std::pair<std::int64_t, std::int64_t> LaneParts::greatest(std::int64_t into) const {
  std::pair<std::int64_t, std::int64_t> out{0, 0};
  for (const Row& row : rows_)
    for (std::size_t u = 0; u < row.size(); ++u)
      if (row[u].into == into && count(row[u]) > out.second)
        out = {static_cast<std::int64_t>(u), count(row[u])};
  return out;
}

Match<std::vector<std::vector<WarpPart>>> LaneParts::warp_parts(const Call& call) const {
  /// What a warp has of an element, and who has the most of it.
  struct Most {
    std::vector<std::int64_t> sets, all;
    WarpPart who{};
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Most> by_warp;  // element, warp
  for (std::size_t row = 0; row < rows_.size(); ++row)
    for (std::size_t u = 0; u < rows_[row].size(); ++u) {
      const Folded& part = rows_[row][u];
      if (part.sets.empty()) continue;
      const auto thread = static_cast<std::int64_t>(u);
      Most& most = by_warp[{part.into, thread / kLanesOfWarp}];
      std::vector<std::int64_t> all;
      std::ranges::set_union(most.all, part.sets, std::back_inserter(all));
      most.all = std::move(all);
      if (part.sets.size() > most.sets.size()) {
        most.sets = part.sets;
        most.who = {thread, static_cast<std::int64_t>(row)};
      }
    }
  std::vector<std::vector<WarpPart>> out(as_index(p_.results()));
  std::vector<bool> is_counted(p_.set_sizes.size());
  for (const auto& [at, most] : by_warp) {
    const auto again = std::ranges::count_if(
        most.all, [&](std::int64_t set) { return is_counted[as_index(set)]; });
    if (again == std::ssize(most.all)) continue;
    if (again > 0)
      return decline("replica",
                     "warp {} of the {} holds elements of `{}` that a warp before it holds, and "
                     "others beside them, for element {} of `{}`",
                     at.second, ir::name_of(call.tile.scope), call.buffer(1).name, at.first,
                     call.buffer(0).name);
    if (most.sets.size() != most.all.size())
      return decline("lanes",
                     "the lanes of warp {} hold {} parts of element {} of `{}`, and shuffles bring "
                     "together {} of them",
                     at.second, most.all.size(), at.first, call.buffer(0).name, most.sets.size());
    for (const std::int64_t set : most.all) is_counted[as_index(set)] = true;
    out[as_index(at.first)].push_back(most.who);
  }
  return out;
}

std::int64_t LaneParts::count(const Folded& part) const {
  std::int64_t out = 0;
  for (const std::int64_t set : part.sets) out += p_.set_sizes[as_index(set)];
  return out;
}

bool LaneParts::share(const Folded& a, const Folded& b) {
  return std::ranges::any_of(
      a.sets, [&](std::int64_t set) { return std::ranges::binary_search(b.sets, set); });
}

bool LaneParts::joins(const Row& parts, std::int64_t bit) {
  bool is_useful = false;
  for (std::size_t u = 0; u < parts.size(); ++u) {
    const Folded& mine = parts[u];
    const Folded& other = parts[u ^ as_index(bit)];
    if (mine.sets.empty() || other.sets.empty()) continue;
    if (mine.into != other.into || share(mine, other)) return false;
    is_useful = true;
  }
  return is_useful;
}

void LaneParts::fold(Row& parts, std::int64_t bit) {
  Row out;
  for (std::size_t u = 0; u < parts.size(); ++u) {
    const Folded& mine = parts[u];
    const Folded& other = parts[u ^ as_index(bit)];
    Folded& both = out.emplace_back(Folded{.into = std::max(mine.into, other.into)});
    std::ranges::set_union(mine.sets, other.sets, std::back_inserter(both.sets));
  }
  parts = std::move(out);
}

}  // namespace ww::lower
