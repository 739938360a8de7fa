// SPDX-License-Identifier: Apache-2.0
#include "isa/selector.h"

#include <algorithm>
#include <functional>

#include "base/ascii.h"

namespace ww::isa {
namespace {

// The digits behind `b` or `h` are so many, all below `end`.
bool counts(std::string_view digits, std::size_t least, std::size_t most, char end) {
  return digits.size() >= least && digits.size() <= most &&
         std::ranges::all_of(digits, [&](char c) { return c >= '0' && c < end; });
}

bool descends(std::string_view digits) {
  return std::ranges::adjacent_find(digits, std::less_equal<>{}) == digits.end();
}

}  // namespace

bool is_selection(std::string_view word) {
  return word.size() >= 2 && (word[0] == 'b' || word[0] == 'h') &&
         std::ranges::all_of(word.substr(1), [](char c) { return is_digit(c); });
}

bool allows_selection(Select select, bool is_result, std::string_view word) {
  if (!is_selection(word)) return false;
  const bool is_byte = word[0] == 'b';
  const std::string_view digits = word.substr(1);
  switch (select) {
    case Select::None:
      return false;
    case Select::One:
      return counts(digits, 1, 1, is_byte ? '4' : '2');
    case Select::Two:
      if (is_byte) return false;
      return is_result ? counts(digits, 1, 2, '2') && descends(digits) : counts(digits, 2, 2, '4');
    case Select::Four:
      if (!is_byte) return false;
      return is_result ? counts(digits, 1, 4, '4') && descends(digits) : counts(digits, 4, 4, '8');
  }
  return false;
}

std::string_view selection_text(Select select, bool is_result) {
  switch (select) {
    case Select::None:
      return "none";
    case Select::One:
      return "`.b0` to `.b3`, `.h0`, `.h1`";
    case Select::Two:
      return is_result ? "`.h0`, `.h1`, `.h10`" : "`.hXY` with digits from 0 to 3";
    case Select::Four:
      return is_result ? "`.b` and some of 3, 2, 1, 0 in this order"
                       : "`.bXYZW` with digits from 0 to 7";
  }
  return "";
}

}  // namespace ww::isa
