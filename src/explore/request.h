// SPDX-License-Identifier: Apache-2.0
// What a page asks, read from JSON with a message for everything that is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/build.h"
#include "driver/report_parts.h"

namespace ww::explore {

/// The body of a request: an object. As Json::parse otherwise.
Result<Json> parse_request(std::string_view body);

// A field of a request, or what stands for one that is not there. BadArgument for another type.
Result<std::string> text_field(const Json& request, std::string_view name,
                               const std::string& otherwise = "");
Result<std::int64_t> number_field(const Json& request, std::string_view name,
                                  std::int64_t otherwise);
Result<bool> flag_field(const Json& request, std::string_view name, bool otherwise);
Result<std::vector<std::string>> texts_field(const Json& request, std::string_view name);
/// {"A": "float16[8]:randn"} as "A=float16[8]:randn". BadArgument for an argument that names a file:
/// the explorer reads none.
Result<std::vector<std::string>> args_field(const Json& request);

/// A kernel of a text.
struct Program {
  std::string file, source, kernel, target;
  friend bool operator==(const Program&, const Program&) = default;
};
Result<Program> program_field(const Json& request);
driver::Build build_program(const Program& program, driver::Phase until);

}  // namespace ww::explore
