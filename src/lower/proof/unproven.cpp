// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/unproven.h"

namespace ww::lower {

Unexpected<Unproven> unproven_with(Unproven::Kind kind, fmt::string_view format,
                                   fmt::format_args args) {
  return Unexpected(Unproven{kind, fmt::vformat(format, args)});
}

}  // namespace ww::lower
