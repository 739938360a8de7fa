// SPDX-License-Identifier: Apache-2.0
// From source text to a syntax tree (script/syntax/ast.h). The grammar is Python 3.11's, statements
// that kernels never need included, because a kernel's own test file must parse as it is.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "script/syntax/ast.h"

namespace ww::script {

/// No source text is larger, and no expression or block nested deeper.
inline constexpr std::size_t kMaxSourceBytes = std::size_t{16} << 20;
inline constexpr int kMaxNesting = 200;

/// Parses a whole file. The first error ends it: Syntax with the place, what was found and what was
/// expected; TooLarge for a text or a nesting beyond the limits.
Result<Ast> parse_file(std::string_view text, SymbolTable& symbols);

/// Parses one expression, as `--kernel` takes it; blanks around it are allowed.
Result<Ast> parse_expression(std::string_view text, SymbolTable& symbols, ExprId& root);

}  // namespace ww::script
