// SPDX-License-Identifier: Apache-2.0
// textDocument/codeLens and textDocument/documentSymbol: the kernels of a file.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/join.h"
#include "base/split.h"
#include "driver/explain.h"
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

// --- inlay hints ---------------------------------------------------------------------------------
//
// textDocument/inlayHint: behind each primitive what it became.

namespace {

constexpr std::size_t kMaxShownInstructions = 2;
constexpr std::size_t kMaxShownPlans = 2;  // of one line that is lowered in several ways

// What every instruction of its kind has, or what the operands show: types, shapes of rows.
bool is_left_out(std::string_view word) {
  constexpr std::string_view kWords[] = {"sync", "aligned", "m8n8",   "row",  "col",
                                         "cta",  "shared",  "global", "tile", "rn"};
  if (std::ranges::find(kWords, word) != std::end(kWords)) return true;
  const bool has_type =
      word.size() >= 2 && std::string_view("bfsu").find(word[0]) != std::string_view::npos;
  return has_type &&
         std::ranges::all_of(word.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

std::string conflicts_text(const lower::Wavefronts& wavefronts) {
  if (wavefronts.conflicts() == 0) return "no conflicts";
  return fmt::format("{} wavefronts, {} at best", wavefronts.needed, wavefronts.ideal);
}

std::string hint_text(const lower::CallReport& call) {
  if (call.chosen.empty()) return "nothing takes this call";
  std::vector<std::string> parts;
  const auto& instructions = call.plan.instructions;
  for (std::size_t i = 0; i < std::min(instructions.size(), kMaxShownInstructions); ++i)
    parts.push_back(
        fmt::format("{} × {}", short_opcode(instructions[i].opcode), instructions[i].per_thread));
  if (instructions.size() > kMaxShownInstructions) parts.emplace_back("…");
  if (parts.empty()) parts.push_back(call.plan.summary);
  if (call.plan.wavefronts) parts.push_back(conflicts_text(*call.plan.wavefronts));
  return join(parts, ", ");
}

struct Hint {
  std::vector<std::string> texts;
  std::string tooltip;
};

}  // namespace

std::string short_opcode(std::string_view opcode) {
  std::string out;
  bool is_first = true;
  for (const std::string_view word : split_words(opcode, '.')) {
    if (!std::exchange(is_first, false)) {
      // `ld.shared` says which memory; `ldmatrix` and `cp.async` have no other.
      const bool is_memory = (word == "shared" || word == "global") &&
                             (out == "ld" || out == "st" || out == "red" || out == "atom");
      if (is_left_out(word) && !is_memory) continue;
      out += '.';
    }
    out += word;
  }
  return out;
}

Json inlay_hints(const Question& about, Span range) {
  std::map<std::size_t, Hint> hints;  // by their place
  for (const KernelAnalysis& kernel : about.analysis.kernels)
    for (const lower::CallReport& call : kernel.build.report.calls) {
      const auto at = place_in_document(kernel, call.span);
      if (!at || at->end < range.begin || at->end > range.end) continue;
      Hint& hint = hints[at->end];
      std::string text = hint_text(call);
      if (std::ranges::find(hint.texts, text) != hint.texts.end()) continue;
      hint.texts.push_back(std::move(text));
      hint.tooltip +=
          (hint.tooltip.empty() ? "" : "\n") + call.name + "\n" + driver::call_text(call);
    }
  Json out = Json::array();
  for (const auto& [at, hint] : hints) {
    std::vector<std::string> shown(
        hint.texts.begin(), hint.texts.begin() + static_cast<std::ptrdiff_t>(
                                                     std::min(hint.texts.size(), kMaxShownPlans)));
    if (hint.texts.size() > kMaxShownPlans)
      shown.push_back(fmt::format("{} more", hint.texts.size() - kMaxShownPlans));
    out.push_back(
        {{"position", position_json(about.analysis.text->position(at, about.client.encoding))},
         {"label", join(shown, " | ")},
         {"tooltip", hint.tooltip},
         {"paddingLeft", true}});
  }
  return out;
}

}  // namespace ww::lsp
