// SPDX-License-Identifier: Apache-2.0
// Buffers between the host and the virtual GPU: arguments into its global memory before a launch,
// and back after it, with what the kernel left undefined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/args/array.h"
#include "driver/sim/args.h"
#include "num/dtype.h"
#include "sim/launch.h"
#include "sim/tensor_map/map.h"
#include "sim/texture/texture.h"

namespace ww::driver {

/// The memory that a pointer parameter points to.
struct SimBuffer {
  std::size_t param = 0;
  num::DType dtype{};
  std::vector<std::int64_t> shape;
  bool is_output = false;  // it was given no contents
  sim::Region* region = nullptr;
};

/// A parameter that is a tensor map, and which buffer it describes.
struct SimMap {
  std::size_t param = 0;
  std::size_t buffer = 0;  // its place in the list
  sim::TensorMap map{};    // with its address on the virtual GPU
};

/// A parameter that is the handle of a texture or surface, and which buffer holds its texels.
struct SimTexture {
  std::size_t buffer = 0;  // its place in the list
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

/// What a buffer is for.
struct BufferUse {
  std::size_t param = 0;    // SimBuffer::param
  std::string title;        // in messages: "parameter 0 `a`"
  std::uint64_t align = 1;  // what its address is a multiple of, at least
};
/// Allocates a buffer and fills it as the argument says; `arg.is_memory()`. Memory is taken only
/// after the budget has allowed it. Diags point into the argument's text.
Result<SimBuffer> place_buffer(sim::Device& device, const BufferUse& use, const SimArg& arg,
                               MemoryBudget& budget);

/// The tensor map of an argument that is one, of that buffer. Diags point into the argument's text.
Result<sim::TensorMap> argument_map(const SimArg& arg, const SimBuffer& buffer);

/// The texture or surface of an argument that is one, of that buffer. Diags point into the argument's
/// text.
Result<sim::Texture> argument_texture(const SimArg& arg, const SimBuffer& buffer);

/// The bytes of the parameter of an argument. `buffer` is that of arguments that have one, or are the
/// map of one. Textures become known to the device. Diags point into the argument's text.
Result<std::vector<std::byte>> param_value(sim::Device& device, const SimArg& arg,
                                           const SimBuffer* buffer);

/// What the buffer holds now; TooLarge when the host has no memory for a copy.
Result<Array> read_buffer(const SimBuffer& buffer);

/// Elements with bytes that were never written, or that got undefined values.
struct UndefinedElements {
  std::int64_t count = 0;
  std::int64_t first = 0;  // meaningless if there are none
};
UndefinedElements undefined_elements(const SimBuffer& buffer);
/// By element: whether it is defined.
std::vector<bool> defined_elements(const SimBuffer& buffer);
/// The first elements as text, `most` at most; `?` where one is undefined.
std::vector<std::string> first_elements(const SimBuffer& buffer, std::size_t most);

}  // namespace ww::driver
