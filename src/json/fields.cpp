// SPDX-License-Identifier: Apache-2.0
#include "json/fields.h"

namespace ww {

Diag wrong_json_type(std::string_view name, const Json& value, std::string_view wanted) {
  return diag(DiagKind::BadArgument, "`{}` is a JSON {}, expected {}", name, name_of(value.type()),
              wanted);
}

Result<std::string> text_in(const Json& value, std::string_view name) {
  if (value.type() != JsonType::String) return fail(wrong_json_type(name, value, "a text"));
  return value.get<std::string>();
}

Result<std::int64_t> integer_in(const Json& value, std::string_view name) {
  if (value.type() != JsonType::Number) return fail(wrong_json_type(name, value, "a whole number"));
  if (!value.is_integer())
    return fail(DiagKind::BadArgument, "`{}` is {}, expected a whole number", name, value.dump());
  if (value.get<double>() > 0 && value.get<std::uint64_t>() > INT64_MAX)
    return fail(DiagKind::BadArgument, "`{}` is {}, expected at most {}", name, value.dump(),
                INT64_MAX);
  return value.get<std::int64_t>();
}

}  // namespace ww
