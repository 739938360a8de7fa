// SPDX-License-Identifier: Apache-2.0
// Files that are part of the program; cmake/embedded_files.cmake puts them there.
#pragma once

#include <span>
#include <string_view>

namespace ww::driver {

struct EmbeddedFile {
  std::string_view path;  // from the root of the project: "examples/transpose.py"
  std::string_view text;
};

/// The programs that examples/index.txt names, in its order.
std::span<const EmbeddedFile> embedded_examples();
/// examples/index.txt.
std::span<const EmbeddedFile> embedded_index();
/// src/driver/templates/*.py.
std::span<const EmbeddedFile> embedded_templates();

}  // namespace ww::driver
