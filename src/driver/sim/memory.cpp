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

// Calls `visit(element, is_undefined)` for the elements from the first on, until it says no.
template <typename Visit>
void for_each_element(const SimBuffer& buffer, Visit&& visit) {
  const auto bits = static_cast<std::uint64_t>(num::storage_bits(buffer.dtype));
  const std::uint64_t count = buffer.region->size * 8 / bits;
  const std::uint64_t bytes = std::max<std::uint64_t>(1, bits / 8);
  const std::uint8_t* const undefined = buffer.region->undefined;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint8_t* const at = undefined + i * bits / 8;
    const bool is_undefined = std::any_of(at, at + bytes, [](std::uint8_t b) { return b != 0; });
    if (!visit(static_cast<std::int64_t>(i), is_undefined)) return;
  }
}

std::uint64_t element_bits(const SimBuffer& buffer, std::int64_t index) {
  const auto bits = static_cast<std::uint64_t>(num::storage_bits(buffer.dtype));
  const std::uint64_t at = static_cast<std::uint64_t>(index) * bits;
  std::uint64_t value = 0;
  std::memcpy(&value, buffer.region->data + at / 8, std::max<std::uint64_t>(1, bits / 8));
  if (bits < 8) value = (value >> (at % 8)) & ((std::uint64_t{1} << bits) - 1);
  return value;
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

Result<SimBuffer> place_buffer(sim::Device& device, const BufferUse& use, const SimArg& arg,
                               MemoryBudget& budget) {
  SimBuffer buffer{.param = use.param, .dtype = arg.type.dtype, .shape = arg.type.shape};
  const Piece value{arg.part(arg.value), arg.value.begin};
  Array array;
  std::int64_t bytes = 0;
  if (arg.kind == ArgKind::File) {
    array = WW_TRY(read_array(arg, budget));
    buffer.dtype = array.dtype;
    buffer.shape = array.shape;
    bytes = static_cast<std::int64_t>(array.data.size());
  } else {
    bytes = WW_TRY(located(byte_size(arg.type.dtype, arg.type.shape), value));
  }
  WW_TRY_VOID(located(budget.take(static_cast<std::uint64_t>(bytes)), value));
  if (arg.kind == ArgKind::Buffer && arg.fill.known) array = WW_TRY(filled(arg, use.param));
  buffer.is_output = arg.kind == ArgKind::Buffer && !arg.fill.known;
  buffer.region = &device.memory().allocate(static_cast<std::uint64_t>(bytes),
                                            std::max(kAlign, use.align), use.title);
  if (!buffer.is_output) sim::GlobalMemory::write(*buffer.region, array.data);
  return buffer;
}

Result<sim::TensorMap> argument_map(const SimArg& arg, const SimBuffer& buffer) {
  const Piece value{arg.part(arg.value), arg.value.begin};
  return located(make_tensor_map(*arg.map, buffer.dtype, buffer.shape, buffer.region->base), value);
}

Result<sim::Texture> argument_texture(const SimArg& arg, const SimBuffer& buffer) {
  const Piece value{arg.part(arg.value), arg.value.begin};
  return located(make_texture(*arg.texture, buffer.dtype, buffer.shape, buffer.region->base),
                 value);
}

Result<std::vector<std::byte>> param_value(sim::Device& device, const SimArg& arg,
                                           const SimBuffer* buffer) {
  if (arg.kind == ArgKind::Scalar) return arg.scalar.data;
  if (arg.kind == ArgKind::Bytes) return arg.bytes;
  if (arg.map) {
    const sim::TensorMapImage image = sim::encode(WW_TRY(argument_map(arg, *buffer)));
    return std::vector<std::byte>(image.begin(), image.end());
  }
  std::uint64_t bits = buffer != nullptr ? buffer->region->base : 0;
  if (arg.texture) bits = device.memory().textures().add(WW_TRY(argument_texture(arg, *buffer)));
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof bits>>(bits);
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Result<Array> read_buffer(const SimBuffer& buffer) {
  Array out = WW_TRY(Array::zeros(buffer.dtype, buffer.shape));
  if (!out.data.empty()) std::memcpy(out.data.data(), buffer.region->data, out.data.size());
  return out;
}

UndefinedElements undefined_elements(const SimBuffer& buffer) {
  UndefinedElements out;
  for_each_element(buffer, [&](std::int64_t index, bool is_undefined) {
    if (is_undefined && out.count++ == 0) out.first = index;
    return true;
  });
  const auto count = element_count(buffer.shape);
  out.count = std::min(out.count, count.value_or(0));  // a last half byte belongs to no element
  return out;
}

std::vector<bool> defined_elements(const SimBuffer& buffer) {
  std::vector<bool> out;
  const auto count = static_cast<std::size_t>(element_count(buffer.shape).value_or(0));
  out.reserve(count);
  if (count == 0) return out;
  for_each_element(buffer, [&](std::int64_t, bool is_undefined) {
    out.push_back(!is_undefined);
    return out.size() < count;
  });
  return out;
}

std::vector<std::string> first_elements(const SimBuffer& buffer, std::size_t most) {
  const auto count = static_cast<std::size_t>(element_count(buffer.shape).value_or(0));
  std::vector<std::string> out;
  if (std::min(most, count) == 0) return out;
  for_each_element(buffer, [&](std::int64_t index, bool is_undefined) {
    out.push_back(is_undefined ? "?" : element_text(buffer.dtype, element_bits(buffer, index)));
    return out.size() < std::min(most, count);
  });
  return out;
}

}  // namespace ww::driver
