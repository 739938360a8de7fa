// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace ww::bench {
namespace {

constexpr std::string_view kSkipped = "skipped: ";

double unit_of(const Json& entry) {
  const std::string unit = entry.value("time_unit", "ns");
  return unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : 1e9;
}

// Wall-clock time where a benchmark says so by its name, else the processor's.
const char* time_of(std::string_view run_name) {
  const bool is_real = run_name.ends_with("/real_time") || run_name.ends_with("/manual_time");
  return is_real ? "real_time" : "cpu_time";
}

// Without the settings that Google Benchmark writes behind a name.
std::string plain_name(std::string name) {
  for (bool again = true; std::exchange(again, false);) {
    const std::size_t slash = name.rfind('/');
    if (slash == std::string::npos) break;
    const std::string_view last = std::string_view(name).substr(slash + 1);
    for (const std::string_view setting : {"real_time", "manual_time", "process_time"})
      again = again || last == setting;
    for (const std::string_view setting : {"iterations:", "repeats:", "min_time:"})
      again = again || last.starts_with(setting);
    if (again) name.resize(slash);
  }
  return name;
}

// What is no counter among the numbers of an entry.
bool is_counter(const std::string& key) {
  constexpr std::string_view kOthers[] = {"family_index", "per_family_instance_index",
                                          "repetitions",  "repetition_index",
                                          "threads",      "iterations",
                                          "real_time",    "cpu_time"};
  return std::ranges::find(kOthers, key) == std::end(kOthers);
}

Row& row_of(Rows& out, const std::string& name) {
  const auto found = std::ranges::find(out.rows, name, &Row::name);
  if (found != out.rows.end()) return *found;
  return out.rows.emplace_back(Row{.name = name, .counters = {}});
}

void add_error(Rows& out, const std::string& name, const std::string& message) {
  if (message.starts_with(kSkipped))
    out.skipped[name] = message.substr(kSkipped.size());
  else if (const std::string line = fmt::format("{}: {}", name, message);
           std::ranges::find(out.failed, line) == out.failed.end())
    out.failed.push_back(line);
}

void add_entry(Rows& out, const Json& entry) {
  const std::string run_name = entry.value("run_name", "");
  const std::string name = plain_name(run_name);
  if (entry.value("error_occurred", false))
    return add_error(out, name, entry.value("error_message", ""));
  const std::string kind = entry.value("aggregate_name", "");
  if (kind == "cv") row_of(out, name).spread = entry.value(time_of(run_name), 0.0);
  if (kind != "median") return;
  Row& row = row_of(out, name);
  row.nanoseconds = entry.value(time_of(run_name), 0.0) * unit_of(entry);
  row.elapsed = entry.value("real_time", 0.0) * unit_of(entry);
  for (const auto& [key, value] : entry.members())
    if (value.type() == JsonType::Number && is_counter(key))
      row.counters[key] = value.get<double>();
}

}  // namespace

std::optional<double> Row::counter(const std::string& of) const {
  const auto found = counters.find(of);
  return found == counters.end() ? std::nullopt : std::optional(found->second);
}

const Row* Rows::find(std::string_view name) const {
  const auto found = std::ranges::find(rows, name, &Row::name);
  return found == rows.end() ? nullptr : &*found;
}

std::vector<const Row*> Rows::under(std::string_view prefix) const {
  std::vector<const Row*> out;
  for (const Row& row : rows)
    if (row.name.starts_with(prefix)) out.push_back(&row);
  return out;
}

Rows read_rows(const Json& result) {
  Rows out;
  for (const Json& entry : result.value("benchmarks", Json::array())) add_entry(out, entry);
  for (const Json& entry : result.value("products", Json::array()))
    if (entry.contains("wrong"))
      out.failed.push_back(fmt::format("{} {}: {}", entry.value("name", ""),
                                       entry.value("tile_text", ""), entry.value("wrong", "")));
  for (const Json& entry : result.value("rows", Json::array()))
    if (entry.contains("wrong"))
      out.failed.push_back(
          fmt::format("{}: {}", entry.value("name", ""), entry.value("wrong", "")));
  return out;
}

}  // namespace ww::bench
