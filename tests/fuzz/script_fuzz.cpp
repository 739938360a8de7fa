// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry to the front end: any bytes are compiled, and the promise of
// tests/script/compile_law.h must hold.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "script/compile_law.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes as text
  text = text.substr(0, text.find("#--- expected"));
  ww::script::Options options;
  options.kernel = ww::script::kernel_of(text);
  options.max_steps = 20'000;
  const std::string broken = ww::script::broken_law(text, options);
  if (!broken.empty()) {
    std::fprintf(stderr, "%s\n", broken.c_str());
    std::abort();
  }
  return 0;
}
