// SPDX-License-Identifier: Apache-2.0
#include "hardware/sweep/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace ww::sweep {
namespace {

// Text for a cell of a table in Markdown, where a bar ends the cell.
std::string cell_of(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string note_of(const Row& row) {
  if (!row.problem.empty()) return cell_of(row.problem.substr(0, row.problem.find('\n')));
  return row.comparison.bound == nullptr ? "all bits" : cell_of(row.comparison.bound->text);
}

std::string error_of(const Row& row) {
  const Comparison& c = row.comparison;
  if (c.bound == nullptr) return "";
  return fmt::format("{:.2f} ulp, {:.2f} of the bound", c.max_ulps, c.max_share);
}

std::string line_of(const Row& row) {
  return fmt::format("| {} | {} | {} | {} | {} |\n", row.kernel->title(), row.comparison.cases,
                     row.comparison.mismatches, note_of(row), error_of(row));
}

constexpr std::string_view kHeading =
    "| instruction | cases | mismatches | compared by | largest error |\n|---|--:|--:|---|---|\n";

std::vector<const Row*> by_title(const std::vector<Row>& rows) {
  std::vector<const Row*> sorted;
  for (const Row& row : rows) sorted.push_back(&row);
  std::ranges::stable_sort(sorted, {}, [](const Row* row) { return row->kernel->title(); });
  return sorted;
}

template <typename Keep>
std::string table_of(const std::vector<Row>& rows, Keep keep) {
  std::string text(kHeading);
  for (const Row* row : by_title(rows))
    if (keep(*row)) text += line_of(*row);
  return text;
}

struct Sum {
  std::size_t kernels = 0, cases = 0, differing = 0, mismatches = 0;
};

std::string sums(const std::vector<Row>& rows) {
  std::map<std::pair<std::string, std::string>, Sum> by_mnemonic;
  for (const Row& row : rows) {
    if (row.comparison.bound != nullptr) continue;
    const std::string& opcode = row.kernel->opcode;
    Sum& sum = by_mnemonic[{row.kernel->family, opcode.substr(0, opcode.find('.'))}];
    ++sum.kernels;
    sum.cases += row.comparison.cases;
    sum.mismatches += row.comparison.mismatches;
    if (!row.is_good()) ++sum.differing;
  }
  std::string text =
      "| family | instruction | forms and variants | cases | differing | mismatches |\n"
      "|---|---|--:|--:|--:|--:|\n";
  for (const auto& [key, sum] : by_mnemonic) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", key.first, key.second, sum.kernels,
                        sum.cases, sum.differing, sum.mismatches);
  }
  return text;
}

}  // namespace

std::string full_table(const std::vector<Row>& rows) {
  return table_of(rows, [](const Row&) { return true; });
}

std::string summary_page(const ReportHead& head, const std::vector<Row>& rows) {
  const auto is_approximate = [](const Row& row) { return row.comparison.bound != nullptr; };
  const auto differs = [](const Row& row) { return !row.is_good(); };
  std::string text = fmt::format("Written by `{}` on {}, {} threads each.\n\n", head.command,
                                 head.device, head.cases);
  text += "### Bit for bit\n\n" + sums(rows);
  text +=
      "\n### Approximations\n\nCompared with the rounded value; the bounds are the PTX "
      "manual's.\n\n";
  text += table_of(rows, is_approximate);
  const auto count = std::ranges::count_if(rows, differs);
  text += fmt::format("\n### Differences\n\n{}", count == 0 ? "None.\n" : "");
  return count == 0 ? text : text + table_of(rows, differs);
}

std::string differences(const std::vector<Row>& rows) {
  std::string text;
  for (const Row* row : by_title(rows)) {
    if (row->is_good()) continue;
    text +=
        fmt::format("{}: {} of {} differ\n  {}\n", row->kernel->title(), row->comparison.mismatches,
                    row->comparison.cases, row->kernel->instruction);
    if (!row->problem.empty()) text += fmt::format("  problem: {}\n", row->problem);
    text += row->examples + "\n";
  }
  return text;
}

std::string json_report(const ReportHead& head, const std::vector<Row>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const Row* row : by_title(rows)) {
    nlohmann::json entry = {{"instruction", row->kernel->title()},
                            {"family", row->kernel->family},
                            {"cases", row->comparison.cases},
                            {"mismatches", row->comparison.mismatches}};
    if (!row->problem.empty()) entry["problem"] = row->problem;
    if (row->comparison.bound != nullptr) {
      entry["bound"] = row->comparison.bound->text;
      entry["max_ulps"] = row->comparison.max_ulps;
      entry["max_share"] = row->comparison.max_share;
    }
    list.push_back(std::move(entry));
  }
  const nlohmann::json all = {
      {"command", head.command}, {"device", head.device}, {"cases", head.cases}, {"rows", list}};
  return all.dump(1) + "\n";
}

}  // namespace ww::sweep
