// SPDX-License-Identifier: Apache-2.0
// Buffers between the host and the virtual GPU: arguments into its global memory before a launch,
// and back after it, with what the kernel left undefined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/launch/values.h"
#include "driver/sim/args.h"
#include "sim/launch.h"
#include "sim/tensor_map/map.h"
#include "sim/texture/texture.h"

namespace ww::driver {

/// A parameter that is a tensor map, and which value is the array it describes.
struct SimMap {
  std::size_t param = 0;
  std::size_t value = 0;
  sim::TensorMap map{};  // with its address on the virtual GPU
};

/// The handle of a texture or surface as a parameter, and which value holds its texels.
struct SimTexture {
  std::size_t value = 0;
  sim::Texture texture{};
};

/// How much of the virtual GPU's memory is left to give away.
class MemoryBudget {
 public:
  /// A byte of simulated memory takes two: itself, and whether it is defined.
  static constexpr std::uint64_t kCost = 2;

  explicit MemoryBudget(std::uint64_t limit) : limit_(limit), left_(limit) {}
  /// Fails with TooLarge, changing nothing, if the budget does not have so many bytes.
  Result<void> take(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t left() const { return left_ / kCost; }

 private:
  std::uint64_t limit_;
  std::uint64_t left_;
};

/// Gives the value of an argument with `is_memory()` its array and its memory, whose address is a
/// multiple of `align` and which messages call `title`. Memory is taken only after the budget has
/// allowed it. Diags point into the argument's text.
Result<void> place_value(sim::Device& device, LaunchValue& value, std::size_t number,
                         const SimArg& arg, const std::string& title, std::uint64_t align,
                         MemoryBudget& budget);

/// The tensor map of an argument that is one, of that array. Diags point into the argument's text.
Result<sim::TensorMap> argument_map(const SimArg& arg, const LaunchValue& value);

/// The texture or surface of an argument that is one, of that array. Diags point into the argument's
/// text.
Result<sim::Texture> argument_texture(const SimArg& arg, const LaunchValue& value);

/// The bytes of the parameter of an argument. `value` is that of arguments with memory, or whose map they
/// are, else null. Textures become known to the device. Diags point into the argument's text.
Result<std::vector<std::byte>> param_value(sim::Device& device, const SimArg& arg,
                                           const LaunchValue* value);

/// Brings what the memory holds now to the value's array, and which elements have a value there:
/// neither never written, nor of undefined values.
void read_back(LaunchValue& value);

}  // namespace ww::driver
