// SPDX-License-Identifier: Apache-2.0
// JSON as messages carry it, and reading fields that another program was to send: what is missing
// or of another type is a Diag that names the field.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ww::lsp {

using Json = nlohmann::ordered_json;

/// The value at a dotted path of keys ("textDocument.uri"); null when there is none.
const Json* find(const Json& json, std::string_view path);
/// A text or a whole number there; BadArgument otherwise.
Result<std::string> text_at(const Json& json, std::string_view path);
Result<std::int64_t> integer_at(const Json& json, std::string_view path);
/// Whether there is `true`.
bool is_true_at(const Json& json, std::string_view path);

/// As bytes; what is no UTF-8 becomes U+FFFD.
std::string to_bytes(const Json& json);

}  // namespace ww::lsp
