// SPDX-License-Identifier: Apache-2.0
#include "turn_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "table_text.h"

namespace ww::bench {
namespace {

// As people write sizes.
std::string sized(std::string text) {
  for (std::size_t at = text.find('x'); at != std::string::npos; at = text.find('x', at))
    text.replace(at, 1, "×");
  return text;
}
std::optional<double> number_in(const Json& entry, const char* key) {
  return entry.contains(key) && entry[key].type() == JsonType::Number
             ? std::optional(entry[key].get<double>())
             : std::nullopt;
}
std::string whole_text(std::optional<double> value) {
  return value ? fmt::format("{:.0f}", *value) : std::string(kNone);
}

// "8192", "2×8192×16×128 causal".
std::string size_cell(const Json& entry) {
  const std::string size = entry.value("size", "");
  const std::size_t words = std::min(size.find(' '), size.size());
  return sized(size.substr(0, words)) + size.substr(words);
}

std::string rival_cell(const Json& entry, const char* rival, const char* what) {
  return entry.contains(rival) ? number_text(number_in(entry[rival], what)) : std::string(kNone);
}
std::string share_cell(const Json& entry) {
  const auto share = number_in(entry, "of_copy");
  return share ? fmt::format("{:.1f} %", 100 * *share) : std::string(kNone);
}
std::string share_cell(const Json& entry, const char* rival) {
  return entry.contains(rival) ? share_cell(entry[rival]) : std::string(kNone);
}

}  // namespace

namespace {

bool is_of_kind(const Json& entry, ProductKind kind) {
  const bool is_of_warps = !entry.contains("tile") || entry["tile"].value("WM", 1) > 0;
  return is_of_warps == (kind == ProductKind::Mma);
}

std::vector<std::string_view> product_titles(ProductKind kind) {
  std::vector<std::string_view> out = {"product", "type", "size", "tile", ">TFLOP/s"};
  if (kind == ProductKind::Mma) out.insert(out.end(), {">of ceiling", ">ceiling"});
  out.insert(out.end(),
             {">cuBLAS", ">of cuBLAS", ">Triton", ">registers", ">shared bytes", ">best"});
  return out;
}

}  // namespace

std::string product_table(const Json& result, ProductKind kind) {
  Table out(product_titles(kind));
  for (const Json& entry : result.value("products", Json::array())) {
    if (!number_in(entry, "tflops") || !is_of_kind(entry, kind)) continue;
    const auto rival = [&](const char* name) {
      return entry.contains(name) ? number_text(number_in(entry[name], "tflops"))
                                  : std::string(kNone);
    };
    const auto share = number_in(entry, "of_ceiling");
    const auto of_cublas = number_in(entry, "of_cublas");
    std::vector<std::string> cells = {
        code(entry.value("kernel", "")), entry.value("dtype", ""), sized(entry.value("size", "")),
        sized(entry.value("tile_text", "")), number_text(number_in(entry, "tflops"))};
    if (kind == ProductKind::Mma)
      cells.insert(cells.end(), {share ? fmt::format("{:.1f} %", 100 * *share) : std::string(kNone),
                                 rival("ceiling")});
    cells.insert(cells.end(), {rival("cublas"),
                               of_cublas ? fmt::format("{:.3f}", *of_cublas) : std::string(kNone),
                               rival("triton"), whole_text(number_in(entry, "registers")),
                               whole_text(number_in(entry, "shared_bytes")),
                               number_text(number_in(entry, "best_tflops"))});
    out.add(cells);
  }
  return out.text();
}

std::string row_tables(const Json& result) {
  constexpr std::string_view kTitles[] = {
      "kernel",           "type",       "row",  ">TB/s", ">copy", ">of copy", ">Triton", ">PyTorch",
      ">`torch.compile`", ">registers", ">best"};
  constexpr std::string_view kOfAttention[] = {
      "kernel",          "type",   "batch×seq×heads×dim", ">TFLOP/s",
      ">PyTorch, flash", ">cuDNN", ">registers",          ">best"};
  Table kernels(kTitles), attention(kOfAttention);
  for (const Json& entry : result.value("rows", Json::array())) {
    const std::string kernel = code(entry.value("kernel", "")), type = entry.value("dtype", "");
    const std::string registers = whole_text(number_in(entry, "registers"));
    if (const auto rate = number_in(entry, "tbps")) {
      const std::string cells[] = {kernel,
                                   type,
                                   size_cell(entry),
                                   number_text(rate),
                                   rival_cell(entry, "copy", "tbps"),
                                   share_cell(entry),
                                   share_cell(entry, "triton"),
                                   share_cell(entry, "torch"),
                                   share_cell(entry, "compiled"),
                                   registers,
                                   number_text(number_in(entry, "best_tbps"))};
      kernels.add(cells);
    } else if (const auto operations = number_in(entry, "tflops")) {
      const std::string cells[] = {kernel,
                                   type,
                                   size_cell(entry),
                                   number_text(operations),
                                   rival_cell(entry, "flash", "tflops"),
                                   rival_cell(entry, "cudnn", "tflops"),
                                   registers,
                                   number_text(number_in(entry, "best_tflops"))};
      attention.add(cells);
    }
  }
  return kernels.text() + attention.text();
}

int rounds_of(const Json& result, const char* kind) {
  int out = 0;
  for (const Json& entry : result.value(kind, Json::array()))
    out = std::max(out, entry.value("rounds", 0));
  return out;
}

}  // namespace ww::bench
