// SPDX-License-Identifier: Apache-2.0
#include "script/imported_modules.h"

#include <algorithm>

#include "base/ascii.h"
#include "script/interp/imports.h"
#include "script/syntax/parser.h"

namespace ww::script {
namespace {

constexpr std::string_view kBlank = " \t";
constexpr std::string_view kImport = "import";

/// Whether an import of this module can name a file of the folder.
bool may_be_beside(std::string_view module) {
  return !module.empty() && module.find('.') == std::string_view::npos && !known_module(module);
}

/// The words of a line's part that has nothing but words with dots and blanks; none where it has more.
std::vector<std::string_view> plain_words(std::string_view part) {
  const auto is_plain = [](char c) { return is_name_char(c) || c == '.' || kBlank.contains(c); };
  std::vector<std::string_view> out;
  if (!std::ranges::all_of(part, is_plain)) return out;
  for (std::size_t at = part.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const std::size_t end = std::min(part.find_first_of(kBlank, at), part.size());
    out.push_back(part.substr(at, end - at));
    at = part.find_first_not_of(kBlank, end);
  }
  return out;
}

/// Whether the word `import` between these parts of a line is that of a statement `from MODULE import ...` or
/// `import MODULE`, by itself in the line, of a module that is in no file of the folder.
bool is_of_the_language(std::string_view before, std::string_view after) {
  const auto head = plain_words(before);
  if (head.size() == 2 && head[0] == "from") return !may_be_beside(head[1]);
  const auto tail = plain_words(after);
  return before.find_first_not_of(kBlank) == std::string_view::npos && !tail.empty() &&
         !may_be_beside(tail[0]);
}

/// Whether a look at the lines with the word `import` shows that there is nothing to find. Most files import
/// what the language has, a statement in a line; to parse them for this would take as long as to compile them.
bool imports_only_the_language(std::string_view text) {
  for (std::size_t at = text.find(kImport); at != std::string_view::npos;) {
    const std::size_t begin = text.find_last_of('\n', at) + 1;  // npos + 1: the first line
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t behind = at + kImport.size();
    const bool is_word = (at == 0 || !is_name_char(text[at - 1])) &&
                         (behind == text.size() || !is_name_char(text[behind]));
    if (is_word &&
        !is_of_the_language(text.substr(begin, at - begin), text.substr(behind, end - behind)))
      return false;
    at = text.find(kImport, behind);
  }
  return true;
}

}  // namespace

std::vector<std::string> imported_modules(std::string_view text) {
  std::vector<std::string> out;
  if (imports_only_the_language(text)) return out;
  SymbolTable symbols;
  const Result<Ast> ast = parse_file(text, symbols);
  if (!ast) return out;
  const auto add = [&](const std::string& module) {
    if (may_be_beside(module) && std::ranges::find(out, module) == out.end()) out.push_back(module);
  };
  for (const Stmt& s : ast->stmts) {
    if (s.kind == StmtKind::ImportFrom) add(ast->strings[s.module]);
    if (s.kind == StmtKind::Import)
      for (const Import& import : ast->list(s.imports)) add(import.path);
  }
  return out;
}

}  // namespace ww::script
