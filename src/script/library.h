// SPDX-License-Identifier: Apache-2.0
// Classes for kernels that are written in the language itself (script/library.py): barriers, the
// stages of a ring, roles of warps, tile schedulers. A source that names one is compiled together
// with the file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.h"

namespace ww::script {

/// What the file is called, in errors too: the module that TVM has these classes in.
inline constexpr std::string_view kLibraryModule = "tvm.backend.cuda.lang";

/// The one file, which cmake/embed.cmake puts there.
std::span<const EmbeddedFile> library_files();
inline std::string_view library_text() { return library_files().front().text; }

/// A class of the library, with the comment on what it is for.
struct LibraryClass {
  std::string_view name;
  std::string_view text;
};
const std::vector<LibraryClass>& library_classes();

/// Whether a text has the name of one of them in it.
bool names_library_class(std::string_view text);

}  // namespace ww::script
