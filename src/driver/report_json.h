// SPDX-License-Identifier: Apache-2.0
// The JSON that the reports of all runs share.
#pragma once

#include <string>
#include <string_view>

#include "driver/report_parts.h"
#include "json/json.h"

namespace ww::sim {
struct Counters;
struct OpCount;
struct Program;
}  // namespace ww::sim

namespace ww::driver {

struct SassAdvice;

/// `keys` with the name of their schema before them: "warpwright/run/1",
/// docs/reference/schema/run.json. The number changes when a key is removed or changes its meaning;
/// keys may be added under it.
Json with_schema(std::string_view name, const Json& keys = Json::object());

/// null for an empty text.
Json text_or_null(const std::string& text);
Json buffer_json(const BufferReport& buffer);
Json expectation_json(const ExpectReport& each);
/// What was counted of an instruction or of a family, and of each family of a run.
Json count_json(const sim::OpCount& count);
Json families_json(const sim::Program& program, const sim::Counters& counters);
/// With `--sass`.
Json sass_json(const SassAdvice& advice);

/// The value as text: what fits into a line stands on one, the rest is indented by two. Ends with a
/// line break.
std::string json_text(const Json& value);
/// The same, each value on its own line.
std::string json_lines(const Json& value);

}  // namespace ww::driver
