// SPDX-License-Identifier: Apache-2.0
// Amounts of the layout notation: affine expressions that may carry axes. `16*k@m + 2@warpid` is one
// amount with two axes. Used by text.cpp only, which reads layouts from the same tokens.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "layout/text.h"
#include "layout/text_lexer.h"

namespace ww::layout {

/// The part without an axis, and the parts on axes.
struct Amount {
  Expr plain;
  std::vector<std::pair<Axis, Expr>> on_axes;
  Span span;

  [[nodiscard]] bool is_integer() const { return on_axes.empty() && plain.is_constant(); }
};

/// The same result; an error points at `span`.
template <typename T>
Result<T> located(Result<T> result, Span span) {
  if (!result) return fail(std::move(result.error()).with_span(span));
  return result;
}

/// A place in a list of tokens, and what reads amounts from there. Every function that fails says what it
/// found and what it expected.
class AmountReader {
 public:
  /// `tokens`: from lex_notation. `names` must outlive the reader.
  AmountReader(const Names& names, std::vector<Token> tokens)
      : names_(names), tokens_(std::move(tokens)) {}

  /// product (('+'|'-') product)*
  Result<Amount> sum_of_amounts();
  /// factor (('*'|'//'|'%') factor | '@' axis)*
  Result<Amount> product();
  /// The axis that a name or string means, declared or built in.
  Result<Axis> axis(const Token& token);
  /// Fails unless all tokens are read.
  [[nodiscard]] Result<void> expect_end() const;

 protected:
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  [[nodiscard]] bool is(std::string_view punct, std::size_t ahead = 0) const {
    const Token& token = peek(ahead);
    return token.kind == TokenKind::Punct &&
           token.text.front() == punct.front();  // `//` is the only `/`
  }
  Token take() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  void skip(std::size_t count = 1) { at_ += count; }
  void step_back() { --at_; }
  bool accept(std::string_view punct) {
    if (!is(punct)) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] auto unexpected(std::string_view wanted) const {
    return fail(diag(DiagKind::Syntax, "found {}, expected {}", describe(peek()), wanted)
                    .with_span(peek().span));
  }
  Result<void> expect(std::string_view punct, std::string_view where);
  /// The text from `begin` to the last token read.
  [[nodiscard]] Span since(std::size_t begin) const;
  /// One level deeper in the grammar, or an error when that is too deep.
  Result<void> enter();
  void leave() { --depth_; }

 private:
  Result<void> put_on_axis(Amount& amount);
  Result<Amount> factor();
  Result<Amount> symbol();

  const Names& names_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace ww::layout
