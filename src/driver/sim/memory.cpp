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
#include "driver/args/array_spec.h"
#include "driver/args/npy.h"
#include "driver/args/text.h"
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
  const auto bits = static_cast<std::uint64_t>(num::storage_bits(array.dtype));
  value.written.resize(static_cast<std::size_t>(array.size()));
  for (std::size_t i = 0; i < value.written.size(); ++i) {
    const std::uint8_t* const at = value.region->undefined + i * bits / 8;
    value.written[i] = std::all_of(at, at + std::max<std::uint64_t>(1, bits / 8),
                                   [](std::uint8_t each) { return each == 0; });
  }
}

}  // namespace ww::driver
