// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entries to the targets; `--target=NAME` says which. A broken law ends the program, so
// that libFuzzer keeps the bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "hostile/targets.h"

namespace {
const ww::fuzz::Target* chosen = nullptr;  // NOLINT: libFuzzer calls functions, not objects
}

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  constexpr std::string_view kOption = "--target=";
  for (int i = 1; i < *count; ++i)
    if (const std::string_view argument = (*arguments)[i]; argument.starts_with(kOption))
      chosen = ww::fuzz::find_target(argument.substr(kOption.size()));
  if (chosen != nullptr) return 0;
  std::fputs("usage: fuzz --target=NAME [option of libFuzzer]... [folder]...\ntargets:", stderr);
  for (const ww::fuzz::Target& target : ww::fuzz::targets())
    std::fprintf(stderr, " %s", std::string(target.name).c_str());
  std::fputs("\n", stderr);
  std::exit(2);
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Every other time in the target's own way, which keeps more of the text's shape.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  if (chosen->change == nullptr || seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes as text
  const std::string changed = chosen->change(bytes, seed);
  const std::size_t count = std::min(changed.size(), most);
  std::copy_n(changed.begin(), count, data);
  return count;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes as text
  const std::string broken = chosen->law(bytes);
  if (broken.empty()) return 0;
  std::fprintf(stderr, "%s\n", broken.c_str());
  std::abort();
}
