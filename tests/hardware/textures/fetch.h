// SPDX-License-Identifier: Apache-2.0
// Random textures and surfaces, the places that a kernel fetches from them, and the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sim/texture/texture.h"

namespace ww::device {

using Random = std::mt19937_64;

enum class Instruction : std::uint8_t { Fetch, Gather, SurfaceLoad, SurfaceStore };

/// One launch: a thread for each place.
struct TextureCase {
  sim::Texture texture{};  // without an address
  Instruction instruction{};
  bool is_clamped = false;              // surfaces: `.clamp`, otherwise `.zero`
  char channel = 'r';                   // of tld4
  std::vector<std::byte> texels{};      // x first, without gaps
  std::vector<std::uint32_t> places{};  // four words each: x, y, z, layer
  [[nodiscard]] std::size_t count() const { return places.size() / 4; }
};

/// Any texture that CUDA takes: extents of 1 to 9 texels, all types, filters, modes, layers.
TextureCase random_case(Random& random, std::size_t places);

/// `fetch(image, places, out, n)`: out has four words for each place.
std::string kernel_of(const TextureCase& each);

/// The row of the table that a case counts for, and whether it is claimed to be exact there.
struct Row {
  std::string_view name;
  bool is_exact = true;
};
Row row_of(const TextureCase& each);

}  // namespace ww::device
