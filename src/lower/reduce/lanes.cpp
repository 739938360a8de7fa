// SPDX-License-Identifier: Apache-2.0
#include "lower/reduce/lanes.h"

#include <algorithm>

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

std::vector<Butterfly> LaneParts::butterflies() {
  std::vector<Butterfly> out;
  if (p_.threads % kLanesOfWarp != 0) return out;
  for (std::int64_t bit = 1; bit < kLanesOfWarp; bit *= 2) {
    Butterfly butterfly{.bit = bit};
    for (std::size_t row = 0; row < rows_.size(); ++row)
      if (joins(rows_[row], bit)) {
        fold(rows_[row], bit);
        butterfly.rows.push_back(static_cast<std::int64_t>(row));
      }
    if (!butterfly.rows.empty()) out.push_back(std::move(butterfly));
  }
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
