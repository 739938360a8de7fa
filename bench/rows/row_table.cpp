// SPDX-License-Identifier: Apache-2.0
#include "row_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace ww::bench::rows {
namespace {

constexpr std::string_view kStart = "{:<16} {:<9} {:<23} {:>8} {:>8}";

template <typename T>
std::string shown(const std::optional<T>& value, std::string_view format = "{}") {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string percent(std::optional<double> share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

// Why rivals are not there, each reason once, with the number of rows that it is about.
void add_absent(std::string& out, const std::vector<RowResult>& results) {
  std::map<std::string, int> reasons;
  for (const RowResult& result : results) {
    if (!result.copy.absent.empty())
      ++reasons[fmt::format("the copy is not measured: {}", result.copy.absent)];
    for (const RowRival& rival : result.rivals)
      if (!rival.result.absent.empty())
        ++reasons[fmt::format("{} is not measured: {}", rival.who.title, rival.result.absent)];
  }
  for (const auto& [reason, count] : reasons)
    out += fmt::format("{} ({} {})\n", reason, count, count == 1 ? "row" : "rows");
}

template <typename T>
Json known(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json rival_entry(const Rival& rival, std::optional<double> share, const char* rate) {
  Json out = {
      {rate, known(rival.tera())}, {"of_copy", known(share)}, {"seconds", rival.turns.seconds}};
  if (!rival.absent.empty()) out["absent"] = rival.absent;
  if (!rival.detail.empty()) out["detail"] = rival.detail;
  return out;
}

Json result_entry(const RowResult& result) {
  const RowProblem& problem = result.row.problem;
  const char* const rate = problem.is_attention() ? "tflops" : "tbps";
  Json out = {{"name", result.row.name},
              {"kernel", name_of(problem.job)},
              {"dtype", num::name_of(problem.dtype)},
              {"size", size_text(problem)},
              {"m", problem.m},
              {"n", problem.n},
              {"expression", expression_of(result.row)},
              {problem.is_attention() ? "operations" : "bytes", result.work()},
              {rate, known(result.tera())},
              {fmt::format("best_{}", rate), known(result.best_tera())},
              {"of_copy", known(result.of_copy())}};
  if (!problem.is_attention()) out["copy"] = rival_entry(result.copy, {}, rate);
  for (const RowRival& rival : result.rivals)
    out[std::string(rival.who.name)] = rival_entry(rival.result, result.of_copy(rival), rate);
  out.update({{"registers", known(result.registers)},
              {"local_bytes", known(result.local)},
              {"shared_bytes", result.shared},
              {"rounds", result.rounds},
              {"launches", result.launches},
              {"seconds", result.turns.seconds},
              {"checked", result.checked}});
  if (result.assembled)
    out["ptxas"] = {{"registers", result.assembled->registers},
                    {"spill_bytes", result.assembled->spills}};
  if (!result.left_out.empty()) out["left_out"] = result.left_out;
  if (!result.wrong.empty()) out["wrong"] = result.wrong;
  return out;
}

}  // namespace

std::string table_head(const RowProblem& problem) {
  std::string out =
      problem.is_attention()
          ? fmt::format(fmt::runtime(kStart), "kernel", "type", "batch, seq, heads, dim", "TFLOP/s",
                        "best")
          : fmt::format(fmt::runtime(kStart), "kernel", "type", "row", "TB/s", "best");
  if (!problem.is_attention()) out += fmt::format(" {:>13} {:>8}", "copy", "of copy");
  for (const Who& who : rivals_of(problem)) out += fmt::format(" {:>13}", who.title);
  return out + fmt::format(" {:>5}\n", "regs");
}

std::string table_line(const RowResult& result) {
  const RowProblem& problem = result.row.problem;
  const bool is_attention = problem.is_attention();
  const std::string_view rate = is_attention ? "{:.1f}" : "{:.3f}";
  std::string out =
      fmt::format(fmt::runtime(kStart), name_of(problem.job), num::name_of(problem.dtype),
                  size_text(problem), shown(result.tera(), rate), shown(result.best_tera(), rate));
  if (!is_attention)
    out += fmt::format(" {:>13} {:>8}", shown(result.copy.tera(), rate), percent(result.of_copy()));
  for (const Who& who : rivals_of(problem)) {
    const auto found = std::ranges::find(result.rivals, who.name,
                                         [](const RowRival& rival) { return rival.who.name; });
    const bool is_there = found != result.rivals.end();
    out += fmt::format(" {:>13}", !is_there      ? "-"
                                  : is_attention ? shown(found->result.tera(), rate)
                                                 : percent(result.of_copy(*found)));
  }
  out += fmt::format(" {:>5}\n", shown(result.registers));
  if (!result.left_out.empty()) out += fmt::format("    left out: {}\n", result.left_out);
  if (!result.wrong.empty()) out += fmt::format("    WRONG: {}\n", result.wrong);
  return out;
}

std::string table_foot(const std::vector<RowResult>& results) {
  std::string out;
  const auto measured =
      std::ranges::find_if(results, [](const RowResult& result) { return result.launches > 0; });
  if (measured == results.end()) return out;
  out += fmt::format(
      "Medians of {} rounds, in which all take turns; `best` is our best round. A rate is bytes "
      "that must move\n(attention: operations of its products) over time; rivals are shown as "
      "their rate over that of the driver's copy.\nLines of our results were compared with "
      "float64.\n",
      measured->rounds);
  add_absent(out, results);
  for (const RowResult& result : results)
    if (result.assembled)
      out += fmt::format("ptxas: {}: {} registers, {} bytes spilled\n", result.row.name,
                         result.assembled->registers, result.assembled->spills);
  return out;
}

Json rows_json(const std::vector<RowResult>& results) {
  Json out = Json::array();
  for (const RowResult& result : results) out.push_back(result_entry(result));
  return out;
}

}  // namespace ww::bench::rows
