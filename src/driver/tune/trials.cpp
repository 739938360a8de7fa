// SPDX-License-Identifier: Apache-2.0
#include "driver/tune/trials.h"

#include <algorithm>
#include <map>
#include <utility>

#include "driver/build.h"
#include "json/json.h"
#include "target/target.h"

namespace ww::driver {
namespace {

constexpr std::string_view kTrialsSchema = "warpwright/trials/1";

// --- writing -------------------------------------------------------------------------------------

Json saved_number(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json();
}

Json saved_timing(const std::optional<runtime::Timing>& timing) {
  if (!timing) return nullptr;
  return Json::array({timing->median, timing->fastest, timing->slowest, timing->launches});
}

Json saved_work(const std::optional<SimWork>& work) {
  if (!work) return nullptr;
  return Json::array(
      {work->blocks, work->instructions, work->wavefronts, work->sectors, work->tensor});
}

Json saved_entry(const TuneEntry& entry) {
  return {{"choice", entry.choice},
          {"target", target::info(entry.target->arch).name},
          {"timing", saved_timing(entry.timing)},
          {"work", saved_work(entry.work)},
          {"shared", saved_number(entry.size.shared)},
          {"registers", saved_number(entry.size.registers)},
          {"local", saved_number(entry.size.local)},
          {"spills", saved_number(entry.size.spills)},
          {"grid", entry.grid},
          {"block", entry.block}};
}

Json saved_drop(const TuneDrop& drop) {
  return {{"choice", drop.choice},
          {"stage", std::to_underlying(drop.stage)},
          {"reason", drop.reason},
          {"details", drop.details}};
}

// --- reading -------------------------------------------------------------------------------------

// A key that is missing or of another type throws, and add_trials says that the text is none of ours.

Combination read_choice(const Json& row) {
  Combination out;
  for (const Json& each : row["choice"]) out.push_back(each.get<std::uint64_t>());
  return out;
}

std::array<std::int64_t, 3> read_extents(const Json& row) {
  return {row[0].get<std::int64_t>(), row[1].get<std::int64_t>(), row[2].get<std::int64_t>()};
}

template <typename Enum>
Enum read_enum(const Json& value, Enum last) {
  const auto number = value.get<std::uint64_t>();
  if (number > std::to_underlying(last)) throw JsonMismatch("a number without a name");
  return static_cast<Enum>(number);
}

std::optional<std::int64_t> read_number(const Json& row, const char* key) {
  const Json& value = row[key];
  return value.is_null() ? std::nullopt : std::optional(value.get<std::int64_t>());
}

std::optional<runtime::Timing> read_timing(const Json& row) {
  if (row.is_null()) return std::nullopt;
  return runtime::Timing{.median = row[0].get<double>(),
                         .fastest = row[1].get<double>(),
                         .slowest = row[2].get<double>(),
                         .launches = row[3].get<int>()};
}

std::optional<SimWork> read_work(const Json& row) {
  if (row.is_null()) return std::nullopt;
  return SimWork{.blocks = row[0].get<std::uint64_t>(),
                 .instructions = row[1].get<std::uint64_t>(),
                 .wavefronts = row[2].get<std::uint64_t>(),
                 .sectors = row[3].get<std::uint64_t>(),
                 .tensor = row[4].get<std::uint64_t>()};
}

TuneEntry read_entry(const Json& row, const TuneSpace& space) {
  TuneEntry out;
  out.choice = read_choice(row);
  out.kernel = space.kernel(out.choice);
  std::string errors;
  read_target(row["target"].get<std::string>(), out.target, errors);
  out.timing = read_timing(row["timing"]);
  out.work = read_work(row["work"]);
  if (out.work && out.target) out.estimate = estimate(*out.work, out.target->arch);
  out.size = {.shared = read_number(row, "shared"),
              .registers = read_number(row, "registers"),
              .local = read_number(row, "local"),
              .spills = read_number(row, "spills")};
  out.grid = read_extents(row["grid"]);
  out.block = read_extents(row["block"]);
  return out;
}

TuneDrop read_drop(const Json& row, const TuneSpace& space) {
  TuneDrop out;
  out.choice = read_choice(row);
  out.kernel = space.kernel(out.choice);
  out.stage = read_enum(row["stage"], DropStage::Expect);
  out.reason = row["reason"].get<std::string>();
  out.details = row["details"].get<std::string>();
  return out;
}

bool is_of_space(const TuneSpace& space, const Json& row) {
  return std::ranges::binary_search(space.combinations(), read_choice(row));
}

Result<void> take_device(TuneReport& report, const Json& part) {
  const auto name = part["device_name"].get<std::string>();
  if (report.tried() > 0 && name != report.device_name)
    return fail(DiagKind::BadArgument,
                "combinations were tried on {} and on {}: their costs cannot be compared",
                report.device_name, name);
  report.device = read_enum(part["device"], DeviceKind::Eval);
  report.device_name = name;
  report.remark = part["remark"].get<std::string>();
  report.repetitions = part["repetitions"].get<int>();
  return {};
}

Result<void> add_part(TuneReport& report, const TuneSpace& space, const Json& part) {
  const Diag foreign = diag(DiagKind::BadArgument, "trials of another space");
  if (part["schema"].get<std::string>() != kTrialsSchema) return fail(Diag(foreign));
  WW_TRY_VOID(take_device(report, part));
  for (const Json& row : part["entries"]) {
    if (!is_of_space(space, row)) return fail(Diag(foreign));
    report.entries.push_back(read_entry(row, space));
    if (!report.entries.back().target) return fail(Diag(foreign));
  }
  for (const Json& row : part["drops"]) {
    if (!is_of_space(space, row)) return fail(Diag(foreign));
    report.drops.push_back(read_drop(row, space));
  }
  return {};
}

}  // namespace

std::string save_trials(const TuneReport& report) {
  Json out = {{"schema", kTrialsSchema},
              {"device", std::to_underlying(report.device)},
              {"device_name", report.device_name},
              {"remark", report.remark},
              {"repetitions", report.repetitions},
              {"entries", Json::array()},
              {"drops", Json::array()}};
  for (const TuneEntry& entry : report.entries) out["entries"].push_back(saved_entry(entry));
  for (const TuneDrop& drop : report.drops) out["drops"].push_back(saved_drop(drop));
  return out.dump();
}

Result<void> add_trials(TuneReport& report, const TuneSpace& space, std::string_view saved) {
  const Json part = Json::parse(saved).value_or(nullptr);
  try {
    return add_part(report, space, part);
  } catch (const JsonMismatch&) {
    return fail(DiagKind::BadArgument, "trials that cannot be read");
  }
}

Result<void> check_trials(TuneReport& report, const TuneSpace& space) {
  std::map<Combination, int> times;
  for (const TuneEntry& entry : report.entries) ++times[entry.choice];
  for (const TuneDrop& drop : report.drops) ++times[drop.choice];
  for (const Combination& each : space.combinations())
    if (const int seen = times[each]; seen != 1)
      return fail(DiagKind::BadArgument, "`{}` was tried {} times, expected once",
                  space.kernel(each), seen);
  std::ranges::sort(report.entries, {}, &TuneEntry::choice);
  std::ranges::sort(report.drops, {}, &TuneDrop::choice);
  return {};
}

}  // namespace ww::driver
