// SPDX-License-Identifier: Apache-2.0
#include "explore/request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "json/json.h"

namespace ww::explore {
namespace {

constexpr std::size_t kMaxFileName = 200;

const Json* find(const Json& request, std::string_view name) {
  const Json* const at = request.find(name);
  return at == nullptr || at->is_null() ? nullptr : at;
}

}  // namespace

Result<Json> parse_request(std::string_view body) {
  Result<Json> value = Json::parse(body);
  if (!value) return fail(diag(value.error().kind, "the request is {}", value.error().text));
  if (value->type() != JsonType::Object)
    return fail(DiagKind::BadArgument, "the request is a JSON {}, expected an object",
                name_of(value->type()));
  return value;
}

Result<std::string> text_field(const Json& request, std::string_view name,
                               const std::string& otherwise) {
  const Json* const value = find(request, name);
  if (value == nullptr) return otherwise;
  return text_in(*value, name);
}

Result<std::int64_t> number_field(const Json& request, std::string_view name,
                                  std::int64_t otherwise) {
  const Json* const value = find(request, name);
  if (value == nullptr) return otherwise;
  return integer_in(*value, name);
}

Result<bool> flag_field(const Json& request, std::string_view name, bool otherwise) {
  const Json* const value = find(request, name);
  if (value == nullptr) return otherwise;
  if (value->type() != JsonType::Boolean)
    return fail(wrong_json_type(name, *value, "true or false"));
  return value->get<bool>();
}

Result<std::vector<std::string>> texts_field(const Json& request, std::string_view name) {
  const Json* const value = find(request, name);
  std::vector<std::string> out;
  if (value == nullptr) return out;
  if (value->type() != JsonType::Array)
    return fail(wrong_json_type(name, *value, "a list of texts"));
  for (const Json& each : *value) {
    if (each.type() != JsonType::String)
      return fail(wrong_json_type(name, each, "a text in the list"));
    out.push_back(each.get<std::string>());
  }
  return out;
}

Result<std::vector<std::string>> args_field(const Json& request) {
  const Json* const value = find(request, "args");
  std::vector<std::string> out;
  if (value == nullptr) return out;
  if (value->type() != JsonType::Object) return fail(wrong_json_type("args", *value, "an object"));
  for (const auto& [name, spec] : value->members()) {
    const std::string text = WW_TRY(text_in(spec, name));
    if (text.find('@') != std::string::npos)
      return fail(DiagKind::BadArgument,
                  "the argument `{}` of `{}` names a file, and the explorer reads none; expected "
                  "type, shape and contents, as `float16[8,16]:randn`",
                  text, name);
    if (!text.empty()) out.push_back(fmt::format("{}={}", name, text));
  }
  return out;
}

Result<Program> program_field(const Json& request) {
  Program out{.file = WW_TRY(text_field(request, "file", "kernel.py")),
              .source = WW_TRY(text_field(request, "source")),
              .kernel = WW_TRY(text_field(request, "kernel")),
              .target = WW_TRY(text_field(request, "target"))};
  if (out.file.empty()) out.file = "kernel.py";
  if (out.file.size() > kMaxFileName)
    return fail(DiagKind::TooLarge, "`file` has {} bytes; at most {} are taken", out.file.size(),
                kMaxFileName);
  if (out.kernel.starts_with('@'))
    return fail(DiagKind::BadArgument,
                "the kernel `{}` names a file, and the explorer reads none; expected an expression",
                out.kernel);
  return out;
}

driver::Build build_program(const Program& program, driver::Phase until) {
  return driver::build_kernel(SourceText(program.file, program.source),
                              {.kernel = program.kernel, .target = program.target, .until = until});
}

}  // namespace ww::explore
