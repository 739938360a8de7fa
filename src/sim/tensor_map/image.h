// SPDX-License-Identifier: Apache-2.0
// The 128 bytes of a tensor map in memory. NVIDIA's format is not documented, and the only legal
// writers are the driver's encoder and tensormap.replace; so the virtual GPU has its own format,
// which
// `encode` and `replace_field` write and `decode` reads. A map may also be begun from 128 zeros and
// filled in field by field, as compilers do on the device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "sim/tensor_map/map.h"

namespace ww::sim {

constexpr std::size_t kTensorMapBytes = 128;
constexpr std::uint64_t kTensorMapAlign = 64;
using TensorMapImage = std::array<std::byte, kTensorMapBytes>;

/// The image of a map that `check_tensor_map` takes.
TensorMapImage encode(const TensorMap& map);
/// The map of an image. BadArgument: the bytes are not a map, a field was never set, or the map is
/// one that the driver would refuse.
Result<TensorMap> decode(std::span<const std::byte, kTensorMapBytes> image);

/// The fields of tensormap.replace.
enum class MapField : std::uint8_t {
  GlobalAddress,
  Rank,  // less one
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElementType,  // by its PTX code
  InterleaveLayout,
  SwizzleMode,
  SwizzleAtomicity,
  FillMode,
};
/// Sets a field, of dimension `index` where there are several. BadArgument: the bytes are not a
/// map, or the value does not fit the field.
Result<void> replace_field(std::span<std::byte, kTensorMapBytes> image, MapField field,
                           unsigned index, std::uint64_t value);

}  // namespace ww::sim
