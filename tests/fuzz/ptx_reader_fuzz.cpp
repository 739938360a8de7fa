// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry to the PTX reader: any bytes are read, and the promise of
// tests/ptx/reader_law.h must hold. tests/fuzz/run.sh builds and runs it.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ptx/reader_law.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes as text
  const std::string broken = ww::ptx::broken_law(text);
  if (!broken.empty()) {
    std::fprintf(stderr, "%s\n", broken.c_str());
    std::abort();
  }
  return 0;
}
