// SPDX-License-Identifier: Apache-2.0
#include "script/syntax/parser.h"

#include <utility>

#include "script/syntax/lexer.h"
#include "script/syntax/parse_cursor.h"
#include "script/syntax/stmt_parser.h"

namespace ww::script {
namespace {

Result<void> check_size(std::string_view text) {
  if (text.size() > kMaxSourceBytes)
    return fail(DiagKind::TooLarge, "the text has {} bytes, more than the {} that are read",
                text.size(), kMaxSourceBytes);
  return {};
}

}  // namespace

Result<Ast> parse_file(std::string_view text, SymbolTable& symbols) {
  WW_TRY_VOID(check_size(text));
  const TokenList tokens = tokenize(text, Layout::Lines);
  Ast ast;
  ParseCursor cursor(text, tokens, symbols, ast);
  ast.body = WW_TRY(parse_statements(cursor));
  return ast;
}

Result<Ast> parse_expression(std::string_view text, SymbolTable& symbols, ExprId& root) {
  WW_TRY_VOID(check_size(text));
  const TokenList tokens = tokenize(text, Layout::Free);
  Ast ast;
  ParseCursor cursor(text, tokens, symbols, ast);
  root = WW_TRY(parse_exprs(cursor));
  if (!cursor.at(TokenKind::End))
    return fail(cursor.unexpected("an operator or the end of the text"));
  return ast;
}

}  // namespace ww::script
