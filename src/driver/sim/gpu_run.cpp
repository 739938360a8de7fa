// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/gpu_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/join.h"
#include "driver/args/array.h"
#include "driver/launch/run.h"
#include "driver/report_parts.h"

namespace ww::driver {
namespace {

runtime::Dims dims_of(const sim::Dim3& dims) { return {dims.x, dims.y, dims.z}; }

// By number of value; scalars have none.
using GpuMemory = std::vector<DeviceMemory>;

Result<GpuMemory> memory_of(runtime::CudaDevice& device, const GpuLaunch& gpu,
                            std::span<const LaunchValue> values, std::span<MemoryCopy> copies) {
  GpuMemory out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const sim::Region* const region = values[i].region;
    if (region == nullptr) continue;
    DeviceMemory& memory = out[i];
    memory.name = region->name;
    memory.contents = memory.results = copies[i].bytes;
    memory.undefined = copies[i].undefined;
    const auto found = std::ranges::find(gpu.textures, i, &SimTexture::value);
    if (found == gpu.textures.end()) {
      memory.address = WW_TRY(device.allocate(region->size, region->name));
      continue;
    }
    memory.texture = WW_TRY(device.make_texture(found->texture, region->name));
    memory.address = memory.texture->handle();
  }
  return out;
}

// One value for each parameter. All of them as one block would not do: an H200 takes a tensor map that
// comes so for an illegal instruction.
std::vector<runtime::Value> values_of(const sim::Code& kernel, std::span<const std::byte> params) {
  std::vector<runtime::Value> out;
  for (const sim::Param& param : kernel.params) {
    const auto bytes = params.subspan(param.offset, param.bytes);
    runtime::Value& value = out.emplace_back();
    value.bytes = static_cast<std::uint32_t>(bytes.size());
    if (bytes.size() <= sizeof value.bits) {
      std::memcpy(&value.bits, bytes.data(), bytes.size());
    } else {
      value.block.assign(bytes.begin(), bytes.end());
    }
  }
  return out;
}

// Addresses of this GPU, and maps of the same tensors as its driver writes them.
Result<runtime::Launch> launch_of(const runtime::Device& device, const GpuLaunch& gpu,
                                  std::span<const LaunchValue> values, const GpuMemory& memory) {
  const sim::Launch& launch = gpu.launch;
  runtime::Launch out{.grid = dims_of(launch.grid), .block = dims_of(launch.block)};
  if (launch.cluster) out.cluster = dims_of(*launch.cluster);
  out.dynamic_shared = launch.dynamic_shared;
  out.is_cooperative = gpu.program.has_grid_barrier;
  std::vector<std::byte> params = launch.params;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i].region != nullptr && gpu.params[i].bytes == sizeof(runtime::Address))
      std::memcpy(params.data() + gpu.params[i].offset, &memory[i].address,
                  sizeof memory[i].address);
  for (const SimMap& each : gpu.maps) {
    sim::TensorMap map = each.map;
    map.address = map.address - values[each.value].region->base + memory[each.value].address;
    const std::vector<std::byte> image = WW_TRY(device.encode_map(map));
    std::ranges::copy(image, params.begin() + gpu.params[each.param].offset);
  }
  out.arguments = values_of(*launch.kernel, params);
  return out;
}

std::string hex_of(std::span<const std::byte> bytes) {
  std::string out = "0x";
  for (std::size_t i = bytes.size(); i-- > 0;)
    out += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  return out;
}

}  // namespace

Result<std::unique_ptr<runtime::CudaDevice>> open_gpu(const Result<runtime::CudaCalls>* driver,
                                                      const sim::Program& program,
                                                      const runtime::Image& image) {
  const Result<runtime::CudaCalls> calls = driver != nullptr ? *driver : runtime::load_cuda_calls();
  if (!calls) return fail(calls.error());
  auto device = WW_TRY(runtime::CudaDevice::open(*calls, program.target.arch));
  WW_TRY_VOID(device->load(image));
  return device;
}

std::vector<MemoryCopy> copy_memory(std::span<const LaunchValue> values) {
  std::vector<MemoryCopy> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].region == nullptr) continue;
    const sim::Region& region = *values[i].region;
    out[i].bytes.assign(region.data, region.data + region.size);
    out[i].undefined.assign(region.undefined, region.undefined + region.size);
  }
  return out;
}

Result<std::string> run_on_gpu(const GpuLaunch& gpu, std::span<const LaunchValue> values,
                               std::span<MemoryCopy> copies) {
  const auto device = WW_TRY(
      open_gpu(gpu.driver, gpu.program, {.bytes = gpu.ptx, .kernel = gpu.launch.kernel->name}));
  GpuMemory memory = WW_TRY(memory_of(*device, gpu, values, copies));
  const runtime::Launch launch = WW_TRY(launch_of(*device, gpu, values, memory));
  std::erase_if(memory, [](const DeviceMemory& each) { return each.name.empty(); });
  WW_TRY_VOID(run_launch(*device, launch, memory));
  return device->name();
}

std::string difference_text(std::string_view name, num::DType dtype,
                            std::span<const std::int64_t> shape, const Contents& ours,
                            const Contents& theirs) {
  const auto bits = static_cast<std::size_t>(num::storage_bits(dtype));
  const std::size_t each = std::max<std::size_t>(1, bits / 8);
  std::size_t count = 0;
  std::string first;
  for (std::size_t at = 0; at + each <= ours.bytes.size(); at += each) {
    const bool is_defined = ours.is_defined(at);
    const bool same = is_defined == theirs.is_defined(at) &&
                      (!is_defined || std::memcmp(&ours.bytes[at], &theirs.bytes[at], each) == 0);
    if (same || ++count > 1) continue;
    const auto text = [&](const Contents& side) {
      return side.is_defined(at) ? hex_of(side.bytes.subspan(at, each)) : "not written";
    };
    first = fmt::format("{}[{}]: virtual GPU {}, GPU {}", name,
                        join(index_of(shape, static_cast<std::int64_t>(at / each)), ","),
                        text(ours), text(theirs));
  }
  if (count == 0) return "";
  return fmt::format("{}; {} of {} elements differ", first, count, ours.bytes.size() / each);
}

std::string first_difference(std::span<const LaunchValue> values,
                             std::span<const MemoryCopy> theirs) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Array& array = values[i].array;
    if (values[i].region == nullptr) continue;
    const sim::Region& ours = *values[i].region;
    std::string text =
        difference_text(fmt::format("${} {}", i, values[i].name), array.dtype, array.shape,
                        {{ours.data, ours.size}, {ours.undefined, ours.size}},
                        {theirs[i].bytes, theirs[i].undefined});
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace ww::driver
