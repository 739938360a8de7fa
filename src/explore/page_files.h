// SPDX-License-Identifier: Apache-2.0
// The files of the page, which are part of the program: src/explore/page, and CodeMirror where it was
// installed when the program was built. cmake/explore.cmake puts them there.
#pragma once

#include <span>
#include <string_view>

#include "base/embedded_file.h"

namespace ww::explore {

/// Their paths are those below the page's address: "js/main.js".
std::span<const EmbeddedFile> page_files();
/// The one of that path; "" is index.html. Null: there is none.
const EmbeddedFile* find_page_file(std::string_view path);
/// By the ending of the name.
std::string_view content_type(std::string_view path);
bool has_codemirror();

}  // namespace ww::explore
