// SPDX-License-Identifier: Apache-2.0
// A texture or a surface as an argument of a kernel: the array that it shows, then settings,
//
//   texture(float32[16,32]:randn, filter=linear, coordinates=normalized, address=wrap)
//   texture(uint8[16,32,4]:randint, channels=4, read=fractions)
//   surface(uint32[16,32])                       an output
//
// The array's extents are layers (if there are any), depth, height, width and channels (if there are
// several), the outermost first.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "driver/args/text.h"
#include "num/dtype.h"
#include "sim/texture/texture.h"

namespace ww::driver {

struct TextureSettings {
  bool is_surface = false;
  bool is_layered = false;
  std::int64_t channels = 1;
  bool is_linear = false;
  bool is_normalized = false;
  bool reads_fractions = false;
  sim::AddressMode mode = sim::AddressMode::Clamp;
};

/// Reads `name=value` pieces. Diags point into the text of the pieces.
Result<TextureSettings> parse_texture_settings(std::span<const Piece> pieces, bool is_surface);

/// The texture of an array at that address. BadArgument where the settings do not suit the array.
Result<sim::Texture> make_texture(const TextureSettings& settings, num::DType dtype,
                                  std::span<const std::int64_t> shape, std::uint64_t address);

}  // namespace ww::driver
