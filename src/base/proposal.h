// SPDX-License-Identifier: Apache-2.0
// The word that a message proposes: the way back from did_you_mean (base/suggest.h), for programs
// that offer to write it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/diag.h"

namespace ww {

/// What stands in the place of what.
struct Proposal {
  Span span;
  std::string text;
};

/// `x` of "; did you mean `x`?" in a message; nothing where there is no such question.
std::optional<std::string> proposed_word(std::string_view message);

/// The proposal of a diagnostic of this text: the wrong word is one that the message quotes, in
/// backticks or quotes, and stands exactly once in the diagnostic's span. Nothing where that leaves
/// doubt.
std::optional<Proposal> proposal_of(const Diag& diag, std::string_view text);

}  // namespace ww
