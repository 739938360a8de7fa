// SPDX-License-Identifier: Apache-2.0
// The JSON that the reports of all runs share. Only the files that write JSON include this: the
// library's header takes seconds to compile.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "driver/report_parts.h"

namespace ww::driver {

using Json = nlohmann::ordered_json;

Json buffer_json(const BufferReport& buffer);
Json expectation_json(const ExpectReport& each);

/// The value as text: what fits into a line stands on one, the rest is indented by two. Ends with a
/// line break.
std::string json_text(const Json& value);

}  // namespace ww::driver
