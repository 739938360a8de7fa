// SPDX-License-Identifier: Apache-2.0
// A file with a kernel expression in JSON, as `warpwright tune -o` writes it.
#include <string>

#include "driver/build.h"
#include "hostile/targets.h"
#include "script/compile.h"

namespace ww::fuzz {

std::string kernel_file_law(std::string_view bytes) {
  const auto kernel = driver::kernel_in_json(bytes, "best.json");
  if (!kernel) return kernel.error().text.empty() ? "a refusal says nothing" : "";
  const auto syntax = script::check_kernel_syntax(*kernel);
  return !syntax && syntax.error().text.empty() ? "a refusal says nothing" : "";
}

}  // namespace ww::fuzz
