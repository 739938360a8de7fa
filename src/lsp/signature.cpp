// SPDX-License-Identifier: Apache-2.0
// textDocument/signatureHelp: the parameters of the call that is open at a place.
#include <algorithm>
#include <optional>

#include "lsp/cursor.h"
#include "lsp/features.h"
#include "lsp/names.h"

namespace ww::lsp {
namespace {

// The parameters of "(num, direction=\"ld\", *, tile=(8, 8))", as they are written.
std::vector<std::string> written_parameters(std::string_view text) {
  std::vector<std::string> out;
  int depth = 0;
  std::string part;
  const auto end_part = [&] {
    while (part.starts_with(' ')) part.erase(0, 1);
    if (!part.empty()) out.push_back(part);
    part.clear();
  };
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{') {
      if (++depth == 1) continue;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth == 0) break;
    } else if (c == ',' && depth == 1) {
      end_part();
      continue;
    }
    if (depth >= 1) part += c;
  }
  end_part();
  return out;
}

std::string name_of_parameter(std::string_view text) {
  while (text.starts_with('*')) text.remove_prefix(1);
  return std::string(text.substr(0, text.find_first_of("=: ")));
}

struct Signature {
  std::string label;
  std::string about;
  std::vector<std::string> names;   // of the parameters
  std::vector<std::string> labels;  // parts of the label
};

std::optional<Signature> signature_of_call(const Question& about, std::string_view callee,
                                           std::size_t offset) {
  if (const auto api = find_api(reference_path(about.analysis, callee)))
    return Signature{api->signature, api->about, api->parameters, api->parameters};
  if (about.analysis.syntax == nullptr) return std::nullopt;
  const auto binding = binding_of(*about.analysis.syntax, callee, offset);
  if (!binding || binding->kind != Binding::Kind::Function) return std::nullopt;
  Signature out{
      .label = binding->name + binding->parameters, .about = {}, .names = {}, .labels = {}};
  out.labels = written_parameters(binding->parameters);
  for (const std::string& each : out.labels) out.names.push_back(name_of_parameter(each));
  return out;
}

}  // namespace

Json signature_help(const Question& about, const Text& text, std::size_t offset) {
  const Typing typing = typing_at(std::string_view(text.bytes()).substr(0, offset));
  if (typing.in_comment || !typing.call) return nullptr;
  const auto found = signature_of_call(about, typing.call->callee, offset);
  if (!found) return nullptr;
  std::size_t active = typing.call->argument;
  if (!typing.call->keyword.empty())
    active = static_cast<std::size_t>(std::ranges::find(found->names, typing.call->keyword) -
                                      found->names.begin());
  Json parameters = Json::array();
  for (const std::string& each : found->labels) parameters.push_back({{"label", each}});
  Json signature = {{"label", found->label}, {"parameters", std::move(parameters)}};
  if (!found->about.empty()) signature["documentation"] = found->about;
  return {{"signatures", Json::array({std::move(signature)})},
          {"activeSignature", 0},
          {"activeParameter", active}};
}

}  // namespace ww::lsp
