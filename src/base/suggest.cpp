// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "base/ascii.h"

namespace ww {
namespace {

constexpr std::size_t kLongestWord = 64;  // longer input is no slip of the keyboard

// Optimal string alignment distance over three rolling rows, of words that are not too long.
std::size_t edits(std::string_view a, std::string_view b) {
  std::array<std::array<std::size_t, kLongestWord + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& above2 = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = to_lower(a[i - 1]) == to_lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0U : 1U)});
      const bool swapped = i > 1 && j > 1 && to_lower(a[i - 1]) == to_lower(b[j - 2]) &&
                           to_lower(a[i - 2]) == to_lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], above2[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word,
                                   std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_edits = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongestWord) continue;
    const auto [shorter, longer] = std::minmax({word.size(), candidate.size()});
    const std::size_t allowed = (longer + 2) / 3;
    const std::size_t fewest = longer - shorter;  // an edit changes the length by one at most
    if (fewest > allowed || fewest >= best_edits) continue;
    const std::size_t distance = edits(word, candidate);
    const bool plausible = distance <= allowed && distance < shorter;
    if (!plausible || distance >= best_edits) continue;
    best_edits = distance;
    best = std::string(candidate);
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto found = nearest(word, candidates);
  return found ? fmt::format("; did you mean `{}`?", *found) : std::string();
}

}  // namespace ww
