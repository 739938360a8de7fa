// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ww::cli_test {
namespace {

constexpr std::string_view kRules[] = {
    "type",  "const", "enum",     "properties", "required", "additionalProperties",
    "items", "anyOf", "minItems", "maxItems",   "minimum",  "$ref"};
constexpr std::string_view kRemarks[] = {"$schema", "$id", "$defs", "title", "description"};

template <typename List>
bool has(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool is_type(const Json& value, std::string_view type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "array") return value.is_array();
  return type == "object" && value.is_object();
}

bool is_one_of_types(const Json& value, const Json& types) {
  if (types.is_string()) return is_type(value, types.get<std::string>());
  return std::any_of(types.begin(), types.end(),
                     [&](const Json& type) { return is_type(value, type.get<std::string>()); });
}

std::string brief(const Json& value) { return value.dump().substr(0, 60); }

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  void check(const Json& value, const Json& schema, const std::string& path) {
    for (const auto& [rule, what] : schema.items())
      if (!has(kRules, rule) && !has(kRemarks, rule)) say(path, "the rule `{}` is unknown", rule);
    if (schema.contains("$ref")) {
      const std::string name = schema["$ref"].get<std::string>().substr(8);  // "#/$defs/"
      return check(value, root_.at("$defs").at(name), path);
    }
    if (schema.contains("anyOf")) check_any(value, schema["anyOf"], path);
    if (schema.contains("const") && value != schema["const"])
      say(path, "{} is not {}", brief(value), brief(schema["const"]));
    if (schema.contains("enum") && !has_value(schema["enum"], value))
      say(path, "{} is not one of {}", brief(value), schema["enum"].dump());
    if (schema.contains("type") && !is_one_of_types(value, schema["type"]))
      return say(path, "{} is no {}", brief(value), schema["type"].dump());
    if (schema.contains("minimum") && value.is_number() && value < schema["minimum"])
      say(path, "{} is less than {}", brief(value), schema["minimum"].dump());
    if (value.is_object()) check_object(value, schema, path);
    if (value.is_array()) check_array(value, schema, path);
  }

  std::vector<std::string> found;

 private:
  template <typename... Args>
  void say(const std::string& path, fmt::format_string<Args...> format, Args&&... args) {
    found.push_back(path + ": " + fmt::format(format, std::forward<Args>(args)...));
  }

  static bool has_value(const Json& list, const Json& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  }

  void check_any(const Json& value, const Json& schemas, const std::string& path) {
    for (const Json& schema : schemas) {
      Validator one(root_);
      one.check(value, schema, path);
      if (one.found.empty()) return;
    }
    say(path, "{} fits none of {} schemas", brief(value), schemas.size());
  }

  void check_object(const Json& value, const Json& schema, const std::string& path) {
    const Json properties = schema.value("properties", Json::object());
    for (const Json& key : schema.value("required", Json::array()))
      if (!value.contains(key.get<std::string>()))
        say(path, "the key `{}` is missing", key.get<std::string>());
    for (const auto& [key, item] : value.items()) {
      const std::string at = path + "." + key;
      if (properties.contains(key))
        check(item, properties[key], at);
      else if (!schema.contains("additionalProperties"))
        continue;
      else if (schema["additionalProperties"].is_object())
        check(item, schema["additionalProperties"], at);
      else if (!schema["additionalProperties"].get<bool>())
        say(at, "the key is not in the schema");
    }
  }

  void check_array(const Json& value, const Json& schema, const std::string& path) {
    if (schema.contains("minItems") && value.size() < schema["minItems"].get<std::size_t>())
      say(path, "{} items are too few", value.size());
    if (schema.contains("maxItems") && value.size() > schema["maxItems"].get<std::size_t>())
      say(path, "{} items are too many", value.size());
    if (!schema.contains("items")) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      check(value[i], schema["items"], fmt::format("{}[{}]", path, i));
  }

  const Json& root_;
};

void find_problems(const Json& schema, const std::string& path, bool is_root,
                   std::vector<std::string>& found) {
  if (schema.contains("properties")) {
    if (schema.value("additionalProperties", Json(true)) != Json(false))
      found.push_back(path + ": allows keys that it does not describe");
    for (const Json& key : schema.value("required", Json::array()))
      if (!schema["properties"].contains(key.get<std::string>()))
        found.push_back(path + ": requires `" + key.get<std::string>() + "`, which is no property");
    for (const auto& [key, item] : schema["properties"].items())
      find_problems(item, path + "." + key, false, found);
  }
  const bool is_described = is_root || schema.contains("description") || schema.contains("$ref") ||
                            schema == Json{{"type", "null"}};
  if (!is_described) found.push_back(path + ": has no description");
  if (schema.contains("items")) find_problems(schema["items"], path + "[]", false, found);
  if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object())
    find_problems(schema["additionalProperties"], path + ".*", false, found);
  for (const Json& each : schema.value("anyOf", Json::array()))
    find_problems(each, path, false, found);
  const Json definitions = schema.value("$defs", Json::object());
  for (const auto& [name, item] : definitions.items())
    find_problems(item, "$defs." + name, false, found);
}

}  // namespace

std::vector<std::string> violations(const Json& value, const Json& schema) {
  Validator validator(schema);
  validator.check(value, schema, "$");
  return validator.found;
}

std::vector<std::string> schema_problems(const Json& schema) {
  std::vector<std::string> found;
  find_problems(schema, "$", true, found);
  return found;
}

void collect_seen(const Json& value, const std::string& path, std::set<std::string>& seen) {
  if (value.is_array())
    for (const Json& item : value) collect_seen(item, path + "[]", seen);
  if (!value.is_object()) return;
  for (const auto& [key, item] : value.items()) {
    seen.insert(path + "." + key);
    collect_seen(item, path + "." + key, seen);
  }
}

void collect_described(const Json& schema, const std::string& path, std::set<std::string>& out) {
  if (schema.contains("items")) collect_described(schema["items"], path + "[]", out);
  if (!schema.contains("properties")) return;
  for (const auto& [key, item] : schema["properties"].items()) {
    out.insert(path + "." + key);
    collect_described(item, path + "." + key, out);
  }
}

}  // namespace ww::cli_test
