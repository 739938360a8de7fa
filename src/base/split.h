// SPDX-License-Identifier: Apache-2.0
// Splits a text at each separator.
#pragma once

#include <string_view>
#include <vector>

namespace ww {

/// The parts between separators, empty ones too; a separator at the end ends the last part.
std::vector<std::string_view> split(std::string_view text, char by);

/// The parts that are not empty.
std::vector<std::string_view> split_words(std::string_view text, char by = ' ');

}  // namespace ww
