// SPDX-License-Identifier: Apache-2.0
// textDocument/completion: names of the language with their lines of the reference, keywords of a
// call, the texts that a setting takes, names that the place sees.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "lsp/cursor.h"
#include "lsp/features.h"
#include "lsp/names.h"

namespace ww::lsp {
namespace {

// The numbers of CompletionItemKind.
enum class ItemKind : std::uint8_t {
  Function = 3,
  Variable = 6,
  Class = 7,
  Module = 9,
  Property = 10,
  Value = 12,
  Keyword = 14,
};

class Items {
 public:
  explicit Items(std::string_view word) : word_(word) {}

  void add(const std::string& label, ItemKind kind, const std::string& detail = {},
           const std::string& about = {}) {
    if (!label.starts_with(word_) || !known_.insert(label).second) return;
    Json item = {{"label", label}, {"kind", std::to_underlying(kind)}};
    if (!detail.empty()) item["detail"] = detail;
    if (!about.empty()) item["documentation"] = about;
    items_.push_back(std::move(item));
  }
  void add(const ApiName& api) {
    add(api.name, api.is_function ? ItemKind::Function : ItemKind::Property, api.signature,
        api.about);
  }
  [[nodiscard]] Json json() && { return {{"isIncomplete", false}, {"items", std::move(items_)}}; }

 private:
  std::string_view word_;
  std::set<std::string> known_;
  Json items_ = Json::array();
};

ItemKind kind_of(const Binding& binding) {
  switch (binding.kind) {
    case Binding::Kind::Function:
      return ItemKind::Function;
    case Binding::Kind::Class:
      return ItemKind::Class;
    case Binding::Kind::Import:
      return ItemKind::Module;
    case Binding::Kind::Variable:
    case Binding::Kind::Parameter:
      break;
  }
  return ItemKind::Variable;
}

// The parameter that an argument is for.
std::string parameter_of(const std::optional<ApiName>& api, const Typing::Call& call) {
  if (!call.keyword.empty()) return call.keyword;
  return api && call.argument < api->parameters.size() ? api->parameters[call.argument] : "";
}

void add_values(Items& out, const Question& about, const Typing::Call& call) {
  const std::string path = reference_path(about.analysis, call.callee);
  for (const std::string& value : values_of(path, parameter_of(find_api(path), call)))
    out.add(value, ItemKind::Value);
}

void add_keywords(Items& out, const Question& about, const Typing::Call& call) {
  const auto api = find_api(reference_path(about.analysis, call.callee));
  if (!api || !call.keyword.empty()) return;
  for (const auto* names : {&api->parameters, &api->keywords})
    for (const std::string& name : *names) out.add(name + "=", ItemKind::Keyword, api->signature);
}

void add_members(Items& out, const Question& about, std::string_view path) {
  const std::string full = reference_path(about.analysis, path);
  for (const std::string& space : api_namespaces(full)) out.add(space, ItemKind::Module);
  for (const ApiName& each : api_members(full)) out.add(each);
}

}  // namespace

Json completion(const Question& about, const Text& text, std::size_t offset) {
  const Typing typing = typing_at(std::string_view(text.bytes()).substr(0, offset));
  Items out(typing.word);
  if (typing.in_comment) return std::move(out).json();
  if (typing.in_string) {
    if (typing.call) add_values(out, about, *typing.call);
    return std::move(out).json();
  }
  if (!typing.path.empty()) {
    add_members(out, about, typing.path);
    return std::move(out).json();
  }
  if (typing.call) add_keywords(out, about, *typing.call);
  if (about.analysis.syntax != nullptr)
    for (const Binding& each : visible_at(*about.analysis.syntax, offset))
      out.add(each.name, kind_of(each), each.name + each.parameters);
  for (const ApiName& each : api_members(""))
    if (each.about == "Host Python") out.add(each);
  return std::move(out).json();
}

// --- signatures ----------------------------------------------------------------------------------
//
// textDocument/signatureHelp: the parameters of the call that is open at a place.

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
