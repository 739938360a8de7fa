// SPDX-License-Identifier: Apache-2.0
#include "lsp/json.h"

#include "json/fields.h"

namespace ww::lsp {

const Json* find(const Json& json, std::string_view path) {
  const Json* at = &json;
  while (!path.empty()) {
    const std::string_view key = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), key.size() + 1));
    at = at->find(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

Result<std::string> text_at(const Json& json, std::string_view path) {
  const Json* const found = find(json, path);
  if (found == nullptr)
    return fail(DiagKind::BadArgument, "`{}` is missing, expected a text", path);
  return text_in(*found, path);
}

Result<std::int64_t> integer_at(const Json& json, std::string_view path) {
  const Json* const found = find(json, path);
  if (found == nullptr)
    return fail(DiagKind::BadArgument, "`{}` is missing, expected a whole number", path);
  return integer_in(*found, path);
}

bool is_true_at(const Json& json, std::string_view path) {
  const Json* const found = find(json, path);
  return found != nullptr && found->type() == JsonType::Boolean && found->get<bool>();
}

}  // namespace ww::lsp
