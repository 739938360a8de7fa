// SPDX-License-Identifier: Apache-2.0
// Parts of registers that video instructions name: `%r1.b2` is a byte, `%r1.h0` a half. Instructions of
// two halves or four bytes take a list instead, the last one first: of sources from both words, where
// b's parts are numbered behind a's (`.h20`, `.b7610`); the result lists the parts it writes (`.b20`).
#pragma once

#include <cstdint>
#include <string_view>

namespace ww::isa {

/// What an operand may select.
enum class Select : std::uint8_t {
  None,
  One,   // b0 to b3, h0, h1
  Two,   // two of the halves 0 to 3; of a result h0, h1 or h10
  Four,  // four of the bytes 0 to 7; of a result some of 0 to 3, in descending order
};

/// Whether a word behind the dot looks like a selection: `b2`, `h10`, `b7654`.
bool is_selection(std::string_view word);
/// Whether an operand may have it.
bool allows_selection(Select select, bool is_result, std::string_view word);
/// The words that it may have, for messages.
std::string_view selection_text(Select select, bool is_result);

}  // namespace ww::isa
