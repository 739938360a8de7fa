// SPDX-License-Identifier: Apache-2.0
#include "driver/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/append.h"
#include "base/join.h"
#include "base/printable.h"
#include "driver/args/array.h"

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

}  // namespace ww::driver
