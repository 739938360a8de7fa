// SPDX-License-Identifier: Apache-2.0
// What a tuning has found, for people and for programs; docs/guide/tuning.md lists the keys.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/append.h"
#include "base/join.h"
#include "base/printable.h"
#include "base/split.h"
#include "driver/explain.h"
#include "driver/report_json.h"
#include "driver/tune/tune.h"

namespace ww::driver {
namespace {

double relative(const TuneReport& report, const TuneEntry& entry) {
  const double best = report.entries.front().cost();
  return best > 0 ? entry.cost() / best : 1;
}

std::string number_text(const std::optional<std::int64_t>& number) {
  return number ? fmt::format("{}", *number) : "-";
}

bool knows_spills(const TuneReport& report) {
  return std::ranges::any_of(report.entries,
                             [](const TuneEntry& entry) { return entry.size.spills.has_value(); });
}

// --- facts ---------------------------------------------------------------------------------------

std::string tried_text(const TuneReport& report) {
  std::string out = fmt::format("{}: {} right, {} dropped", plural(report.tried(), "combination"),
                                report.entries.size(), report.drops.size());
  if (report.left_out > 0) out += fmt::format("; {} left out by --where", report.left_out);
  return out;
}

std::string estimate_text(target::Arch arch) {
  const SmRates& rates = rates_of(arch);
  return fmt::format(
      "cycles = ceil(blocks / {}) x max(instructions / 4, wavefronts, sectors, "
      "multiply-adds / {}) of a block",
      rates.sms, rates.tensor);
}

void add_facts(std::string& out, const TuneReport& report) {
  add_fact(out, "kernel", fmt::format("{} in {}", report.kernel, printable_name(report.path)));
  add_fact(out, "device",
           report.remark.empty() ? report.device_name
                                 : fmt::format("{}: {}", report.device_name, report.remark));
  if (!report.entries.empty()) add_fact(out, "target", target_text(*report.entries[0].target));
  add_fact(
      out, "expected",
      report.expects.empty() ? "nothing: results were not compared" : join(report.expects, ", "));
  add_fact(out, "tried", tried_text(report));
  if (report.entries.empty()) return;
  if (report.device == DeviceKind::Cuda)
    add_fact(out, "time", fmt::format("the median of {} launches", report.repetitions));
  else
    add_fact(out, "estimate", estimate_text(report.entries[0].target->arch));
}

// --- the table -----------------------------------------------------------------------------------

TableRow heading(const TuneReport& report) {
  TableRow out{"rank"};
  for (const SpaceAxis& axis : report.axes) out.push_back(axis.name);
  if (report.device == DeviceKind::Cuda)
    out.insert(out.end(), {"time/us", "relative"});
  else
    out.insert(out.end(), {"estimate", "relative", "bound"});
  out.insert(out.end(), {"registers", "shared", "local"});
  if (knows_spills(report)) out.emplace_back("spills");
  return out;
}

TableRow row_of(const TuneReport& report, std::size_t rank) {
  const TuneEntry& entry = report.entries[rank];
  TableRow out{fmt::format("{}", rank + 1)};
  for (std::size_t i = 0; i < report.axes.size(); ++i)
    out.push_back(report.axes[i].texts[entry.choice[i]]);
  out.push_back(entry.timing ? fmt::format("{:.2f}", entry.timing->median * 1e6)
                             : fmt::format("{:.0f}", entry.estimate.cycles));
  out.push_back(fmt::format("{:.2f}", relative(report, entry)));
  if (report.device != DeviceKind::Cuda) out.emplace_back(entry.estimate.bound);
  for (const auto& number : {entry.size.registers, entry.size.shared, entry.size.local})
    out.push_back(number_text(number));
  if (knows_spills(report)) out.push_back(number_text(entry.size.spills));
  return out;
}

void add_table(std::string& out, const TuneReport& report, std::size_t top) {
  if (report.entries.empty()) return;
  const std::size_t shown = std::min(top, report.entries.size());
  std::vector<TableRow> rows{heading(report)};
  for (std::size_t i = 0; i < shown; ++i) rows.push_back(row_of(report, i));
  const std::vector<std::size_t> widths = column_widths(rows);
  out += '\n';
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      append(out, "{}{:>{}}", i == 0 ? "" : "  ", row[i], widths[i]);
    out += '\n';
  }
  if (shown < report.entries.size())
    append(out, "... and {} more\n", report.entries.size() - shown);
}

// What ptxas says of the code of those in the table.
void add_remarks(std::string& out, const TuneReport& report, std::size_t top) {
  std::string lines;
  for (std::size_t i = 0; i < std::min(top, report.entries.size()); ++i)
    for (const runtime::PtxasRemark& remark : report.entries[i].size.slow)
      append(lines, "  rank {}: {}\n    {}\n", i + 1, remark.line, remark.why);
  if (!lines.empty()) out += "\nslow\n" + lines;
}

// --- what was dropped ----------------------------------------------------------------------------

struct Group {
  const TuneDrop* first = nullptr;
  std::vector<const TuneDrop*> all = {};
};

std::vector<Group> groups_of(const TuneReport& report) {
  std::vector<Group> out;
  for (const TuneDrop& drop : report.drops) {
    auto group = std::ranges::find_if(out, [&](const Group& each) {
      return each.first->stage == drop.stage && each.first->reason == drop.reason;
    });
    if (group == out.end()) group = out.insert(out.end(), Group{.first = &drop});
    group->all.push_back(&drop);
  }
  return out;
}

void add_indented(std::string& out, std::string_view text) {
  for (const std::string_view line : ww::split(text, '\n'))
    append(out, "{}{}\n", line.empty() ? "" : "      ", line);
}

void add_drops(std::string& out, const TuneReport& report, bool is_verbose) {
  if (!report.drops.empty()) out += "\ndropped\n";
  for (const Group& group : groups_of(report)) {
    append(out, "  {} x {}: {}\n", group.all.size(), name_of(group.first->stage),
           group.first->reason);
    if (!is_verbose) continue;
    for (const TuneDrop* drop : group.all) {
      append(out, "    {}\n", drop->kernel);
      add_indented(out, drop->details);
    }
  }
  if (is_verbose || !report.entries.empty() || report.drops.empty()) return;
  append(out, "\nthe first, {}\n", report.drops[0].kernel);
  add_indented(out, report.drops[0].details);
}

// --- JSON ----------------------------------------------------------------------------------------

Json value_json(const script::HostValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<Held, script::HostValue::Tuple>) {
          Json out = Json::array();
          for (const script::HostValue& item : held) out.push_back(value_json(item));
          return out;
        } else {
          return held;
        }
      },
      value.value);
}

Json parameters_json(const TuneReport& report, const Combination& choice) {
  Json out = Json::object();
  for (std::size_t i = 0; i < choice.size(); ++i)
    out[report.axes[i].name] = value_json(report.axes[i].values[choice[i]]);
  return out;
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json target_json(const TuneEntry& entry) { return target::info(entry.target->arch).name; }

Json time_json(const TuneEntry& entry) {
  if (!entry.timing) return nullptr;
  return {{"median", entry.timing->median * 1e6},
          {"fastest", entry.timing->fastest * 1e6},
          {"slowest", entry.timing->slowest * 1e6}};
}

Json estimate_json(const TuneEntry& entry) {
  if (!entry.work) return nullptr;
  return {{"cycles", entry.estimate.cycles},      {"bound", entry.estimate.bound},
          {"blocks", entry.work->blocks},         {"instructions", entry.work->instructions},
          {"wavefronts", entry.work->wavefronts}, {"sectors", entry.work->sectors},
          {"multiply_adds", entry.work->tensor}};
}

Json entry_json(const TuneReport& report, std::size_t rank) {
  const TuneEntry& entry = report.entries[rank];
  return {{"rank", rank + 1},
          {"kernel", entry.kernel},
          {"parameters", parameters_json(report, entry.choice)},
          {"time_us", time_json(entry)},
          {"estimate", estimate_json(entry)},
          {"relative", relative(report, entry)},
          {"target", target_json(entry)},
          {"grid", entry.grid},
          {"block", entry.block},
          {"registers", or_null(entry.size.registers)},
          {"shared_bytes", or_null(entry.size.shared)},
          {"local_bytes", or_null(entry.size.local)},
          {"spill_bytes", or_null(entry.size.spills)}};
}

Json drop_json(const TuneReport& report, const TuneDrop& drop) {
  return {{"kernel", drop.kernel},
          {"parameters", parameters_json(report, drop.choice)},
          {"stage", name_of(drop.stage)},
          {"reason", drop.reason},
          {"details", drop.details}};
}

Json space_json(const TuneReport& report) {
  Json out = Json::object();
  for (const SpaceAxis& axis : report.axes) {
    Json& values = out[axis.name] = Json::array();
    for (const script::HostValue& value : axis.values) values.push_back(value_json(value));
  }
  return out;
}

}  // namespace

std::string tune_text(const TuneReport& report, const TuneTextOptions& options) {
  std::string out;
  add_facts(out, report);
  add_table(out, report, options.top);
  add_remarks(out, report, options.top);
  add_drops(out, report, options.is_verbose);
  if (!report.output.empty())
    append(out, "\n{} written to {}\n", report.entries[0].kernel, report.output);
  return out;
}

Json tune_json(const TuneReport& report) {
  Json out = with_schema(
      "tune", {{"file", report.path},
               {"kernel", report.kernel},
               {"device", name_of(report.device)},
               {"device_name", report.device_name},
               {"remark", report.remark.empty() ? Json() : Json(report.remark)},
               {"expects", report.expects},
               {"repetitions", report.repetitions > 0 ? Json(report.repetitions) : Json()},
               {"space", space_json(report)},
               {"left_out", report.left_out},
               {"tried", report.tried()}});
  out["ranked"] = Json::array();
  for (std::size_t i = 0; i < report.entries.size(); ++i)
    out["ranked"].push_back(entry_json(report, i));
  out["dropped"] = Json::array();
  for (const TuneDrop& drop : report.drops) out["dropped"].push_back(drop_json(report, drop));
  return out;
}

Json best_json(const TuneReport& report) {
  const TuneEntry& best = report.entries.front();
  Json out = with_schema("tune-best", {{"file", report.path},
                                       {"kernel", best.kernel},
                                       {"target", target_json(best)},
                                       {"device", name_of(report.device)},
                                       {"device_name", report.device_name},
                                       {"parameters", parameters_json(report, best.choice)}});
  if (best.timing)
    out["time_us"] = best.timing->median * 1e6;
  else
    out["estimate"] = best.estimate.cycles;
  out["tried"] = report.tried();
  out["dropped"] = report.drops.size();
  return out;
}

}  // namespace ww::driver
