// SPDX-License-Identifier: Apache-2.0
// textDocument/codeLens and textDocument/documentSymbol: the kernels of a file.
#include <fmt/format.h>

#include <algorithm>

#include "lsp/features.h"

namespace ww::lsp {
namespace {

// The numbers of SymbolKind.
constexpr int kFunctionSymbol = 12;
constexpr int kMethodSymbol = 6;

Json lens_json(const Question& about, const KernelChoice& choice, std::string_view title,
               std::string_view command) {
  return {{"range", about.range(choice.at)},
          {"command",
           {{"title", title},
            {"command", command},
            {"arguments", Json::array({about.uri, choice.expression})}}}};
}

bool is_alone_at(const Analysis& analysis, const KernelChoice& choice) {
  return std::ranges::count_if(analysis.kernels, [&](const KernelAnalysis& each) {
           return each.choice.at == choice.at;
         }) == 1;
}

}  // namespace

Json code_lenses(const Question& about) {
  Json out = Json::array();
  for (const KernelAnalysis& each : about.analysis.kernels) {
    const KernelChoice& choice = each.choice;
    const std::string what =
        is_alone_at(about.analysis, choice) ? "" : fmt::format(" {}", choice.expression);
    out.push_back(
        lens_json(about, choice, fmt::format("run{} on the virtual GPU", what), kRunCommand));
    out.push_back(
        lens_json(about, choice, fmt::format("open{} in the explorer", what), kExploreCommand));
  }
  return out;
}

Json document_symbols(const Question& about) {
  Json out = Json::array();
  const Analysis& analysis = about.analysis;
  if (analysis.syntax == nullptr || analysis.syntax->text != analysis.text) return out;
  for (const script::Candidate& each : analysis.syntax->candidates)
    out.push_back(
        {{"name", each.name},
         {"detail", fmt::format("{}{}", each.is_builder ? "builder " : "kernel ", each.parameters)},
         {"kind", each.name.find('.') == std::string::npos ? kFunctionSymbol : kMethodSymbol},
         {"range", about.range(each.span)},
         {"selectionRange", about.range(each.name_span)}});
  return out;
}

}  // namespace ww::lsp
