// SPDX-License-Identifier: Apache-2.0
// textDocument/definition: where a name is bound, across the modules of the user that a file
// imports. Modules are looked for beside the file, then in the folders of the workspace.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/split.h"
#include "lsp/cursor.h"
#include "lsp/features.h"
#include "lsp/names.h"
#include "script/syntax/parser.h"

namespace ww::lsp {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxImports = 16;  // from file to file

struct Found {
  std::string path;
  std::shared_ptr<const Text> text;
  Span span;
};

std::shared_ptr<const Syntax> parsed(std::shared_ptr<const Text> text) {
  auto out = std::make_shared<Syntax>();
  auto ast = script::parse_file(text->bytes(), out->symbols);
  if (!ast) return nullptr;
  out->ast = *std::move(ast);
  out->text = std::move(text);
  return out;
}

class Finder {
 public:
  Finder(const ClientFeatures& client, const ReadText& read) : client_(client), read_(read) {}

  // The binding of a path ("build", "tiles.build") in a file.
  std::optional<Found> resolve(const std::string& file, const Syntax& syntax,
                               const std::optional<Binding>& binding, std::string_view rest,
                               int depth = 0) {
    if (!binding || depth > kMaxImports) return std::nullopt;
    if (binding->kind != Binding::Kind::Import)
      return rest.empty() ? std::optional(Found{file, syntax.text, binding->span}) : std::nullopt;
    if (binding->module.empty()) return in_module(file, import_path(*binding, rest), rest, depth);
    // `from pkg import tiles` is a module, `from tiles import build` a name of one.
    if (auto found = in_module(file, binding->module + "." + binding->imported, rest, depth))
      return found;
    const std::string inside =
        rest.empty() ? binding->imported : fmt::format("{}.{}", binding->imported, rest);
    return in_module(file, binding->module, inside, depth);
  }

 private:
  // `import a.b` binds `a`, and `a.b.build` is `build` of the module `a.b`.
  static std::string import_path(const Binding& binding, std::string_view& rest) {
    if (binding.name != binding.imported.substr(0, binding.imported.find('.')))
      return binding.imported;
    std::string out = binding.name;
    while (out.size() < binding.imported.size()) {
      const std::string_view word = rest.substr(0, rest.find('.'));
      const std::string longer = fmt::format("{}.{}", out, word);
      if (word.empty() || !(binding.imported + ".").starts_with(longer + ".")) break;
      out = longer;
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    return out;
  }

  // A name of a module, or its begin for none.
  std::optional<Found> in_module(const std::string& file, const std::string& module,
                                 std::string_view rest, int depth) {
    const std::string path = path_of_module(file, module);
    const auto text = path.empty() ? nullptr : read_(path);
    if (text == nullptr) return std::nullopt;
    if (rest.empty()) return Found{path, text, Span::at(0, 0)};
    const auto syntax = parsed(text);
    if (syntax == nullptr) return std::nullopt;
    const std::string_view first = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(rest.size(), first.size() + 1));
    return resolve(path, *syntax, binding_in_file(*syntax, first), rest, depth + 1);
  }

  [[nodiscard]] std::string path_of_module(const std::string& file, std::string_view module) const {
    std::vector<fs::path> folders = {fs::path(file).parent_path()};
    std::size_t dots = 0;
    while (dots < module.size() && module[dots] == '.') ++dots;
    module.remove_prefix(dots);
    for (std::size_t i = 1; i < dots; ++i) folders[0] = folders[0].parent_path();
    if (dots == 0) folders.insert(folders.end(), client_.folders.begin(), client_.folders.end());
    for (fs::path path : folders) {
      for (const std::string_view word : split_words(module, '.')) path /= std::string(word);
      std::error_code ignored;
      if (const fs::path plain = path.string() + ".py"; fs::is_regular_file(plain, ignored))
        return plain.string();
      if (const fs::path package = path / "__init__.py"; fs::is_regular_file(package, ignored))
        return package.string();
    }
    return "";
  }

  const ClientFeatures& client_;
  const ReadText& read_;
};

}  // namespace

Json definition(const Question& about, std::size_t offset, const ReadText& read) {
  const Analysis& analysis = about.analysis;
  const auto name = name_at(analysis.text->bytes(), offset);
  if (!name || analysis.syntax == nullptr || analysis.syntax->text != analysis.text) return nullptr;
  const std::string_view path = name->path;
  const std::string_view first = path.substr(0, path.find('.'));
  const std::string_view rest = path.substr(std::min(path.size(), first.size() + 1));
  Finder finder(about.client, read);
  const auto found = finder.resolve(analysis.path, *analysis.syntax,
                                    binding_of(*analysis.syntax, first, offset), rest);
  if (!found) return nullptr;
  const bool is_here = found->path == analysis.path;
  return {{"uri", is_here ? about.uri : uri_of(found->path)},
          {"range", range_json(*found->text, found->span, about.client.encoding)}};
}

}  // namespace ww::lsp
