// SPDX-License-Identifier: Apache-2.0
#include "driver/args/assignment.h"

namespace ww::driver {

Result<Assignment> cut_assignment(const std::string& text, std::string_view what) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    return fail(diag(DiagKind::Syntax, "found `{}`, expected `NAME={}`", text, what)
                    .with_span(Span::at(0, text.size())));
  return Assignment{text, text.substr(0, at), text.substr(at + 1), Span::at(0, at),
                    Span::at(at + 1, text.size())};
}

}  // namespace ww::driver
