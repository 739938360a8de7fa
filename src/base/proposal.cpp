// SPDX-License-Identifier: Apache-2.0
#include "base/proposal.h"

#include <vector>

#include "base/ascii.h"

namespace ww {
namespace {

constexpr std::string_view kQuestion = "did you mean `";

bool is_word_char(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The texts between pairs of a quote character.
void add_quoted(std::string_view message, char quote, std::vector<std::string_view>& out) {
  while (true) {
    const std::size_t begin = message.find(quote);
    if (begin == std::string_view::npos) return;
    const std::size_t end = message.find(quote, begin + 1);
    if (end == std::string_view::npos) return;
    if (end > begin + 1) out.push_back(message.substr(begin + 1, end - begin - 1));
    message.remove_prefix(end + 1);
  }
}

// Where the word stands as a whole; nothing when it stands nowhere, or twice.
std::optional<std::size_t> only_place(std::string_view text, std::string_view word) {
  std::optional<std::size_t> found;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool is_whole =
        (at == 0 || !is_word_char(text[at - 1]) || !is_word_char(word.front())) &&
        (end == text.size() || !is_word_char(text[end]) || !is_word_char(word.back()));
    if (!is_whole) continue;
    if (found) return std::nullopt;
    found = at;
  }
  return found;
}

}  // namespace

std::optional<std::string> proposed_word(std::string_view message) {
  const std::size_t at = message.rfind(kQuestion);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = message.substr(at + kQuestion.size());
  const std::size_t end = rest.find("`?");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  return std::string(rest.substr(0, end));
}

std::optional<Proposal> proposal_of(const Diag& diag, std::string_view text) {
  const auto word = proposed_word(diag.text);
  if (!word || !diag.span.known || diag.span.end > text.size() || diag.span.begin >= diag.span.end)
    return std::nullopt;
  const std::string_view wrong = text.substr(diag.span.begin, diag.span.end - diag.span.begin);
  const std::string_view before = std::string_view(diag.text).substr(0, diag.text.rfind(kQuestion));
  std::vector<std::string_view> quoted;
  add_quoted(before, '`', quoted);
  add_quoted(before, '"', quoted);
  // The wrong word is the last that the message quotes: "`T` has no `alloc_bufer`".
  for (auto each = quoted.rbegin(); each != quoted.rend(); ++each) {
    const auto at = only_place(wrong, *each);
    if (!at) continue;
    const std::size_t begin = diag.span.begin + *at;
    return Proposal{Span::at(begin, begin + each->size()), *word};
  }
  return std::nullopt;
}

}  // namespace ww
