// SPDX-License-Identifier: Apache-2.0
#include "driver/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/append.h"
#include "base/join.h"
#include "base/printable.h"
#include "driver/args/array.h"
#include "sim/launch.h"

namespace ww::driver {
namespace {

std::string definedness(const BufferReport& buffer) {
  if (buffer.undefined == 0) return "";
  return fmt::format(", {} undefined (the first is {})",
                     plural(static_cast<std::uint64_t>(buffer.undefined), "element"),
                     shape_text(buffer.first_undefined));
}

}  // namespace

void add_buffers(std::string& out, std::span<const BufferReport> buffers, bool numbered) {
  bool is_first = true;
  for (const BufferReport& buffer : buffers) {
    if (!buffer.is_output && buffer.undefined == 0 && buffer.file.empty()) continue;
    if (std::exchange(is_first, false)) out += '\n';
    const auto size = element_count(buffer.shape).value_or(0);
    const bool has_more = static_cast<std::size_t>(size) > buffer.first.size();
    // The names that nvcc makes up say no more than the number.
    const bool is_made_up = buffer.name.ends_with(fmt::format("_param_{}", buffer.param));
    if (numbered) append(out, "${}{}", buffer.param, is_made_up ? "" : " ");
    append(out, "{}: {}{}: {}{}\n", numbered && is_made_up ? "" : buffer.name,
           shaped_type_text(buffer.dtype, buffer.shape), definedness(buffer),
           join(buffer.first, " "), has_more ? " ..." : "");
    if (!buffer.file.empty()) append(out, "  written to {}\n", printable_name(buffer.file));
  }
}

bool all_hold(std::span<const ExpectReport> expectations) {
  return std::ranges::all_of(expectations, &ExpectResult::holds, &ExpectReport::result);
}

void add_expectations(std::string& out, std::span<const ExpectReport> expectations) {
  if (!expectations.empty()) out += '\n';
  for (const ExpectReport& each : expectations) append(out, "expect {}\n", each.result.text);
}

void add_printed(std::string& out, std::string_view printed) {
  if (printed.empty()) return;
  out += "\nprinted by the kernel:\n";
  out += printed;
  if (!printed.ends_with('\n')) out += '\n';
}

std::vector<std::int64_t> index_of(std::span<const std::int64_t> shape, std::int64_t element) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = element % shape[d];
    element /= shape[d];
  }
  return index;
}

std::string plural(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void add_schedules(std::string& out, const sim::SchedulesReport& schedules) {
  if (schedules.run.size() < 2) return;
  std::string text =
      !schedules.problem.empty()
          ? fmt::format("`--schedule {}` {}", text_of(schedules.run.back()), schedules.problem)
          : fmt::format("{}: no findings", schedules.run.size());
  if (schedules.problem.empty())
    text += schedules.first_difference.empty()
                ? ", same results"
                : fmt::format("; `--schedule {}` leaves other results, as atomics may",
                              schedules.first_difference);
  add_fact(out, "schedules", text);
}

void add_fact(std::string& out, std::string_view name, std::string_view text) {
  append(out, "{:<11} {}\n", name, text);
}

std::vector<std::size_t> column_widths(std::span<const TableRow> rows) {
  std::vector<std::size_t> widths;
  for (const TableRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  return widths;
}

// --- as JSON -------------------------------------------------------------------------------------

Json schedules_json(const sim::SchedulesReport& schedules) {
  if (schedules.run.size() < 2) return nullptr;
  return {{"run", json_list(schedules.run, sim::text_of)},
          {"problem", text_or_null(schedules.problem)},
          {"first_difference", text_or_null(schedules.first_difference)}};
}

Json with_schema(std::string_view name, const Json& keys) {
  Json out = {{"schema", fmt::format("warpwright/{}/1", name)}};
  out.update(keys);
  return out;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json buffer_json(const BufferReport& buffer) {
  return {{"parameter", buffer.param},
          {"name", buffer.name},
          {"dtype", num::name_of(buffer.dtype)},
          {"shape", buffer.shape},
          {"output", buffer.is_output},
          {"undefined", buffer.undefined},
          {"first_undefined", buffer.undefined > 0 ? Json(buffer.first_undefined) : Json()},
          {"first", buffer.first},
          {"file", buffer.file.empty() ? Json() : Json(buffer.file)}};
}

Json expectation_json(const ExpectReport& each) {
  Json first = json_list(each.result.first, [&](const Mismatch& mismatch) -> Json {
    return {{"index", mismatch.index},
            {"seen", mismatch.seen},
            {"wanted", mismatch.wanted},
            {"error", mismatch.error}};
  });
  return {{"expect", each.text},
          {"holds", each.result.holds},
          {"elements", each.result.elements},
          {"mismatches", each.result.mismatches},
          {"max_error", each.result.max_error},
          {"tolerance", each.result.tolerance.rtol},
          {"rtol", each.result.tolerance.rtol},
          {"atol", each.result.tolerance.atol},
          {"first", first}};
}

namespace {

// What a kernel prints, and names of files, may be any bytes.
std::string plain_text(const Json& value, int indent = -1) {
  return printable_json(value.dump(indent));
}

// What fits into a line of this length stands on one.
constexpr std::size_t kLongestLine = 140;

bool has_items(const Json& value) {
  return value.type() == JsonType::Array || value.type() == JsonType::Object;
}

// Calls `take` with each item and its key, as long as it returns true.
template <typename Take>
bool for_each_item(const Json& value, const Take& take) {
  if (value.type() == JsonType::Object)
    return std::ranges::all_of(value.members(), [&](const JsonMember& member) {
      return take(plain_text(member.first) + ": ", member.second);
    });
  return std::ranges::all_of(value, [&](const Json& item) { return take("", item); });
}

// Appends the value as one line. False, and only a part of it, if `out` gets longer than `most`.
bool append_line(std::string& out, const Json& value, std::size_t most) {
  if (!has_items(value)) {
    out += plain_text(value);
    return out.size() <= most;
  }
  const bool is_object = value.type() == JsonType::Object;
  std::string_view separator = is_object ? "{" : "[";
  const bool fits = for_each_item(value, [&](std::string_view key, const Json& item) {
    append(out, "{}{}", std::exchange(separator, ", "), key);
    return append_line(out, item, most);
  });
  if (value.size() == 0) out += separator;
  out += is_object ? '}' : ']';
  return fits && out.size() <= most;
}

void write(std::string& out, const Json& value, std::size_t indent) {
  if (!has_items(value)) return void(out += plain_text(value));
  const std::size_t begin = out.size();
  if (indent <= kLongestLine && append_line(out, value, begin + kLongestLine - indent)) return;
  out.resize(begin);
  std::string_view separator = value.type() == JsonType::Object ? "{" : "[";
  for_each_item(value, [&](std::string_view key, const Json& item) {
    append(out, "{}\n{:{}}{}", separator, "", indent + 2, key);
    separator = ",";
    write(out, item, indent + 2);
    return true;
  });
  append(out, "\n{:{}}{}", "", indent, value.type() == JsonType::Object ? "}" : "]");
}

}  // namespace

std::string json_text(const Json& value) {
  std::string text;
  write(text, value, 0);
  return text + "\n";
}

std::string json_lines(const Json& value) { return plain_text(value, 2) + "\n"; }

}  // namespace ww::driver
