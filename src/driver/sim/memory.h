// SPDX-License-Identifier: Apache-2.0
// Buffers between the host and the virtual GPU: arguments into its global memory before a launch,
// and back after it, with what the kernel left undefined; and the same launch on a real GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/launch/launch.h"
#include "driver/sim/args.h"
#include "runtime/cuda_calls.h"
#include "runtime/cuda_device.h"
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

// --- the same launch on a real GPU ---------------------------------------------------------------
//
// A launch that was prepared for the virtual GPU, on a real one: the same PTX, the same bytes of
// parameters and buffers. The results go to where the virtual GPU would have left them.

struct GpuLaunch {
  const Result<runtime::CudaCalls>* driver;  // null: that of the machine
  const std::string& ptx;
  const sim::Program& program;
  const sim::Launch& launch;
  std::span<const sim::Param> params{};    // by number of value, as arguments have them
  std::span<const SimMap> maps{};          // parameters that the driver encodes for its own GPU
  std::span<const SimTexture> textures{};  // values that are arrays of CUDA's there
};

/// A GPU that runs code for the program's target, with the kernel loaded; `driver` as above.
Result<std::unique_ptr<runtime::CudaDevice>> open_gpu(const Result<runtime::CudaCalls>* driver,
                                                      const sim::Program& program,
                                                      const runtime::Image& image);

/// What an array holds on one of the two sides.
struct Contents {
  std::span<const std::byte> bytes;
  std::span<const std::uint8_t> undefined{};  // empty: nothing is

  [[nodiscard]] bool is_defined(std::size_t byte) const {
    return undefined.empty() || undefined[byte] == 0;
  }
};
/// "c[5]: virtual GPU 0x40400000, GPU 0x40400001; 3 of 100 elements differ"; empty if all bits of
/// elements agree that are defined on both sides, and the same ones are.
std::string difference_text(std::string_view name, num::DType dtype,
                            std::span<const std::int64_t> shape, const Contents& ours,
                            const Contents& theirs);

/// What values hold in memory at some time, and which bytes are undefined; by number.
struct MemoryCopy {
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> undefined;
};
std::vector<MemoryCopy> copy_memory(std::span<const LaunchValue> values);

/// Runs the kernel as run_launch does on copies of the memory, which get the results; bytes that were
/// not written stay undefined. The GPU's name, or a Diag: NoDevice, DeviceError.
Result<std::string> run_on_gpu(const GpuLaunch& gpu, std::span<const LaunchValue> values,
                               std::span<MemoryCopy> memory);

/// How the copies differ from what the virtual GPU's memory holds, in the first array that does, which is
/// called "$2 c"; empty if none does.
std::string first_difference(std::span<const LaunchValue> values,
                             std::span<const MemoryCopy> theirs);

}  // namespace ww::driver
