// SPDX-License-Identifier: Apache-2.0
// JSON against a JSON Schema: the part of it that docs/reference/schema/*.json is written in. It
// shares no code with what writes the JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace ww::cli_test {

using Json = nlohmann::ordered_json;

/// What is wrong with a value, a line each: its path, what was seen, what is wanted. A keyword that
/// is not known here is wrong, too, so that none is taken for a rule and ignored.
std::vector<std::string> violations(const Json& value, const Json& schema);

/// What is wrong with the schema itself: objects that allow keys they do not describe, descriptions
/// that are missing, required keys that are no properties.
std::vector<std::string> schema_problems(const Json& schema);

/// The paths (`run.time.launches`) of all keys in a value, and of all keys in a schema.
void collect_seen(const Json& value, const std::string& path, std::set<std::string>& seen);
void collect_described(const Json& schema, const std::string& path, std::set<std::string>& out);

}  // namespace ww::cli_test
