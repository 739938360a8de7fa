// SPDX-License-Identifier: Apache-2.0
// The manual page, from the texts of help.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace ww::cli {

/// warpwright(1) in the language of man(7), a section for each command. The same commands give the
/// same bytes: the page has no date.
std::string manual_page(std::span<const Command* const> commands);

}  // namespace ww::cli
