// SPDX-License-Identifier: Apache-2.0
// Files that are part of the program; cmake/embedded_files.cmake puts them there.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace ww::driver {

/// The programs that examples/index.txt names, in its order; their paths begin at the root of the
/// project: "examples/transpose.py".
std::span<const EmbeddedFile> embedded_examples();
/// examples/index.txt.
std::span<const EmbeddedFile> embedded_index();
/// src/driver/templates/*.py.
std::span<const EmbeddedFile> embedded_templates();

}  // namespace ww::driver
