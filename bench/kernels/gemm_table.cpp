// SPDX-License-Identifier: Apache-2.0
#include "gemm_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace ww::bench {
namespace {

constexpr std::string_view kLine =
    "{:<15} {:<8} {:<20} {:<25} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8} {:>5} {:>8} {:>8}\n";

template <typename T>
std::string number(const std::optional<T>& value, std::string_view format = "{}") {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string line(const GemmResult& result, const GemmKernel& kernel) {
  auto share = result.of_ceiling(kernel);
  if (share) *share *= 100;
  const bool is_loaded = kernel.left_out.empty();
  return fmt::format(
      fmt::runtime(kLine), kernel_name(result.row), num::name_of(result.row.problem.dtype),
      size_text(result.row.problem), tile_text(kernel.tile), number(result.tera(kernel), "{:.1f}"),
      number(share, "{:.1f} %"), number(result.ceiling.tera(), "{:.1f}"),
      number(result.cublas.tera(), "{:.1f}"), number(result.of_cublas(kernel), "{:.3f}"),
      number(result.triton.tera(), "{:.1f}"), number(kernel.registers),
      is_loaded ? fmt::format("{}", kernel.shared) : "-",
      number(result.best_tera(kernel), "{:.1f}"));
}

// The reasons that rows have in common, once each.
void add_absent(std::string& out, std::string_view name, const std::vector<GemmResult>& results,
                Rival GemmResult::*rival) {
  std::set<std::string> said;
  for (const GemmResult& result : results)
    if (const std::string& reason = (result.*rival).absent;
        !reason.empty() && said.insert(reason).second)
      out += fmt::format("{} is not measured{}: {}\n", name,
                         said.size() > 1 || !(results[0].*rival).absent.empty()
                             ? ""
                             : fmt::format(" for {}", result.row.name),
                         reason);
}

template <typename T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json rival_json(const Rival& rival) {
  Json out = {{"tflops", json_of(rival.tera())},
              {"operations", rival.operations},
              {"seconds", rival.turns.seconds}};
  if (!rival.absent.empty()) out["absent"] = rival.absent;
  if (!rival.detail.empty()) out["detail"] = rival.detail;
  return out;
}

Json tile_json(const Tile& tile) {
  return {{"BM", tile.bm},       {"BN", tile.bn},          {"BK", tile.bk},
          {"WM", tile.wm},       {"WN", tile.wn},          {"stages", tile.stages},
          {"group", tile.group}, {"cluster", tile.cluster}};
}

Json kernel_json(const GemmResult& result, const GemmKernel& kernel) {
  const Problem& problem = result.row.problem;
  Json out = {{"name", result.row.name},
              {"kernel", kernel_name(result.row)},
              {"size", size_text(problem)},
              {"m", problem.m},
              {"n", problem.n},
              {"k", problem.k},
              {"batch", problem.batch},
              {"dtype", num::name_of(problem.dtype)},
              {"out", num::name_of(problem.out)},
              {"trans_a", problem.trans_a},
              {"trans_b", problem.trans_b},
              {"tile", tile_json(kernel.tile)},
              {"tile_text", tile_text(kernel.tile)},
              {"tflops", json_of(result.tera(kernel))},
              {"best_tflops", json_of(result.best_tera(kernel))},
              {"of_ceiling", json_of(result.of_ceiling(kernel))},
              {"of_cublas", json_of(result.of_cublas(kernel))},
              {"ceiling", rival_json(result.ceiling)},
              {"cublas", rival_json(result.cublas)},
              {"triton", rival_json(result.triton)},
              {"registers", json_of(kernel.registers)},
              {"local_bytes", json_of(kernel.local)},
              {"shared_bytes", kernel.shared},
              {"rounds", result.rounds},
              {"launches", result.launches},
              {"seconds", kernel.turns.seconds},
              {"checked", kernel.checked},
              {"compared_with_cublas", kernel.compared}};
  if (kernel.assembled)
    out["ptxas"] = {{"registers", kernel.assembled->registers},
                    {"spill_bytes", kernel.assembled->spills}};
  if (!kernel.left_out.empty()) out["left_out"] = kernel.left_out;
  if (!kernel.wrong.empty()) out["wrong"] = kernel.wrong;
  return out;
}

}  // namespace

std::string table_head() {
  return fmt::format(fmt::runtime(kLine), "product", "type", "size", "tile", "TFLOP/s", "of ceil.",
                     "ceiling", "cuBLAS", "of cuBLAS", "Triton", "regs", "shared", "best");
}

std::string table_lines(const GemmResult& result) {
  std::string out;
  for (const GemmKernel& kernel : result.kernels) {
    out += line(result, kernel);
    if (!kernel.left_out.empty()) out += fmt::format("    left out: {}\n", kernel.left_out);
    if (!kernel.wrong.empty()) out += fmt::format("    WRONG: {}\n", kernel.wrong);
  }
  return out;
}

std::string table_foot(const std::vector<GemmResult>& results) {
  std::string out;
  const auto measured =
      std::ranges::find_if(results, [](const GemmResult& result) { return result.launches > 0; });
  if (measured == results.end()) return out;
  out += fmt::format(
      "Medians of {} rounds, in which all take turns; `best` is our best round. Results were "
      "compared with sums in\nfloat64, tolerance 2u |d| + 2^-11 sqrt(K), u the rounding of D's "
      "type; whole numbers exactly.\n",
      measured->rounds);
  const std::vector<GemmResult> rest(measured, results.end());
  add_absent(out, "the ceiling", rest, &GemmResult::ceiling);
  add_absent(out, "cuBLAS", rest, &GemmResult::cublas);
  add_absent(out, "Triton", rest, &GemmResult::triton);
  for (const GemmResult& result : results)
    for (const GemmKernel& kernel : result.kernels)
      if (kernel.assembled)
        out += fmt::format("ptxas: {} {}: {} registers, {} bytes spilled\n", result.row.name,
                           tile_text(kernel.tile), kernel.assembled->registers,
                           kernel.assembled->spills);
  return out;
}

Json products_json(const std::vector<GemmResult>& results) {
  Json out = Json::array();
  for (const GemmResult& result : results)
    for (const GemmKernel& kernel : result.kernels) out.push_back(kernel_json(result, kernel));
  return out;
}

}  // namespace ww::bench
