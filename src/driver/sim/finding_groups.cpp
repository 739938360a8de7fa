// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/finding_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "base/ascii.h"
#include "base/join.h"
#include "driver/report_parts.h"

namespace ww::driver {
namespace {

constexpr std::size_t kMaxLines = 6;

/// Sets that are put together.
class Union {
 public:
  explicit Union(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  // The lower one stays the root.
  void join(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

// The words of a finding without its numbers.
std::string without_numbers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) {
      out += text[i];
      continue;
    }
    out += '#';
    while (i + 1 < text.size() && is_name_char(text[i + 1])) ++i;
  }
  return out;
}

// What an op is called where unrolled copies of it have one name: its source line, or its opcode.
std::string name_of_op(const sim::Program& program, std::uint32_t op) {
  if (op >= program.infos.size()) return "";
  const sim::OpInfo& info = program.infos[op];
  if (info.loc != 0 && info.loc <= program.locs.size()) {
    const sim::SourceLoc& loc = program.locs[info.loc - 1];
    return fmt::format("{}:{}", loc.file, loc.line);
  }
  return fmt::format("opcode {}", static_cast<std::uint32_t>(info.opcode));
}

using Key = std::tuple<sim::Check, std::string, std::string, std::string>;

Key key_of(const sim::Program& program, const sim::Finding& finding) {
  const std::string who = name_of_op(program, finding.who.op);
  const bool has_loc = !who.starts_with("opcode");
  return {finding.check, who, name_of_op(program, finding.other.op),
          has_loc ? "" : without_numbers(finding.text)};
}

std::string lines_text(const std::set<std::uint32_t>& lines) {
  std::vector<std::string> shown;
  for (const std::uint32_t line : lines)
    if (shown.size() < kMaxLines) shown.push_back(fmt::format("{}", line));
  return fmt::format("line{} {}{}", lines.size() == 1 ? "" : "s", join(shown, ", "),
                     lines.size() > kMaxLines ? ", …" : "");
}

}  // namespace

std::vector<FindingGroup> group_findings(const sim::Program& program,
                                         std::span<const sim::Finding> findings) {
  Union sets(findings.size());
  std::map<Key, std::size_t> by_key;
  std::map<std::pair<sim::Check, std::uint32_t>, std::size_t> by_op;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> by_pair;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const sim::Finding& finding = findings[i];
    sets.join(by_key.try_emplace(key_of(program, finding), i).first->second, i);
    for (const std::uint32_t op : {finding.who.op, finding.other.op, finding.origin.op})
      if (op != sim::kNoOp)
        sets.join(by_op.try_emplace(std::pair(finding.check, op), i).first->second, i);
    if (finding.other.op == sim::kNoOp) continue;
    const auto pair = std::minmax(finding.who.op, finding.other.op);
    sets.join(by_pair.try_emplace(pair, i).first->second, i);
  }
  std::map<std::size_t, FindingGroup> groups;
  for (std::size_t i = 0; i < findings.size(); ++i) groups[sets.root(i)].push_back(i);
  std::vector<FindingGroup> out;
  for (auto& [root, group] : groups) out.push_back(std::move(group));
  return out;
}

std::string rest_text(const sim::Program& program, std::span<const sim::Finding> findings,
                      const FindingGroup& group) {
  std::set<std::uint32_t> lines, others;
  std::uint64_t times = 0;
  for (const std::size_t i : std::span(group).subspan(1)) {
    times += findings[i].count;
    const auto note = [&](std::uint32_t op, std::set<std::uint32_t>& to) {
      if (op < program.infos.size()) to.insert(program.infos[op].line);
    };
    note(findings[i].who.op, lines);
    note(findings[i].other.op, others);
  }
  std::string out = fmt::format("{} more of this cause, {}: {}", group.size() - 1,
                                plural(times, "time"), lines_text(lines));
  if (!others.empty()) out += fmt::format(" with {}", lines_text(others));
  return out;
}

std::string findings_count_text(std::size_t findings, std::span<const FindingGroup> groups) {
  if (std::ranges::none_of(groups, is_folded)) return fmt::format("{}", findings);
  return fmt::format("{} of {}", findings, plural(groups.size(), "cause"));
}

}  // namespace ww::driver
