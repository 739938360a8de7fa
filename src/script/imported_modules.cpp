// SPDX-License-Identifier: Apache-2.0
#include "script/imported_modules.h"

#include <algorithm>

#include "script/interp/imports.h"
#include "script/syntax/parser.h"

namespace ww::script {

std::vector<std::string> imported_modules(std::string_view text) {
  SymbolTable symbols;
  const Result<Ast> ast = parse_file(text, symbols);
  std::vector<std::string> out;
  if (!ast) return out;
  const auto add = [&](const std::string& module) {
    const bool is_plain = !module.empty() && module.find('.') == std::string::npos;
    if (is_plain && !known_module(module) && std::ranges::find(out, module) == out.end())
      out.push_back(module);
  };
  for (const Stmt& s : ast->stmts) {
    if (s.kind == StmtKind::ImportFrom) add(ast->strings[s.module]);
    if (s.kind == StmtKind::Import)
      for (const Import& import : ast->list(s.imports)) add(import.path);
  }
  return out;
}

}  // namespace ww::script
