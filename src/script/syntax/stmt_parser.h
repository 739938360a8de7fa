// SPDX-License-Identifier: Apache-2.0
// The statements of a text, read through a cursor. Used inside this folder only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "script/syntax/expr_parser.h"
#include "script/syntax/parse_cursor.h"

namespace ww::script {

/// An `if` has no more `elif` than this. Each is a statement inside the one before it.
inline constexpr int kMaxElifs = 1000;

class StmtParser {
 public:
  explicit StmtParser(ParseCursor& cursor) : cursor_(cursor), exprs_(cursor) {}

  /// All statements up to the end of the text.
  Result<ListOf<StmtId>> file();

 private:
  using List = ListBuilder<StmtId>;

  // stmt_parser.cpp: statements on one line
  Result<void> statement(List& out);
  Result<void> line(List& out);
  [[nodiscard]] Diag no_line_end(const Token& first) const;
  Result<StmtId> small();
  Result<StmtId> expression_or_assignment();
  Result<StmtId> assignment(std::uint32_t begin, ExprId first);
  Result<StmtId> augmented(std::uint32_t begin, ExprId target);
  Result<StmtId> annotated(std::uint32_t begin, ExprId target);
  Result<void> check_single_target(ExprId target, std::string_view use);
  Result<StmtId> return_();
  Result<StmtId> assert_();
  Result<StmtId> raise();
  Result<StmtId> delete_();
  Result<StmtId> names(StmtKind kind);
  Result<StmtId> import();
  Result<StmtId> import_from();
  Result<void> imported_names();
  Result<void> imported_name();
  Result<std::string> dotted_name();
  StmtId finish(Stmt stmt, std::uint32_t begin);

  // block_parser.cpp: statements with blocks
  Result<StmtId> compound();
  Result<StmtId> if_();
  Result<Stmt> if_branch();
  Result<StmtId> while_();
  Result<StmtId> for_();
  Result<StmtId> try_();
  Result<void> handler(List& out);
  Result<StmtId> with();
  Result<void> with_items(TokenKind end);
  [[nodiscard]] bool at_grouped_items() const;
  Result<StmtId> decorated();
  Result<StmtId> function(std::uint32_t begin, ListOf<ExprId> decorators);
  Result<StmtId> class_(std::uint32_t begin, ListOf<ExprId> decorators);
  Result<void> block(const Token& word, List& out);
  [[nodiscard]] Diag no_colon(const Token& word) const;
  Result<ListOf<StmtId>> block_of(const Token& word);
  Result<ListOf<StmtId>> else_block();
  StmtId finish_block(Stmt stmt, std::uint32_t begin);

  [[nodiscard]] bool at_match() const;
  [[nodiscard]] bool at_type() const;
  Result<StmtId> async(std::uint32_t begin);
  Result<StmtId> unsupported(std::uint32_t begin, const Token& word);
  Result<void> skip_line();
  Result<void> skip_block();

  ParseCursor& cursor_;
  ExprParser exprs_;
  int blocks_ = 0;  // that are open
};

}  // namespace ww::script
