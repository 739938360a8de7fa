// SPDX-License-Identifier: Apache-2.0
#include "driver/args/file_spec.h"

#include "base/ascii.h"

namespace ww::driver {

Result<FileSpec> parse_file_spec(Piece value) {
  FileSpec out;
  Piece path = value;
  const std::size_t colon = value.text.rfind(':');
  if (colon != std::string_view::npos && is_identifier(value.text.substr(colon + 1))) {
    const Piece type{value.text.substr(colon + 1), value.offset + colon + 1};
    out.type = WW_TRY(located(num::parse_dtype(type.text), type));
    out.type_span = type.span();
    path.text = value.text.substr(0, colon);
  }
  out.path = path.text;
  if (!path.empty()) return out;
  return fail(
      diag(DiagKind::Syntax, "expected the name of a file behind `@`").with_span(path.span()));
}

}  // namespace ww::driver
