// SPDX-License-Identifier: Apache-2.0
// "Did you mean …": the known word nearest to a misspelt one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ww {

/// The candidate with the fewest single-character edits (insert, delete, replace, swap neighbours)
/// from `word`, if close enough to be a plausible slip: at most a third of the longer length,
/// rounded up, and fewer than either word has characters. Case differences cost nothing. Ties go to
/// the earlier candidate.
std::optional<std::string> nearest(std::string_view word,
                                   std::span<const std::string_view> candidates);

/// "; did you mean `x`?" or "" when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace ww
