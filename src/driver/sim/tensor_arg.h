// SPDX-License-Identifier: Apache-2.0
// A tensor map as an argument of a kernel: the array that it describes, then settings,
//
//   tensormap(float16[64,128]:randn, box=[8,64], swizzle=128B)
//   tensormap(float16[64,128], box=[8,64])       an output
//   tensormap(@in.npy, box=[8,64])
//   tensormap(A, box=[8,64])                     the array of parameter A
//
// Lists are in the order of the array's extents, the innermost dimension last; maps have it first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/args/text.h"
#include "num/dtype.h"
#include "sim/tensor_map/map.h"
#include "sim/texture/texture.h"

namespace ww::driver {

/// What may be set of a map. Empty lists and missing values follow from the array.
struct TensorMapSettings {
  std::optional<sim::TensorType> type{};
  std::vector<std::int64_t> dims{};
  std::vector<std::int64_t> strides{};  // bytes, of all dimensions but the last
  std::vector<std::int64_t> box{}, element_strides{};
  std::vector<std::int64_t> lower{}, upper{};  // of im2col maps, which have no box
  std::int64_t channels = 0, pixels = 0;       // of im2col maps
  std::int64_t offset = 0;                     // bytes from the start of the array
  sim::Interleave interleave = sim::Interleave::None;
  sim::TensorSwizzle swizzle = sim::TensorSwizzle::None;
  sim::TensorFill fill = sim::TensorFill::Zeros;
  sim::Promotion promotion = sim::Promotion::None;
};

/// Reads `name=value` pieces. Diags point into the text of the pieces.
Result<TensorMapSettings> parse_map_settings(std::span<const Piece> pieces);
/// Sets one of them by its name, as Python's keyword arguments have them.
Result<void> set_map_setting(TensorMapSettings& settings, Piece name, Piece value);

/// The type of a map's elements; nothing where there is none so wide.
std::optional<sim::TensorType> tensor_type_for(num::DType dtype);
/// The map of an array at that address. BadArgument where the settings do not suit the array, or as
/// check_tensor_map.
Result<sim::TensorMap> make_tensor_map(const TensorMapSettings& settings, num::DType dtype,
                                       std::span<const std::int64_t> shape, std::uint64_t address);

// --- textures ------------------------------------------------------------------------------------
//
// A texture or a surface as an argument of a kernel: the array that it shows, then settings,
//
//   texture(float32[16,32]:randn, filter=linear, coordinates=normalized, address=wrap)
//   texture(uint8[16,32,4]:randint, channels=4, read=fractions)
//   surface(uint32[16,32])                       an output
//
// The array's extents are layers (if there are any), depth, height, width and channels (if there are
// several), the outermost first.

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
