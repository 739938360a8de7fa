// SPDX-License-Identifier: Apache-2.0
// A file that is part of the program: cmake/embed.cmake makes one of a file of the checkout.
#pragma once

#include <string_view>

namespace ww {

struct EmbeddedFile {
  std::string_view path;  // "js/main.js"
  std::string_view text;
};

}  // namespace ww
