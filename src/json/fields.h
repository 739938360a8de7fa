// SPDX-License-Identifier: Apache-2.0
// Reading values that another program sent. One of another type is a BadArgument that names it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace ww {

/// "`name` is a JSON number, expected `wanted`".
Diag wrong_json_type(std::string_view name, const Json& value, std::string_view wanted);

Result<std::string> text_in(const Json& value, std::string_view name);
Result<std::int64_t> integer_in(const Json& value, std::string_view name);

}  // namespace ww
