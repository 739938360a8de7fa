// SPDX-License-Identifier: Apache-2.0
#include "lsp/cursor.h"

#include <algorithm>
#include <vector>

#include "script/syntax/lexer.h"

namespace ww::lsp {
namespace {

using script::Token;
using script::TokenKind;
using script::TokenList;

std::string_view token_text(std::string_view text, const Token& token) {
  return text.substr(token.begin, token.end - token.begin);
}

// The dotted name that ends with token `last`: the first token of it. A name that hangs off
// something else than names, as in `f(x).y`, has no such path: nothing.
std::optional<std::size_t> first_of_path(const std::vector<Token>& tokens, std::size_t last) {
  std::size_t first = last;
  while (first >= 2 && tokens[first - 1].kind == TokenKind::Dot) {
    if (tokens[first - 2].kind != TokenKind::Name) return std::nullopt;
    first -= 2;
  }
  if (first >= 1 && tokens[first - 1].kind == TokenKind::Dot) return std::nullopt;
  return first;
}

std::string path_text(std::string_view text, const std::vector<Token>& tokens, std::size_t first,
                      std::size_t last) {
  std::string out;
  for (std::size_t i = first; i <= last; ++i) out += token_text(text, tokens[i]);
  return out;
}

// --- the end of a text ---------------------------------------------------------------------------

struct Tail {
  std::vector<Token> tokens;
  bool in_string = false;
  std::string word = {};  // of the string
};

// A string that is not closed: nothing of it is a token, and it begins behind the last one.
void cut_error(Tail& tail, std::string_view text) {
  const bool is_error = tail.tokens.back().kind == TokenKind::Error;
  tail.tokens.pop_back();
  if (!is_error) return;
  constexpr std::size_t kMaxPrefix = 2;  // `rb"`
  std::string_view rest = text.substr(tail.tokens.empty() ? 0 : tail.tokens.back().end);
  const std::size_t begin = rest.find_first_not_of(" \t\r\n\\");
  if (begin == std::string_view::npos) return;
  rest.remove_prefix(begin);
  const std::size_t quote = rest.find_first_of("'\"");
  if (quote == std::string_view::npos || quote > kMaxPrefix) return;
  tail.in_string = true;
  tail.word = rest.substr(quote + 1);
}

Tail tail_of(std::string_view text) {
  Tail out{.tokens = script::tokenize(text, script::Layout::Free).tokens};
  cut_error(out, text);
  return out;
}

bool opens(TokenKind kind) {
  return kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace;
}
bool closes(TokenKind kind) {
  return kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace;
}

// The innermost parenthesis of a call that is open at the end; brackets inside it are passed over.
std::optional<Typing::Call> open_call(std::string_view text, const std::vector<Token>& tokens) {
  Typing::Call out;
  int depth = 0;
  std::size_t argument_begin = tokens.size();
  for (std::size_t i = tokens.size(); i-- > 0;) {
    const TokenKind kind = tokens[i].kind;
    if (closes(kind)) ++depth;
    if (opens(kind) && depth > 0) {
      --depth;
      continue;
    }
    if (depth > 0) continue;
    if (kind == TokenKind::Comma) {
      if (out.argument++ == 0) argument_begin = i + 1;
      continue;
    }
    if (!opens(kind)) continue;
    const bool is_call =
        kind == TokenKind::LParen && i > 0 && tokens[i - 1].kind == TokenKind::Name;
    if (!is_call) {  // an index or a tuple: the call around it counts, with this in one argument
      out.argument = 0;
      argument_begin = i;
      continue;
    }
    const auto first = first_of_path(tokens, i - 1);
    if (!first) return std::nullopt;
    if (out.argument == 0) argument_begin = i + 1;
    out.callee = path_text(text, tokens, *first, i - 1);
    const bool is_named = argument_begin + 1 < tokens.size() &&
                          tokens[argument_begin].kind == TokenKind::Name &&
                          tokens[argument_begin + 1].kind == TokenKind::Assign;
    if (is_named) out.keyword = token_text(text, tokens[argument_begin]);
    return out;
  }
  return std::nullopt;
}

// What the last token, a dot, hangs off; "?" for something that has no name.
std::string path_before_dot(std::string_view text, const std::vector<Token>& tokens) {
  if (tokens.size() < 2 || tokens[tokens.size() - 2].kind != TokenKind::Name) return "?";
  const auto first = first_of_path(tokens, tokens.size() - 2);
  return first ? path_text(text, tokens, *first, tokens.size() - 2) : "?";
}

bool is_in_comment(std::string_view text, const std::vector<Token>& tokens) {
  const std::size_t end = tokens.empty() ? 0 : tokens.back().end;
  const std::string_view rest = text.substr(std::min(end, text.size()));
  const std::size_t hash = rest.rfind('#');
  return hash != std::string_view::npos && rest.find('\n', hash) == std::string_view::npos;
}

}  // namespace

std::optional<NameAt> name_at(std::string_view text, std::size_t offset) {
  const TokenList list = script::tokenize(text, script::Layout::Free);
  const std::vector<Token>& tokens = list.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::Name || tokens[i].begin > offset || tokens[i].end < offset)
      continue;
    const auto first = first_of_path(tokens, i);
    if (!first) return std::nullopt;
    return NameAt{path_text(text, tokens, *first, i), tokens[i].span(),
                  Span::at(tokens[*first].begin, tokens[i].end)};
  }
  return std::nullopt;
}

Typing typing_at(std::string_view text_before) {
  std::string_view text = text_before;
  Tail tail = tail_of(text);
  // Something earlier is no Python: the line itself is all that counts.
  const std::size_t line = text.rfind('\n') + 1;
  const std::size_t read = tail.tokens.empty() ? 0 : tail.tokens.back().end;
  if (tail.in_string && text.size() - tail.word.size() < line) {
    text.remove_prefix(line);
    tail = tail_of(text);
  } else if (!tail.in_string && read < line && !is_in_comment(text, tail.tokens) &&
             text.substr(read).find_first_not_of(" \t\r\n") != std::string_view::npos) {
    text.remove_prefix(line);
    tail = tail_of(text);
  }
  Typing out{.in_string = tail.in_string, .path = {}, .word = tail.word};
  out.in_comment = !tail.in_string && is_in_comment(text, tail.tokens);
  if (out.in_comment) return out;
  std::vector<Token>& tokens = tail.tokens;
  if (!tail.in_string && !tokens.empty() && tokens.back().kind == TokenKind::Name &&
      tokens.back().end == text.size()) {
    out.word = token_text(text, tokens.back());
    tokens.pop_back();
  }
  if (!tail.in_string && !tokens.empty() && tokens.back().kind == TokenKind::Dot)
    out.path = path_before_dot(text, tokens);
  out.call = open_call(text, tokens);
  return out;
}

}  // namespace ww::lsp
