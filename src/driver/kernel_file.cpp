// SPDX-License-Identifier: Apache-2.0
#include "driver/kernel_file.h"

#include "base/file_io.h"
#include "driver/report_json.h"

namespace ww::driver {
namespace {
constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
}

Result<std::string> kernel_in_file(const std::string& path) {
  return kernel_in_json(WW_TRY(read_file(path, kMaxBytes)), path);
}

Result<std::string> kernel_in_json(std::string_view text, const std::string& path) {
  const Result<Json> parsed = Json::parse(text);
  if (!parsed) return fail(diag(parsed.error().kind, "`{}` holds {}", path, parsed.error().text));
  const Json& json = *parsed;
  if (json.type() != JsonType::Object || !json.contains("kernel") ||
      json["kernel"].type() != JsonType::String)
    return fail(diag(DiagKind::BadArgument, "`{}` has no text under the key `kernel`", path)
                    .with_note("`warpwright tune -o FILE` writes such files"));
  return json["kernel"].get<std::string>();
}

}  // namespace ww::driver
