// SPDX-License-Identifier: Apache-2.0
#include "explore/page_files.h"

#include <algorithm>

namespace ww::explore {

const EmbeddedFile* find_page_file(std::string_view path) {
  if (path.empty()) path = "index.html";
  const auto files = page_files();
  const auto at = std::ranges::find(files, path, &EmbeddedFile::path);
  return at == files.end() ? nullptr : &*at;
}

std::string_view content_type(std::string_view path) {
  const std::string_view ending = path.substr(std::min(path.rfind('.'), path.size()));
  if (ending == ".html") return "text/html; charset=utf-8";
  if (ending == ".css") return "text/css; charset=utf-8";
  if (ending == ".js") return "text/javascript; charset=utf-8";
  if (ending == ".svg") return "image/svg+xml";
  if (ending == ".json") return "application/json";
  return "application/octet-stream";
}

bool has_codemirror() { return find_page_file("codemirror/codemirror.js") != nullptr; }

}  // namespace ww::explore
