// SPDX-License-Identifier: Apache-2.0
// A launch that was prepared for the virtual GPU, on a real one: the same PTX, the same bytes of
// parameters and buffers. The results go to where the virtual GPU would have left them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/sim/memory.h"
#include "runtime/cuda_calls.h"
#include "runtime/cuda_device.h"
#include "sim/launch.h"

namespace ww::driver {

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
