// SPDX-License-Identifier: Apache-2.0
// textDocument/completion: names of the language with their lines of the reference, keywords of a
// call, the texts that a setting takes, names that the place sees.
#include <fmt/format.h>

#include <algorithm>
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

}  // namespace ww::lsp
