// SPDX-License-Identifier: Apache-2.0
// What stands at a place of a text, by its tokens alone, so that a text that cannot be parsed while
// someone types has answers, too: the dotted name, the call around it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/diag.h"

namespace ww::lsp {

/// A name with what it hangs off: at `cta_sync` of `T.cuda.cta_sync(…)` the path is "T.cuda.cta_sync"
/// and the span that of `cta_sync`.
struct NameAt {
  std::string path;
  Span span;
  Span path_span;
};
/// Nothing in texts, comments and numbers.
std::optional<NameAt> name_at(std::string_view text, std::size_t offset);

/// What someone is about to write at the end of a text.
struct Typing {
  bool in_comment = false;
  bool in_string = false;
  std::string path;  // "T.cuda." has "T.cuda" here, "f(x)." has "?"
  std::string word;  // the name so far; of a string what is behind its quote

  /// The call whose parentheses are open.
  struct Call {
    std::string callee;        // "Tx.cta.copy"
    std::size_t argument = 0;  // counted from 0
    std::string keyword = {};  // of the argument, if it is written
  };
  std::optional<Call> call = {};
};
Typing typing_at(std::string_view text_before);

}  // namespace ww::lsp
