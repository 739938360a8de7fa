// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "base/file_io.h"
#include "base/join.h"
#include "driver/args/array.h"
#include "driver/args/array_spec.h"
#include "driver/args/npy.h"
#include "driver/args/text.h"
#include "driver/launch/launch.h"
#include "driver/report_parts.h"
#include "sim/tensor_map/image.h"

namespace ww::driver {
namespace {

// What an .npy file may have before its data; version 1.0 allows 64 KiB.
constexpr std::uint64_t kMaxHeader = std::uint64_t{1} << 20U;
// As cudaMalloc has it, at least.
constexpr std::uint64_t kAlign = 256;

Result<Array> filled(const SimArg& arg, std::size_t param) {
  const Piece fill{arg.part(arg.fill), arg.fill.begin};
  return located(make_array(arg.type.dtype, arg.type.shape, fill.text, param), fill);
}

Result<Array> read_array(const SimArg& arg, const MemoryBudget& budget) {
  const Piece value{arg.part(arg.value), arg.value.begin};
  const std::uint64_t most = std::min(budget.left(), std::uint64_t{1} << 40U) + kMaxHeader;
  return located(read_npy(arg.path, most, arg.wanted), value);
}

}  // namespace

Result<void> MemoryBudget::take(std::uint64_t bytes) {
  if (bytes > left()) {
    return fail(diag(DiagKind::TooLarge,
                     "{} bytes take {} of simulated memory, and {} of {} bytes are left", bytes,
                     bytes * kCost, left_, limit_)
                    .with_note("`--limit memory=BYTES` allows more"));
  }
  left_ -= bytes * kCost;
  return {};
}

Result<void> place_value(sim::Device& device, LaunchValue& value, std::size_t number,
                         const SimArg& arg, const std::string& title, std::uint64_t align,
                         MemoryBudget& budget) {
  const Piece text{arg.part(arg.value), arg.value.begin};
  const num::DType dtype = arg.type.dtype;
  const bool is_file = arg.kind == ArgKind::File;
  if (is_file) value.array = WW_TRY(read_array(arg, budget));
  const std::int64_t bytes = is_file ? std::ssize(value.array.data)
                                     : WW_TRY(located(byte_size(dtype, arg.type.shape), text));
  WW_TRY_VOID(located(budget.take(static_cast<std::uint64_t>(bytes)), text));
  value.is_output = !is_file && !arg.fill.known;
  if (value.is_output) value.array = WW_TRY(located(Array::zeros(dtype, arg.type.shape), text));
  if (arg.fill.known) value.array = WW_TRY(filled(arg, number));
  value.region =
      &device.memory().allocate(static_cast<std::uint64_t>(bytes), std::max(kAlign, align), title);
  if (!value.is_output) sim::GlobalMemory::write(*value.region, value.array.data);
  return {};
}

Result<sim::TensorMap> argument_map(const SimArg& arg, const LaunchValue& value) {
  const Piece text{arg.part(arg.value), arg.value.begin};
  const Array& array = value.array;
  return located(make_tensor_map(*arg.map, array.dtype, array.shape, value.region->base), text);
}

Result<sim::Texture> argument_texture(const SimArg& arg, const LaunchValue& value) {
  const Piece text{arg.part(arg.value), arg.value.begin};
  const Array& array = value.array;
  return located(make_texture(*arg.texture, array.dtype, array.shape, value.region->base), text);
}

Result<std::vector<std::byte>> param_value(sim::Device& device, const SimArg& arg,
                                           const LaunchValue* value) {
  if (arg.kind == ArgKind::Scalar) return arg.scalar.data;
  if (arg.kind == ArgKind::Bytes) return arg.bytes;
  if (arg.map) {
    const sim::TensorMapImage image = sim::encode(WW_TRY(argument_map(arg, *value)));
    return std::vector<std::byte>(image.begin(), image.end());
  }
  std::uint64_t bits = value != nullptr ? value->region->base : 0;
  if (arg.texture) bits = device.memory().textures().add(WW_TRY(argument_texture(arg, *value)));
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof bits>>(bits);
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

void read_back(LaunchValue& value) {
  Array& array = value.array;
  std::copy_n(value.region->data, array.data.size(), array.data.begin());
  // Most often every byte has been written, which is one comparison of the marks with themselves.
  const std::uint8_t* const marks = value.region->undefined;
  const std::size_t bytes = array.data.size();
  value.written.clear();
  if (bytes == 0 || (marks[0] == 0 && std::memcmp(marks, marks + 1, bytes - 1) == 0)) return;
  const auto bits = static_cast<std::uint64_t>(num::storage_bits(array.dtype));
  value.written.resize(static_cast<std::size_t>(array.size()));
  for (std::size_t i = 0; i < value.written.size(); ++i) {
    const std::uint8_t* const at = marks + i * bits / 8;
    value.written[i] = std::all_of(at, at + std::max<std::uint64_t>(1, bits / 8),
                                   [](std::uint8_t each) { return each == 0; });
  }
}

// --- the same launch on a real GPU ---------------------------------------------------------------

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
