// SPDX-License-Identifier: Apache-2.0
// JSON as messages carry it, and reading fields that another program was to send: what is missing
// or of another type is a Diag that names the field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace ww::lsp {

/// The value at a dotted path of keys ("textDocument.uri"); null when there is none.
const Json* find(const Json& json, std::string_view path);
/// A text or a whole number there; BadArgument otherwise.
Result<std::string> text_at(const Json& json, std::string_view path);
Result<std::int64_t> integer_at(const Json& json, std::string_view path);
/// Whether there is `true`.
bool is_true_at(const Json& json, std::string_view path);

}  // namespace ww::lsp
