// SPDX-License-Identifier: Apache-2.0
#include "lsp/json.h"

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
  if (!found->is_string())
    return fail(DiagKind::BadArgument, "`{}` is a JSON {}, expected a text", path,
                found->type_name());
  return found->get<std::string>();
}

Result<std::int64_t> integer_at(const Json& json, std::string_view path) {
  const Json* const found = find(json, path);
  if (found == nullptr)
    return fail(DiagKind::BadArgument, "`{}` is missing, expected a whole number", path);
  if (!found->is_number_integer())
    return fail(DiagKind::BadArgument, "`{}` is a JSON {}, expected a whole number", path,
                found->is_number() ? "number with a fraction" : found->type_name());
  if (found->is_unsigned() && found->get<std::uint64_t>() > INT64_MAX)
    return fail(DiagKind::BadArgument, "`{}` is {}, expected at most {}", path,
                found->get<std::uint64_t>(), INT64_MAX);
  return found->get<std::int64_t>();
}

bool is_true_at(const Json& json, std::string_view path) {
  const Json* const found = find(json, path);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

}  // namespace ww::lsp
