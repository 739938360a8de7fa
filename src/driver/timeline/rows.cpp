// SPDX-License-Identifier: Apache-2.0
#include "driver/timeline/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "sim/timeline/detail.h"

namespace ww::driver {
namespace {

constexpr std::size_t kMaxWorkRows = 8;  // for the work of one warp, side by side

// Neighbouring warps of one CTA that did the same in the same steps.
struct WarpGroup {
  std::uint32_t first = 0, last = 0;  // of the cluster
  std::optional<std::size_t> role = {};
};

// The last of some warps to come to an instruction that all must reach is a step ahead.
bool is_near(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMaxShift = 2;
  return std::max(a, b) - std::min(a, b) <= kMaxShift;
}

bool do_the_same(const sim::RecordedWarp& a, const sim::RecordedWarp& b) {
  return a.path == b.path &&
         std::ranges::equal(a.spans, b.spans, [](const sim::WarpSpan& x, const sim::WarpSpan& y) {
           return x.state == y.state && is_near(x.begin, y.begin) && is_near(x.end, y.end) &&
                  x.subject == y.subject && x.phase == y.phase && x.merged == y.merged;
         });
}

class RowMaker {
 public:
  RowMaker(const sim::Recording& recording, const TimelineNames& names)
      : recording_(recording), names_(names), per_cta_(recording.warps_per_cta) {}

  std::vector<TimelineRow> make() {
    for (std::uint32_t cta = 0; cta < recording_.ctas.size(); ++cta) {
      add_groups(cta);
      add_mbarriers(cta);
    }
    return std::move(rows_);
  }

 private:
  void add_groups(std::uint32_t cta);
  void add_warps(std::uint32_t cta, const WarpGroup& group);
  void add_work(std::uint32_t cta, const WarpGroup& group);
  void add_mbarriers(std::uint32_t cta);
  [[nodiscard]] std::vector<WarpGroup> groups_of(std::uint32_t cta) const;
  [[nodiscard]] std::vector<sim::AsyncRecord> work_of(const WarpGroup& group) const;
  [[nodiscard]] std::string work_name(const std::string& opcode, const WarpGroup& group) const;

  const sim::Recording& recording_;
  const TimelineNames& names_;
  std::uint32_t per_cta_;
  std::vector<TimelineRow> rows_;
};

std::vector<WarpGroup> RowMaker::groups_of(std::uint32_t cta) const {
  std::vector<WarpGroup> out;
  const std::uint32_t end = (cta + 1) * per_cta_;
  for (std::uint32_t first = cta * per_cta_; first < end;) {
    std::uint32_t last = first;
    while (last + 1 < end && names_.role(first) == names_.role(last + 1) &&
           do_the_same(recording_.warps[first], recording_.warps[last + 1]))
      ++last;
    out.push_back({first, last, names_.role(first)});
    first = last + 1;
  }
  return out;
}

// Without roles: all warps, then all work. With them: the warps and the work of each, in the order of
// their first warps; warps without a role come last.
void RowMaker::add_groups(std::uint32_t cta) {
  const std::vector<WarpGroup> groups = groups_of(cta);
  std::vector<std::optional<std::size_t>> order;
  for (const WarpGroup& group : groups)
    if (group.role && std::ranges::find(order, group.role) == order.end())
      order.push_back(group.role);
  order.emplace_back();
  for (const auto& role : order) {
    for (const WarpGroup& group : groups)
      if (group.role == role) add_warps(cta, group);
    for (const WarpGroup& group : groups)
      if (group.role == role) add_work(cta, group);
  }
}

void RowMaker::add_warps(std::uint32_t cta, const WarpGroup& group) {
  const std::uint32_t first = group.first % per_cta_;
  const std::uint32_t last = group.last % per_cta_;
  rows_.push_back({.kind = LaneKind::Warps,
                   .cta = cta,
                   .name = first == last ? fmt::format("warp {}", first)
                                         : fmt::format("warps {}-{}", first, last),
                   .first = group.first,
                   .last = group.last,
                   .role = group.role,
                   .spans = recording_.warps[group.first].spans});
}

std::string RowMaker::work_name(const std::string& opcode, const WarpGroup& group) const {
  const std::uint32_t first = group.first % per_cta_;
  const std::uint32_t last = group.last % per_cta_;
  if (opcode == "wgmma.mma_async") return fmt::format("{}, warpgroup {}", opcode, first / 4);
  return first == last ? fmt::format("{}, warp {}", opcode, first)
                       : fmt::format("{}, warps {}-{}", opcode, first, last);
}

// The work of some warps; what they did alike is one, with all their instructions and bytes.
std::vector<sim::AsyncRecord> RowMaker::work_of(const WarpGroup& group) const {
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t,
                         std::uint64_t, bool>;
  std::map<Key, sim::AsyncRecord> merged;
  for (const sim::AsyncRecord& work : recording_.work) {
    if (work.kind == sim::AsyncKind::Commit || work.count == 0) continue;
    if (work.issued_by.warp < group.first || work.issued_by.warp > group.last) continue;
    const Key key{work.begin,        work.end,   work.read,
                  work.issued_by.op, work.group, work.mbarrier ? *work.mbarrier + 1ULL : 0,
                  work.is_open};
    const auto [found, is_new] = merged.try_emplace(key, work);
    if (is_new) continue;
    found->second.count += work.count;
    found->second.bytes += work.bytes;
  }
  std::vector<sim::AsyncRecord> out;
  for (auto& [key, work] : merged) out.push_back(work);
  return out;
}

// Work that overlaps stands in several rows, each with work that follows on each other.
void RowMaker::add_work(std::uint32_t cta, const WarpGroup& group) {
  std::map<std::string, std::vector<sim::AsyncRecord>> by_opcode;
  for (sim::AsyncRecord& work : work_of(group))
    by_opcode[names_.opcode(work.issued_by.op)].push_back(work);
  for (const auto& [opcode, all] : by_opcode) {
    const std::size_t first = rows_.size();
    for (const sim::AsyncRecord& work : all) {
      std::size_t row = first;
      while (row < rows_.size() && rows_[row].work.back().end > work.begin) ++row;
      row = std::min(row, first + kMaxWorkRows - 1);
      if (row == rows_.size())
        rows_.push_back({.kind = LaneKind::Work,
                         .cta = cta,
                         .name = row == first ? work_name(opcode, group) : "",
                         .first = group.first,
                         .last = group.last,
                         .role = group.role});
      rows_[row].work.push_back(work);
    }
  }
}

void RowMaker::add_mbarriers(std::uint32_t cta) {
  for (std::uint32_t i = 0; i < recording_.mbarriers.size(); ++i) {
    const sim::RecordedMbarrier& barrier = recording_.mbarriers[i];
    if (barrier.cta != cta) continue;
    TimelineRow row{
        .kind = LaneKind::Mbarrier, .cta = cta, .name = names_.mbarrier(i), .mbarrier = i};
    for (const sim::RecordedPhase& phase : barrier.phases)
      if (phase.begin < phase.end) row.phases.push_back(phase);
    if (!row.phases.empty()) rows_.push_back(std::move(row));
  }
}

std::size_t count_all(const std::vector<TimelineRow>& rows) {
  std::size_t sum = 0;
  for (const TimelineRow& row : rows) sum += row.size();
  return sum;
}

}  // namespace

std::vector<TimelineRow> timeline_rows(const sim::Recording& recording,
                                       const TimelineNames& names) {
  return RowMaker(recording, names).make();
}

void cut_rows(std::vector<TimelineRow>& rows, std::uint64_t from, std::uint64_t to) {
  const auto is_out = [&](const auto& each) { return each.end <= from || each.begin >= to; };
  for (TimelineRow& row : rows) {
    std::erase_if(row.spans, is_out);
    std::erase_if(row.work, is_out);
    std::erase_if(row.phases, is_out);
  }
}

std::uint64_t merge_rows(std::vector<TimelineRow>& rows, std::size_t most) {
  constexpr std::uint64_t kMaxGrain = std::uint64_t{1} << 40U;
  std::uint64_t grain = 0;
  while (count_all(rows) > most && grain < kMaxGrain) {
    grain = grain == 0 ? 2 : grain * 2;
    for (TimelineRow& row : rows) {
      sim::merge_spans(row.spans, grain, 0);
      sim::merge_phases(row.phases, grain, 0);
      sim::merge_work(row.work, grain);
    }
  }
  return grain;
}

const sim::RecordedPhase* find_phase(const sim::RecordedMbarrier& barrier, std::uint64_t number) {
  const auto found =
      std::ranges::lower_bound(barrier.phases, number, {}, &sim::RecordedPhase::number);
  const bool is_it = found != barrier.phases.end() && found->number == number && found->merged == 0;
  return is_it ? &*found : nullptr;
}

}  // namespace ww::driver
