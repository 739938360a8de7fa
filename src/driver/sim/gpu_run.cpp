// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/gpu_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/join.h"
#include "driver/args/array.h"
#include "driver/report_parts.h"
#include "runtime/cuda_device.h"

namespace ww::driver {
namespace {

// What undefined bytes hold in the first run and in the second.
constexpr std::array<std::byte, 2> kFillPatterns{std::byte{0xCD}, std::byte{0x32}};

runtime::Dims dims_of(const sim::Dim3& dims) { return {dims.x, dims.y, dims.z}; }

std::vector<std::byte> contents(const sim::Region& region, std::byte pattern) {
  std::vector<std::byte> bytes(region.data, region.data + region.size);
  if (region.undefined != nullptr)
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (region.undefined[i] != 0) bytes[i] = pattern;
  return bytes;
}

// The parameter of a buffer holds its address, or the map of it.
bool is_map(const GpuLaunch& gpu, std::size_t param) {
  return std::ranges::find(gpu.maps, param, &SimMap::param) != gpu.maps.end();
}

// A buffer on the GPU: memory, or an array with the object of a texture.
struct GpuBuffer {
  runtime::Address address = 0;  // or the object's handle
  std::unique_ptr<runtime::CudaTexture> texture = {};
};

Result<GpuBuffer> place(runtime::CudaDevice& device, const GpuLaunch& gpu,
                        std::span<const SimBuffer> buffers, std::size_t which) {
  const sim::Region& region = *buffers[which].region;
  GpuBuffer out;
  const auto found = std::ranges::find(gpu.textures, which, &SimTexture::buffer);
  if (found == gpu.textures.end()) {
    out.address = WW_TRY(device.allocate(region.size, region.name));
    return out;
  }
  out.texture = WW_TRY(device.make_texture(found->texture, region.name));
  out.address = out.texture->handle();
  return out;
}

// Maps of the same tensors, as the driver writes them.
Result<void> put_maps(const runtime::Device& device, const GpuLaunch& gpu,
                      std::span<const SimBuffer> buffers, std::span<const GpuBuffer> on_gpu,
                      std::span<std::byte> params) {
  for (const SimMap& each : gpu.maps) {
    sim::TensorMap map = each.map;
    map.address = map.address - buffers[each.buffer].region->base + on_gpu[each.buffer].address;
    const std::vector<std::byte> image = WW_TRY(device.encode_map(map));
    std::ranges::copy(image, params.begin() + gpu.params[each.param].offset);
  }
  return {};
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

Result<runtime::Launch> launch_of(const runtime::Device& device, const GpuLaunch& gpu,
                                  std::span<const SimBuffer> buffers,
                                  std::span<const GpuBuffer> on_gpu) {
  const sim::Launch& launch = gpu.launch;
  runtime::Launch out{.grid = dims_of(launch.grid), .block = dims_of(launch.block)};
  if (launch.cluster) out.cluster = dims_of(*launch.cluster);
  out.dynamic_shared = launch.dynamic_shared;
  out.is_cooperative = gpu.program.has_grid_barrier;
  std::vector<std::byte> params = launch.params;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (is_map(gpu, buffers[i].param)) continue;
    const std::size_t at = gpu.params[buffers[i].param].offset;
    std::memcpy(params.data() + at, &on_gpu[i].address, sizeof on_gpu[i].address);
  }
  WW_TRY_VOID(put_maps(device, gpu, buffers, on_gpu, params));
  out.arguments = values_of(*launch.kernel, params);
  return out;
}

using Results = std::vector<std::vector<std::byte>>;

Result<Results> run_once(runtime::Device& device, const GpuLaunch& gpu,
                         std::span<const SimBuffer> buffers, std::span<const GpuBuffer> on_gpu,
                         std::byte pattern) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::vector<std::byte> bytes = contents(*buffers[i].region, pattern);
    WW_TRY_VOID(on_gpu[i].texture != nullptr ? on_gpu[i].texture->upload(bytes)
                                             : device.upload(on_gpu[i].address, bytes));
  }
  WW_TRY_VOID(device.launch(WW_TRY(launch_of(device, gpu, buffers, on_gpu))));
  Results out;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    out.emplace_back(buffers[i].region->size);
    WW_TRY_VOID(on_gpu[i].texture != nullptr ? on_gpu[i].texture->download(out.back())
                                             : device.download(out.back(), on_gpu[i].address));
  }
  return out;
}

// Bytes that kept the pattern both times were not written.
void keep_results(sim::Region& region, std::span<const std::byte> first,
                  std::span<const std::byte> second) {
  std::copy(first.begin(), first.end(), region.data);
  if (region.undefined == nullptr) return;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const bool is_kept = first[i] == kFillPatterns[0] && second[i] == kFillPatterns[1];
    if (!is_kept) region.undefined[i] = 0;
  }
}

std::string hex_of(std::span<const std::byte> bytes) {
  std::string out = "0x";
  for (std::size_t i = bytes.size(); i-- > 0;)
    out += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  return out;
}

}  // namespace

Result<std::string> run_on_gpu(const GpuLaunch& gpu, std::span<SimBuffer> buffers) {
  const Result<runtime::CudaCalls> calls =
      gpu.driver != nullptr ? *gpu.driver : runtime::load_cuda_calls();
  if (!calls) return fail(calls.error());
  const auto device = WW_TRY(runtime::CudaDevice::open(*calls, gpu.program.target.arch));
  WW_TRY_VOID(device->load({.bytes = gpu.ptx, .kernel = gpu.launch.kernel->name}));
  std::vector<GpuBuffer> on_gpu;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    on_gpu.push_back(WW_TRY(place(*device, gpu, buffers, i)));
  std::array<Results, 2> runs;
  for (std::size_t i = 0; i < runs.size(); ++i)
    runs[i] = WW_TRY(run_once(*device, gpu, buffers, on_gpu, kFillPatterns[i]));
  for (std::size_t i = 0; i < buffers.size(); ++i)
    keep_results(*buffers[i].region, runs[0][i], runs[1][i]);
  return device->name();
}

MemoryState MemoryState::of(std::span<const SimBuffer> buffers) {
  MemoryState out;
  for (const SimBuffer& buffer : buffers) {
    const sim::Region& region = *buffer.region;
    Part& part = out.parts_.emplace_back();
    part.bytes.assign(region.data, region.data + region.size);
    if (region.undefined != nullptr)
      part.undefined.assign(region.undefined, region.undefined + region.size);
  }
  return out;
}

void MemoryState::put_back(std::span<SimBuffer> buffers) const {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const sim::Region& region = *buffers[i].region;
    std::ranges::copy(parts_[i].bytes, region.data);
    if (!parts_[i].undefined.empty()) std::ranges::copy(parts_[i].undefined, region.undefined);
  }
}

std::string difference_text(std::string_view name, num::DType dtype,
                            const std::vector<std::int64_t>& shape, const Contents& ours,
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

std::string first_difference(std::span<const SimBuffer> buffers, std::span<const sim::Param> params,
                             const MemoryState& ours, const MemoryState& theirs) {
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const SimBuffer& buffer = buffers[b];
    std::string text =
        difference_text(fmt::format("${} {}", buffer.param, params[buffer.param].name),
                        buffer.dtype, buffer.shape, ours.contents(b), theirs.contents(b));
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace ww::driver
