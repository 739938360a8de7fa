// SPDX-License-Identifier: Apache-2.0
// The expressions of a text, read through a cursor. Used inside this folder only. Each function
// stands at the first token of what it reads and leaves the cursor behind it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "script/syntax/ast.h"
#include "script/syntax/lexer.h"
#include "script/syntax/literals.h"

namespace ww::script {

// --- the cursor ----------------------------------------------------------------------------------
//
// A place among the tokens of a text, and the tree that is being built. All parts of the parser
// share one. Used inside this folder only; programs call `parse_file` (script/syntax/parser.h).

/// Children of one node, collected while other nodes collect theirs: they pile up in `scratch` and
/// move to `pool`, side by side, when the list is complete. Lists end in reverse order of their
/// beginnings.
template <typename T>
class ListBuilder {
 public:
  ListBuilder(std::vector<T>& scratch, std::vector<T>& pool)
      : scratch_(scratch), pool_(pool), first_(scratch.size()) {}
  ListBuilder(const ListBuilder&) = delete;
  ListBuilder& operator=(const ListBuilder&) = delete;
  ~ListBuilder() { scratch_.resize(first_); }

  void add(T value) { scratch_.push_back(value); }
  [[nodiscard]] std::size_t size() const { return scratch_.size() - first_; }
  T& operator[](std::size_t i) { return scratch_[first_ + i]; }
  /// Of the pool.
  ListOf<T> finish() {
    const ListOf<T> range{static_cast<std::uint32_t>(pool_.size()),
                          static_cast<std::uint32_t>(size())};
    pool_.insert(pool_.end(), scratch_.begin() + static_cast<std::ptrdiff_t>(first_),
                 scratch_.end());
    return range;
  }

 private:
  std::vector<T>& scratch_;
  std::vector<T>& pool_;
  std::size_t first_;
};

inline Place place_of(const Token& token) { return {token.begin, token.end}; }

class ParseCursor {
 public:
  /// All of these must outlive the cursor.
  ParseCursor(std::string_view text, const TokenList& tokens, SymbolTable& symbols, Ast& ast);

  // --- tokens -----------------------------------------------------------------------------------
  [[nodiscard]] const Token& here() const { return *at_; }
  [[nodiscard]] TokenKind kind() const { return at_->kind; }
  [[nodiscard]] bool at(TokenKind kind) const { return at_->kind == kind; }
  /// A token further on; the last one when there are not as many.
  [[nodiscard]] const Token& ahead(std::size_t count) const {
    return at_[std::min(count, static_cast<std::size_t>(last_ - at_))];
  }
  /// A token before this one; the first one when there are not as many.
  [[nodiscard]] const Token& back(std::size_t count) const {
    return *(at_ - std::min(count, static_cast<std::size_t>(at_ - first_)));
  }
  /// The token here; moves to the next one, unless this is the last.
  Token take() {
    const Token token = *at_;
    if (!is_layout(token.kind)) last_end_ = token.end;
    if (at_ != last_) ++at_;
    return token;
  }
  bool accept(TokenKind kind) {
    if (!at(kind)) return false;
    take();
    return true;
  }
  [[nodiscard]] std::string_view text_of(const Token& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  [[nodiscard]] std::string_view text_between(std::uint32_t begin, std::uint32_t end) const {
    return text_.substr(begin, end - begin);
  }
  /// Whether the token here is a name with this text: a soft keyword.
  [[nodiscard]] bool at_word(std::string_view word) const {
    return at(TokenKind::Name) && text_of(here()) == word;
  }
  /// From a place to the end of the token taken last that has a text.
  [[nodiscard]] Place place_from(std::uint32_t begin) const { return {begin, last_end_}; }

  // --- errors -----------------------------------------------------------------------------------
  /// "found <the token here>, expected <wanted>", or what is wrong with the token itself.
  [[nodiscard]] Diag unexpected(std::string_view wanted) const;
  /// The same with a note about a bracket.
  [[nodiscard]] Diag unexpected_in(std::string_view wanted, const Token& opener) const;
  /// Takes a token, or fails because `wanted` was expected.
  Result<Token> expect(TokenKind kind, std::string_view wanted);
  /// Takes a name; `what` says of what, as in "a name".
  Result<Token> expect_name(std::string_view what);
  [[nodiscard]] std::string describe_here() const { return describe(here(), text_); }

  // --- the tree ---------------------------------------------------------------------------------
  Symbol intern(const Token& token) { return symbols_.intern(text_of(token)); }
  Symbol intern(std::string_view name) { return symbols_.intern(name); }
  std::uint32_t add_string(std::string text);
  /// TooLarge when the tree below the expression is too high.
  Result<ExprId> add(const Expr& expr);
  StmtId add(const Stmt& stmt);
  [[nodiscard]] Ast& ast() const { return ast_; }

  /// A list of the tree under construction; several may be open, one inside the other.
  template <typename T>
  ListBuilder<T> list() {
    return {std::get<std::vector<T>>(scratch_), ast_.pool<T>()};
  }

  // --- nesting ----------------------------------------------------------------------------------
  /// One level deeper while it lives.
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --depth_; }

   private:
    int& depth_;
  };
  /// TooLarge when one level more is too deep; call before making a Level.
  [[nodiscard]] Result<void> check_depth() const;
  [[nodiscard]] Level deeper() { return Level(depth_); }
  int open_blocks = 0;

 private:
  [[nodiscard]] unsigned height_below(const Expr& expr) const;

  std::string_view text_;
  const Token* first_;
  const Token* at_;
  const Token* last_;
  const Diag& error_;
  SymbolTable& symbols_;
  Ast& ast_;
  std::uint32_t last_end_ = 0;
  int depth_ = 0;
  std::vector<std::uint16_t> heights_;  // of the expressions

  std::tuple<std::vector<ExprId>, std::vector<StmtId>, std::vector<Op>, std::vector<Arg>,
             std::vector<Param>, std::vector<Clause>>
      scratch_;
};

// --- expressions ---------------------------------------------------------------------------------

/// What is done to a target.
enum class TargetUse : std::uint8_t { Assign, Delete };

/// Whether an expression, perhaps starred, can begin with such a token.
bool begins_expression(TokenKind kind);

/// `a`, `a if b else c`, `lambda: a`.
Result<ExprId> parse_expr(ParseCursor& cursor);
/// The same, or `name := a`.
Result<ExprId> parse_named_expr(ParseCursor& cursor);
/// One expression, or a tuple without parentheses, whose items may be starred.
Result<ExprId> parse_exprs(ParseCursor& cursor);
/// The same, or `yield`.
Result<ExprId> parse_value(ParseCursor& cursor);
/// What may stand before the `in` of a loop: targets that are not checked yet.
Result<ExprId> parse_loop_target(ParseCursor& cursor);
/// One of them, or what may stand behind the `as` of a `with`.
Result<ExprId> parse_loop_target_item(ParseCursor& cursor);
/// `*a`, with the star.
Result<ExprId> parse_starred(ParseCursor& cursor);
/// The error for one that stands where nothing takes its items.
[[nodiscard]] Diag lone_star(const ParseCursor& cursor, ExprId starred);

/// The arguments of a call up to and with `)`; `opener` is the `(` taken before.
Result<ListOf<Arg>> parse_arguments(ParseCursor& cursor, const Token& opener);
/// Parameters up to `closer`, which stays: `)` of a function, where annotations may stand, or `:`
/// of a lambda.
Result<ListOf<Param>> parse_parameters(ParseCursor& cursor, TokenKind closer);

/// Syntax unless the expression can be assigned to, or deleted.
Result<void> check_target(ParseCursor& cursor, ExprId target, TargetUse use);
/// A kind of expression in a few words: "a call".
[[nodiscard]] std::string describe_expr(const ParseCursor& cursor, ExprId id);

}  // namespace ww::script
