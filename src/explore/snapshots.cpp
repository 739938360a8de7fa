// SPDX-License-Identifier: Apache-2.0
#include "explore/snapshots.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/base64.h"
#include "explore/calls.h"
#include "explore/encode.h"

namespace ww::explore {
namespace {

constexpr std::size_t kPiece = 1024;  // bytes

std::string_view part_name(sim::HistoryPart part) {
  switch (part) {
    case sim::HistoryPart::Registers:
      return "registers";
    case sim::HistoryPart::UndefinedRegisters:
      return "undefined registers";
    case sim::HistoryPart::Shared:
      return "shared";
    case sim::HistoryPart::UndefinedShared:
      return "undefined shared";
    case sim::HistoryPart::Tensor:
      return "tensor";
    case sim::HistoryPart::UndefinedTensor:
      return "undefined tensor";
  }
  return "";
}

/// Pieces of memory, equal ones once.
class Pieces {
 public:
  /// The numbers of the pieces of all regions, or none where they would be too many bytes.
  std::optional<std::vector<std::vector<std::size_t>>> add(const sim::HistoryCursor& cursor,
                                                           std::size_t regions) {
    std::vector<std::vector<std::size_t>> out(regions);
    const std::size_t before = list_.size();
    for (std::size_t r = 0; r < regions; ++r)
      for (auto rest = cursor.bytes(r); !rest.empty();) {
        const auto piece = rest.first(std::min(kPiece, rest.size()));
        out[r].push_back(number_of(piece));
        rest = rest.subspan(piece.size());
      }
    if (bytes_ <= kMaxSnapshotBytes) return out;
    for (; list_.size() > before; list_.pop_back()) {
      bytes_ -= list_.back().size();
      numbers_.erase(list_.back());
    }
    return std::nullopt;
  }

  [[nodiscard]] Json json() const {
    Json out = Json::array();
    for (const std::string& piece : list_)
      out.push_back(base64(std::as_bytes(std::span(piece.data(), piece.size()))));
    return out;
  }

 private:
  std::size_t number_of(std::span<const std::byte> piece) {
    std::string text(reinterpret_cast<const char*>(piece.data()), piece.size());
    const auto [found, is_new] = numbers_.try_emplace(text, list_.size());
    if (is_new) {
      bytes_ += text.size();
      list_.push_back(std::move(text));
    }
    return found->second;
  }

  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::string> list_;
  std::uint64_t bytes_ = 0;
};

// The last, the first, what was found, then the others from coarse to fine: whatever is left out in
// the end, the rest is spread over the run.
std::vector<std::uint64_t> by_importance(const sim::History& history,
                                         const std::vector<std::uint64_t>& moments) {
  std::vector<std::uint64_t> out;
  const auto add = [&](std::uint64_t moment) {
    if (std::ranges::find(out, moment) == out.end()) out.push_back(moment);
  };
  if (moments.empty()) return out;
  add(moments.back());
  add(moments.front());
  for (const sim::FoundAt& found : history.findings)
    if (std::ranges::binary_search(moments, found.moment) && out.size() < kMaxSnapshots)
      add(found.moment);
  for (std::size_t parts = 2; out.size() < kMaxSnapshots && parts < 2 * moments.size(); parts *= 2)
    for (std::size_t i = 1; i < parts && out.size() < kMaxSnapshots; ++i)
      add(moments[i * moments.size() / parts]);
  return out;
}

Json warps_json(const StoredRun& run) {
  Json out = Json::array();
  for (const auto& changes : run.history().warps) {
    Json list = Json::array();
    for (const sim::StatusChange& change : changes)
      list.push_back(
          Json::array({change.moment, state_name(change.status), subject_json(run, change.status),
                       run.line_of(change.status.op), run.source_line_of(change.status.op)}));
    out.push_back(std::move(list));
  }
  return out;
}

Json barriers_json(const StoredRun& run) {
  Json out = Json::array();
  for (const sim::BarrierHistory& barrier : run.history().barriers) {
    Json changes = Json::array();
    for (const sim::BarrierChange& each : barrier.changes)
      changes.push_back(
          Json::array({each.moment, each.status.is_alive, each.status.phase, each.status.pending,
                       each.status.expected, each.status.bytes}));
    Json one = barrier_json(run, barrier);
    one["changes"] = std::move(changes);
    out.push_back(std::move(one));
  }
  return out;
}

Json registers_json(const StoredRun& run) {
  Json out = Json::array();
  for (const NamedRegister& reg : run.registers())
    out.push_back({{"name", reg.name},
                   {"type", isa::info(reg.type).name},
                   {"offset", reg.place.offset()},
                   {"bytes", reg.type == isa::Type::Pred ? 0 : lane_bytes(reg.type)}});
  return out;
}

}  // namespace

std::vector<std::uint64_t> telling_moments(const sim::History& history, std::uint64_t moments) {
  std::set<std::uint64_t> out = {0, moments};
  for (const sim::FoundAt& found : history.findings) out.insert(found.moment);
  for (const sim::BarrierHistory& barrier : history.barriers)
    for (std::size_t i = 1; i < barrier.changes.size(); ++i) {
      const sim::BarrierStatus& before = barrier.changes[i - 1].status;
      const sim::BarrierStatus& now = barrier.changes[i].status;
      // A phase is over, or all threads came to a barrier.
      if (barrier.is_mbarrier ? now.phase != before.phase : before.is_alive && !now.is_alive)
        out.insert(barrier.changes[i].moment);
    }
  std::vector<std::uint64_t> list(out.begin(), out.end());
  std::erase_if(list, [&](std::uint64_t moment) { return moment > moments; });
  return list;
}

Json snapshots_json(StoredRun& run, std::uint64_t moments) {
  const sim::History& history = run.history();
  const std::vector<std::uint64_t> telling = telling_moments(history, moments);
  Pieces pieces;
  std::vector<std::pair<std::uint64_t, std::vector<std::vector<std::size_t>>>> kept;
  const std::lock_guard lock(run.mutex());
  for (const std::uint64_t moment : by_importance(history, telling)) {
    run.cursor().seek(moment);
    auto numbers = pieces.add(run.cursor(), history.regions.size());
    if (!numbers) break;
    kept.emplace_back(moment, std::move(*numbers));
  }
  std::ranges::sort(kept, {}, [](const auto& each) { return each.first; });
  Json at = Json::array();
  for (const auto& each : kept) at.push_back(each.first);
  Json regions = Json::array();
  for (std::size_t r = 0; r < history.regions.size(); ++r) {
    Json contents = Json::array();
    for (const auto& each : kept) contents.push_back(each.second[r]);
    regions.push_back({{"part", part_name(history.regions[r].part)},
                       {"index", history.regions[r].index},
                       {"size", history.regions[r].first.size()},
                       {"contents", std::move(contents)}});
  }
  return {{"moments", std::move(at)}, {"telling", telling.size()},
          {"pieces", pieces.json()},  {"regions", std::move(regions)},
          {"names", names_json(run)}, {"registers", registers_json(run)},
          {"warps", warps_json(run)}, {"barriers", barriers_json(run)}};
}

}  // namespace ww::explore
