// SPDX-License-Identifier: Apache-2.0
// The calls on a recording: who executed what, and the state between.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/base64.h"
#include "driver/sim/report.h"
#include "explore/calls.h"
#include "explore/encode.h"
#include "explore/recordings.h"
#include "isa/type.h"
#include "sim/memory/tensor_memory.h"

namespace ww::explore {
namespace {

constexpr std::uint64_t kMaxSteps = 200'000;  // of one answer

// A number up to `most`, or what stands for it.
Result<std::uint64_t> bounded_field(const Json& request, std::string_view name,
                                    std::uint64_t otherwise, std::uint64_t most) {
  const std::int64_t value =
      WW_TRY(number_field(request, name, static_cast<std::int64_t>(otherwise)));
  if (value < 0 || static_cast<std::uint64_t>(value) > most)
    return fail(DiagKind::OutOfBounds, "`{}` is {}, expected 0 to {}", name, value, most);
  return static_cast<std::uint64_t>(value);
}

// --- warps and barriers --------------------------------------------------------------------------

Json warp_json(const StoredRun& run, std::uint32_t warp, std::uint64_t moment) {
  const sim::History& history = run.history();
  const sim::WarpStatus status = history.status_at(warp, moment);
  std::uint32_t op = status.op;
  const std::uint64_t next = run.next_of(warp, moment);
  if (op == sim::kNoOp && !status.has_ended && next < history.moments.size())
    op = history.moments[next].op;
  const std::uint32_t line = run.line_of(op);
  return {{"warp", warp},
          {"block_rank", warp / run.recording().warps_per_cta},
          {"line", line},
          {"source_line", run.source_line_of(op)},
          {"instruction", line == 0 ? Json(nullptr) : Json(run.capture().program->line(line))},
          {"state", state_name(status)},
          {"subject", subject_json(run, status)}};
}

Json barriers_json(const StoredRun& run, std::uint64_t moment) {
  Json out = Json::array();
  for (const sim::BarrierHistory& barrier : run.history().barriers) {
    const sim::BarrierStatus status = sim::History::status_at(barrier, moment);
    if (!status.is_alive) continue;
    Json row = barrier_json(run, barrier);
    row.update({{"phase", status.phase},
                {"pending", status.pending},
                {"expected", status.expected},
                {"bytes", status.bytes}});
    out.push_back(std::move(row));
  }
  return out;
}

// --- registers -----------------------------------------------------------------------------------

std::size_t bytes_in_frame(const NamedRegister& reg) {
  return reg.type == isa::Type::Pred ? sizeof(sim::Mask) : lane_bytes(reg.type) * sim::kLanes;
}

// The lanes of a register, as hexadecimal numbers.
Json values_json(const NamedRegister& reg, const std::byte* at) {
  Json out = Json::array();
  if (reg.type == isa::Type::Pred) {
    sim::Mask mask = 0;
    std::memcpy(&mask, at, sizeof mask);
    for (unsigned lane = 0; lane < sim::kLanes; ++lane)
      out.push_back(sim::has_lane(mask, lane) ? "1" : "0");
    return out;
  }
  const unsigned bytes = lane_bytes(reg.type);
  for (unsigned lane = 0; lane < sim::kLanes; ++lane) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (unsigned b = bytes; b-- > 0;) {
      const auto value = std::to_integer<unsigned>(at[lane * bytes + b]);
      text += kDigits[value >> 4U];
      text += kDigits[value & 15U];
    }
    out.push_back(std::move(text));
  }
  return out;
}

// By lane, bit b for byte b; null where all of them are defined.
Json undefined_json(const NamedRegister& reg, const std::byte* at) {
  Json out = Json::array();
  bool any = false;
  sim::Mask mask = 0;
  std::memcpy(&mask, at, sizeof mask);
  for (unsigned lane = 0; lane < sim::kLanes; ++lane) {
    const unsigned bits = reg.type == isa::Type::Pred
                              ? static_cast<unsigned>(sim::has_lane(mask, lane))
                              : std::to_integer<unsigned>(at[lane]);
    any = any || bits != 0;
    out.push_back(bits);
  }
  return any ? out : Json(nullptr);
}

Json registers_json(const StoredRun& run, const sim::HistoryCursor& cursor, std::uint32_t warp) {
  const auto data = cursor.bytes(sim::HistoryPart::Registers, warp);
  const auto undefined = cursor.bytes(sim::HistoryPart::UndefinedRegisters, warp);
  Json out = Json::array();
  for (const NamedRegister& reg : run.registers()) {
    const std::size_t at = reg.place.offset();
    if (at + bytes_in_frame(reg) > data.size()) continue;
    out.push_back({{"name", reg.name},
                   {"type", isa::info(reg.type).name},
                   {"values", values_json(reg, data.data() + at)},
                   {"undefined", undefined_json(reg, undefined.data() + at)}});
  }
  return out;
}

// --- memories ------------------------------------------------------------------------------------

Result<Json> shared_json(const StoredRun& run, const sim::HistoryCursor& cursor,
                         const Json& request) {
  const Json* const at = request.find("shared");
  if (at == nullptr || at->type() != JsonType::Object) return Json(nullptr);
  const std::uint64_t ranks = run.recording().ctas.size();
  const auto rank = static_cast<std::uint32_t>(WW_TRY(bounded_field(*at, "rank", 0, ranks - 1)));
  const auto data = cursor.bytes(sim::HistoryPart::Shared, rank);
  const auto undefined = cursor.bytes(sim::HistoryPart::UndefinedShared, rank);
  const std::uint64_t from = WW_TRY(bounded_field(*at, "from", 0, data.size()));
  const std::uint64_t to = WW_TRY(bounded_field(*at, "to", data.size(), data.size()));
  const std::uint64_t count = to > from ? to - from : 0;
  return Json{{"rank", rank},
              {"from", from},
              {"size", data.size()},
              {"bytes", base64(data.subspan(from, count))},
              {"undefined", base64(undefined.subspan(from, count))},
              {"names", names_json(run)}};
}

Result<Json> tensor_json(const StoredRun& run, const sim::HistoryCursor& cursor,
                         const Json& request) {
  const Json* const at = request.find("tensor");
  if (at == nullptr || at->type() != JsonType::Object) return Json(nullptr);
  const std::uint64_t ranks = run.recording().ctas.size();
  const auto rank = static_cast<std::uint32_t>(WW_TRY(bounded_field(*at, "rank", 0, ranks - 1)));
  const auto cells = cursor.bytes(sim::HistoryPart::Tensor, rank);
  const auto undefined = cursor.bytes(sim::HistoryPart::UndefinedTensor, rank);
  if (cells.empty()) return Json(nullptr);
  const std::uint64_t from = WW_TRY(bounded_field(*at, "from", 0, sim::kTensorColumns));
  const std::uint64_t to = WW_TRY(bounded_field(*at, "to", 128, sim::kTensorColumns));
  const std::uint64_t count = to > from ? to - from : 0;
  std::vector<std::byte> picked, mask;
  for (std::uint64_t lane = 0; lane < sim::kTensorLanes; ++lane) {
    const std::uint64_t first = lane * sim::kTensorColumns + from;
    const auto row = cells.subspan(first * 4, count * 4);
    picked.insert(picked.end(), row.begin(), row.end());
    const auto marks = undefined.subspan(first, count);
    mask.insert(mask.end(), marks.begin(), marks.end());
  }
  return Json{{"rank", rank},
              {"from", from},
              {"to", from + count},
              {"lanes", sim::kTensorLanes},
              {"cells", base64(picked)},
              {"undefined", base64(mask)}};
}

// --- what the moment before has changed ----------------------------------------------------------

Json changed_json(const StoredRun& run, std::uint64_t moment) {
  Json registers = Json::array(), shared = Json::array(), tensor = Json::array();
  if (moment == 0) return {{"registers", registers}, {"shared", shared}, {"tensor", tensor}};
  for (const sim::ChangedBytes& change : sim::changes_of(run.history(), moment - 1)) {
    const sim::HistoryRegion& region = run.history().regions[change.region];
    const std::uint64_t end = change.offset + change.difference.size();
    if (region.part == sim::HistoryPart::Shared)
      shared.push_back(Json::array({region.index, change.offset, end}));
    if (region.part == sim::HistoryPart::Tensor)
      tensor.push_back(Json::array({region.index, change.offset / 4, end / 4}));
    if (region.part != sim::HistoryPart::Registers) continue;
    for (const NamedRegister& reg : run.registers()) {
      const std::uint64_t begin = reg.place.offset();
      const std::uint64_t stop = begin + bytes_in_frame(reg);
      const auto difference = change.difference;
      if (begin >= end || stop <= change.offset) continue;
      const std::uint64_t from = std::max<std::uint64_t>(begin, change.offset) - change.offset;
      const std::uint64_t to = std::min<std::uint64_t>(stop, end) - change.offset;
      const auto part = difference.subspan(from, to - from);
      if (std::ranges::any_of(part, [](std::byte b) { return b != std::byte{0}; }))
        registers.push_back(reg.name);
    }
  }
  return {{"registers", std::move(registers)},
          {"shared", std::move(shared)},
          {"tensor", std::move(tensor)}};
}

}  // namespace

Result<std::shared_ptr<StoredRun>> recording_field(Session& session, const Json& request) {
  const std::int64_t number = WW_TRY(number_field(request, "recording", 0));
  auto run = session.recordings.find(static_cast<std::uint64_t>(number));
  if (run == nullptr)
    return fail(DiagKind::UnknownName, "no recording {}; the last {} runs are kept", number,
                Recordings::kMaxRuns);
  return run;
}

Json steps_json(const StoredRun& run, std::uint64_t from, std::uint64_t to) {
  Json step = Json::array(), warp = Json::array(), line = Json::array(), source = Json::array(),
       lanes = Json::array();
  for (std::uint64_t i = from; i < to; ++i) {
    const sim::Moment& moment = run.history().moments[i];
    step.push_back(moment.step);
    warp.push_back(moment.warp);
    line.push_back(run.line_of(moment.op));
    source.push_back(run.source_line_of(moment.op));
    lanes.push_back(moment.lanes);
  }
  return driver::with_schema("explore-steps", {{"from", from},
                                               {"step", std::move(step)},
                                               {"warp", std::move(warp)},
                                               {"line", std::move(line)},
                                               {"source_line", std::move(source)},
                                               {"lanes", std::move(lanes)}});
}

Result<Json> call_steps(Session& session, const Json& request) {
  const auto run = WW_TRY(recording_field(session, request));
  const std::uint64_t count = run->history().moments.size();
  const std::uint64_t from = WW_TRY(bounded_field(request, "from", 0, count));
  const std::uint64_t to = WW_TRY(bounded_field(request, "to", count, count));
  return steps_json(*run, from, std::max(from, std::min(to, from + kMaxSteps)));
}

Json timeline_json(const sim::Recording& recording, const driver::TimelineSource& source,
                   const std::optional<driver::StepRange>& range) {
  const driver::Timeline timeline =
      driver::make_timeline(recording, source, {.range = range, .keeps_lanes = true});
  return driver::timeline_json(timeline);
}

Result<Json> call_timeline(Session& session, const Json& request) {
  const auto run = WW_TRY(recording_field(session, request));
  const std::uint64_t steps = run->recording().steps;
  const std::uint64_t from = WW_TRY(bounded_field(request, "from", 0, steps));
  const std::uint64_t to = WW_TRY(bounded_field(request, "to", steps, steps));
  if (from >= to)
    return fail(DiagKind::OutOfBounds, "`from` is {} and `to` is {}, expected a step between", from,
                to);
  return driver::with_schema("explore-timeline",
                             {{"timeline", timeline_json(run->recording(), run->capture().source,
                                                         driver::StepRange{from, to})}});
}

Result<Json> call_state(Session& session, const Json& request) {
  const auto run = WW_TRY(recording_field(session, request));
  const sim::History& history = run->history();
  const std::uint64_t moment = WW_TRY(bounded_field(request, "moment", 0, history.moments.size()));
  const auto warps = static_cast<std::uint32_t>(history.warps.size());
  const auto warp =
      static_cast<std::uint32_t>(WW_TRY(bounded_field(request, "warp", 0, warps - 1)));
  const bool is_end = moment == history.moments.size();
  Json rows = Json::array();
  for (std::uint32_t w = 0; w < warps; ++w) rows.push_back(warp_json(*run, w, moment));
  const std::lock_guard lock(run->mutex());
  sim::HistoryCursor& cursor = run->cursor();
  cursor.seek(moment);
  return driver::with_schema(
      "explore-state", {{"moment", moment},
                        {"step", is_end ? run->recording().steps : history.moments[moment].step},
                        {"next_warp", is_end ? Json(nullptr) : Json(history.moments[moment].warp)},
                        {"warp", warp},
                        {"warps", std::move(rows)},
                        {"barriers", barriers_json(*run, moment)},
                        {"registers", registers_json(*run, cursor, warp)},
                        {"shared", WW_TRY(shared_json(*run, cursor, request))},
                        {"tensor", WW_TRY(tensor_json(*run, cursor, request))},
                        {"changed", changed_json(*run, moment)}});
}

}  // namespace ww::explore
