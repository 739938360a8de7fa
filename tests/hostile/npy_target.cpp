// SPDX-License-Identifier: Apache-2.0
// Bytes as an array file: what is read, written and read again is the same array. The last byte
// chooses a type to read it as.
#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "driver/args/npy.h"
#include "hostile/targets.h"

namespace ww::fuzz {
namespace {

std::string broken_array(std::span<const std::byte> file, std::optional<num::DType> wanted) {
  const auto array = driver::parse_npy(file, wanted);
  if (!array) return array.error().text.empty() ? "a refusal says nothing" : "";
  const std::string written = driver::to_npy(*array);
  const auto again = driver::parse_npy(std::as_bytes(std::span(written)), array->dtype);
  if (!again) return "what is written does not read: " + again.error().text;
  if (driver::to_npy(*again) != written) return "writing twice gives two files";
  for (std::int64_t i = 0; i < std::min<std::int64_t>(array->size(), 8); ++i)
    if (again->text(i) != array->text(i)) return "an element changed: " + array->text(i);
  return "";
}

}  // namespace

std::string npy_law(std::string_view bytes) {
  std::string broken = broken_array(std::as_bytes(std::span(bytes)), std::nullopt);
  if (!broken.empty() || bytes.empty()) return broken;
  const auto choice = static_cast<unsigned char>(bytes.back());
  const auto types = num::all_dtypes();
  const num::DType wanted = types[choice % types.size()];
  return broken_array(std::as_bytes(std::span(bytes.substr(0, bytes.size() - 1))), wanted);
}

}  // namespace ww::fuzz
