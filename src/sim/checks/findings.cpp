// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/join.h"
#include "base/suggest.h"

namespace ww::sim {
namespace {

constexpr std::string_view kEarly = "uninit=early";

struct CheckRow {
  std::string_view name;
  std::string_view meaning;
};
constexpr CheckRow kRows[] = {
#define WW_SIM_CHECK(id, name, meaning) {name, meaning},
#include "sim/checks/checks.def"
#undef WW_SIM_CHECK
};

}  // namespace

std::string lanes_text(Mask lanes) {
  std::string text;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!has_lane(lanes, l)) continue;
    unsigned end = l;
    while (end + 1 < kLanes && has_lane(lanes, end + 1)) ++end;
    if (!text.empty()) text += ", ";
    text += end == l ? fmt::format("{}", l) : fmt::format("{}-{}", l, end);
    l = end;
  }
  return text.empty() ? "none" : text;
}

std::string_view name_of(Check check) { return kRows[static_cast<std::size_t>(check)].name; }
std::string_view meaning_of(Check check) { return kRows[static_cast<std::size_t>(check)].meaning; }

std::vector<Check> all_checks() {
  std::vector<Check> all;
  for (std::size_t i = 0; i < std::size(kRows); ++i) all.push_back(static_cast<Check>(i));
  return all;
}

CheckSet CheckSet::all() {
  CheckSet set;
  for (const Check check : all_checks()) set.add(check);
  set.remove(Check::Numbers);
  set.remove(Check::Rewrite);
  set.remove(Check::Proxy);
  return set;
}

std::string_view CheckSet::written_name(Check check) const {
  return check == Check::Uninit && undefined_early ? kEarly : name_of(check);
}

Result<CheckSet> parse_checks(std::string_view text) {
  CheckSet set;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string_view word = text.substr(at, end - at);
    const Span span = Span::at(at, end);
    at = end + 1;
    const bool removes = word.starts_with('-');
    if (removes) word.remove_prefix(1);
    if (word == "all" && !removes) {
      set = CheckSet::all();
      continue;
    }
    if (word == kEarly && !removes) {
      set.add(Check::Uninit);
      set.undefined_early = true;
      continue;
    }
    if (word == "none" && !removes) {
      set = {};
      continue;
    }
    std::vector<std::string_view> names;
    bool known = false;
    for (const Check check : all_checks()) {
      names.push_back(name_of(check));
      if (word != name_of(check)) continue;
      known = true;
      if (removes) {
        set.remove(check);
      } else {
        set.add(check);
      }
    }
    if (known) continue;
    names.insert(names.end(), {kEarly, "all", "none"});
    return fail(diag(DiagKind::UnknownName, "`{}` is not a check; there are {}{}", word,
                     join(names, ", "), did_you_mean(word, names))
                    .with_span(span));
  }
  return set;
}

// --- merging -------------------------------------------------------------------------------------

bool Findings::count_up(Check check, std::uint32_t op, std::uint32_t other_op,
                        std::uint64_t count) {
  return count_up(key_of(check, op, other_op), count);
}

bool Findings::count_up(const Key& key, std::uint64_t count) {
  const auto found = index_.find(key);
  if (found == index_.end()) return false;
  list_[found->second].count += count;
  return true;
}

void Findings::add(Finding finding) {
  const Key key = key_of(finding);
  if (count_up(key, finding.count)) return;
  index_[key] = list_.size();
  constexpr std::uint64_t kIndexed = 64;  // what an entry of the index takes
  bytes_ += sizeof(Finding) + finding.text.size() + finding.origin.text.size() + kIndexed;
  list_.push_back(std::move(finding));
}

void Findings::merge(const Findings& later) {
  for (const Finding& finding : later.list_) add(finding);
}

void Findings::drop_explained() {
  std::unordered_set<std::uint32_t> ops;
  for (const Finding& finding : list_) {
    if (finding.check == Check::Race) ops.insert({finding.who.op, finding.other.op});
    if (finding.check == Check::Async) ops.insert(finding.who.op);
  }
  ops.erase(kNoOp);
  std::erase_if(list_, [&](const Finding& finding) {
    return finding.check == Check::Uninit && ops.contains(finding.origin.op);
  });
  index_.clear();
  for (std::size_t i = 0; i < list_.size(); ++i) index_[key_of(list_[i])] = i;
}

void Findings::clear() {
  list_.clear();
  index_.clear();
  bytes_ = 0;
}

}  // namespace ww::sim
