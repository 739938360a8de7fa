// SPDX-License-Identifier: Apache-2.0
// A launch of random fetches on the virtual GPU, and its results against those of another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "hardware/textures/fetch.h"

namespace ww::device {

inline constexpr unsigned kThreads = 128;
/// Blocks of as many threads.
std::uint32_t blocks_of(const TextureCase& each);

/// What a launch leaves: four words for each place, and the texels.
struct Left {
  std::vector<std::byte> out{}, texels{};
};
/// DeviceError for a finding of any check.
Result<Left> run_virtually(const TextureCase& each, const std::string& ptx);

struct Tally {
  std::size_t fetches = 0, different = 0;
  std::string first{};  // that differs
  bool is_exact = true;
};
/// Adds a launch; the number is for `first`.
void compare(const TextureCase& each, const Left& ours, const Left& theirs, std::size_t number,
             Tally& tally);

}  // namespace ww::device
