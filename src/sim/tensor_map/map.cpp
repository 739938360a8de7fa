// SPDX-License-Identifier: Apache-2.0
#include "sim/tensor_map/map.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

namespace ww::sim {
namespace {

constexpr TensorTypeInfo kTensorTypes[] = {
#define WW_TENSOR_TYPE(id, name, bits, is_float, ptx_code) {name, bits, is_float, ptx_code},
#include "sim/tensor_map/types.def"
#undef WW_TENSOR_TYPE
};

constexpr std::string_view kInterleaves[] = {"none", "16B", "32B"};
constexpr std::string_view kSwizzles[] = {
    "none", "32B", "64B", "128B", "128B_atom_32B", "128B_atom_32B_flip_8B", "128B_atom_64B"};
constexpr std::string_view kFills[] = {"zero", "nan", "none"};
constexpr std::string_view kPromotions[] = {"none", "64B", "128B", "256B"};

constexpr std::uint64_t kMaxDim = std::uint64_t{1} << 32U;
constexpr std::uint64_t kMaxStride = (std::uint64_t{1} << 40U) - 1;
constexpr std::uint64_t kMaxBox = 256;
constexpr std::uint64_t kMaxStep = 8;
constexpr std::uint64_t kMaxChannels = 256;
constexpr std::uint64_t kMaxPixels = 1024;
constexpr std::uint64_t kMaxBoxBytes = 228 * 1024;  // all shared memory of an SM
constexpr std::uint64_t kPaddedRow = 128;           // elements

// What addresses and strides are multiples of.
std::uint64_t align_of(const TensorMap& map) {
  return map.interleave == Interleave::Slices32 || is_padded(map.type) ? 32 : 16;
}

std::string numbered(std::string_view name, std::size_t i) {
  return fmt::format("{}[{}]", name, i);
}

Result<void> in_range(const std::string& name, std::uint64_t value, std::uint64_t low,
                      std::uint64_t high) {
  if (value >= low && value <= high) return {};
  return fail(diag(DiagKind::BadArgument, "`{}` is {}, expected {} to {}", name, value, low, high));
}

Result<void> multiple_of(const std::string& name, std::uint64_t value, std::uint64_t unit) {
  if (value % unit == 0) return {};
  return fail(
      diag(DiagKind::BadArgument, "`{}` is {}, expected a multiple of {}", name, value, unit));
}

Result<void> check_rank(const TensorMap& map) {
  const bool is_thick = map.im2col.has_value() || map.interleave != Interleave::None;
  if (map.rank >= (is_thick ? 3 : 1) && map.rank <= kMaxTensorRank) return {};
  return fail(diag(DiagKind::BadArgument, "the tensor has {} dimensions, expected {} to {}{}",
                   map.rank, is_thick ? 3 : 1, kMaxTensorRank,
                   map.im2col ? " for im2col"
                   : is_thick ? " with interleaved channels"
                              : ""));
}

Result<void> check_tensor(const TensorMap& map) {
  const std::uint64_t unit = align_of(map);
  if (map.address % unit != 0)
    return fail(diag(DiagKind::BadArgument, "the tensor is at 0x{:x}, expected a multiple of {}",
                     map.address, unit));
  for (unsigned d = 0; d < map.rank; ++d)
    WW_TRY_VOID(in_range(numbered("dims", d), map.dims[d], 1, kMaxDim));
  if (is_padded(map.type)) WW_TRY_VOID(multiple_of("dims[0]", map.dims[0], kPaddedRow));
  if (map.type == TensorType::B4x16) WW_TRY_VOID(multiple_of("dims[0]", map.dims[0], 2));
  for (unsigned d = 0; d + 1 < map.rank; ++d) {
    WW_TRY_VOID(multiple_of(numbered("strides", d), map.strides[d], unit));
    WW_TRY_VOID(in_range(numbered("strides", d), map.strides[d], 0, kMaxStride));
  }
  return {};
}

// The bytes of a row of the box, of which `name` gives the elements.
Result<void> check_row(const TensorMap& map, const std::string& name, std::uint64_t elements) {
  const std::uint64_t bytes = elements * info(map.type).bits / 8;
  if (is_padded(map.type) && elements != kPaddedRow)
    return fail(diag(DiagKind::BadArgument, "`{}` is {}, expected {} of {}", name, elements,
                     kPaddedRow, info(map.type).name));
  if (bytes % 16 != 0)
    return fail(diag(DiagKind::BadArgument,
                     "`{}` is {}, which makes rows of {} bytes, expected a multiple of 16", name,
                     elements, bytes));
  const unsigned most = swizzle_bytes(map.swizzle);
  if (most == 0 || bytes <= most || map.interleave != Interleave::None) return {};
  return fail(diag(DiagKind::BadArgument,
                   "`{}` is {}, which makes rows of {} bytes, expected {} at most with the swizzle "
                   "{}",
                   name, elements, bytes, most, kSwizzles[static_cast<std::size_t>(map.swizzle)]));
}

Result<void> fits_shared(std::uint64_t bytes) {
  if (bytes <= kMaxBoxBytes) return {};
  return fail(
      diag(DiagKind::BadArgument, "a box has {} bytes, and shared memory {}", bytes, kMaxBoxBytes));
}

Result<void> check_box(const TensorMap& map) {
  std::uint64_t bits = info(map.type).bits;
  for (unsigned d = 0; d < map.rank; ++d) {
    WW_TRY_VOID(in_range(numbered("box", d), map.box[d], 1, kMaxBox));
    WW_TRY_VOID(in_range(numbered("element_strides", d), map.element_strides[d], 1, kMaxStep));
    bits *= map.box[d] / map.element_strides[d];  // as the driver estimates it
  }
  WW_TRY_VOID(check_row(map, "box[0]", map.box[0]));
  return fits_shared(bits / 8);
}

Result<void> check_columns(const TensorMap& map) {
  const Im2col& columns = *map.im2col;
  constexpr std::int64_t kMaxEnd = std::numeric_limits<std::int32_t>::max();
  const std::int32_t reach = map.rank == 3 ? 32768 : map.rank == 4 ? 128 : 16;
  for (unsigned d = 0; d + 2 < map.rank; ++d) {
    for (const auto& [name, value] :
         {std::pair{"lower", columns.lower[d]}, std::pair{"upper", columns.upper[d]}}) {
      if (value >= -reach && value < reach) continue;
      return fail(diag(DiagKind::BadArgument,
                       "`{}` is {}, expected {} to {} in a tensor of {} dimensions",
                       numbered(name, d), value, -reach, reach - 1, map.rank));
    }
    const std::int64_t end = static_cast<std::int64_t>(map.dims[d + 1]) + columns.upper[d];
    if (end > kMaxEnd)
      return fail(diag(DiagKind::BadArgument,
                       "the box of pixels ends at {} in dimension {}, expected {} at most", end,
                       d + 1, kMaxEnd));
    if (end <= columns.lower[d])
      return fail(diag(DiagKind::BadArgument,
                       "the box of pixels is empty in dimension {}: it has {} pixels, `lower` is "
                       "{}, `upper` is {}",
                       d + 1, map.dims[d + 1], columns.lower[d], columns.upper[d]));
  }
  WW_TRY_VOID(in_range("channels", columns.channels, 1, kMaxChannels));
  WW_TRY_VOID(in_range("pixels", columns.pixels, 1, kMaxPixels));
  WW_TRY_VOID(check_row(map, "channels", columns.channels));
  for (unsigned d = 0; d < map.rank; ++d)
    WW_TRY_VOID(in_range(numbered("element_strides", d), map.element_strides[d], 1, kMaxStep));
  return fits_shared(std::uint64_t{columns.channels} * columns.pixels * info(map.type).bits / 8);
}

// The swizzles that keep the 16 bytes of sixteen padded elements together.
Result<void> check_padded(const TensorMap& map) {
  const std::string_view type = info(map.type).name;
  if (map.type == TensorType::B6x16P32 && map.interleave != Interleave::None)
    return fail(diag(DiagKind::BadArgument, "elements of {} interleaved by {}, expected none", type,
                     kInterleaves[static_cast<std::size_t>(map.interleave)]));
  const bool is_known = map.swizzle == TensorSwizzle::None || map.swizzle == TensorSwizzle::B128 ||
                        map.swizzle == TensorSwizzle::Atom32 ||
                        (map.swizzle == TensorSwizzle::Atom64 && map.type == TensorType::B6x16P32);
  if (is_known) return {};
  return fail(diag(DiagKind::BadArgument,
                   "elements of {} with the swizzle {}, expected none, 128B or 128B_atom_32B{}",
                   type, kSwizzles[static_cast<std::size_t>(map.swizzle)],
                   map.type == TensorType::B6x16P32 ? ", or 128B_atom_64B for stores" : ""));
}

Result<void> check_modes(const TensorMap& map) {
  if (is_padded(map.type)) WW_TRY_VOID(check_padded(map));
  if (map.interleave == Interleave::Slices32 && map.swizzle != TensorSwizzle::B32)
    return fail(diag(DiagKind::BadArgument, "interleaved by 32B with the swizzle {}, expected 32B",
                     kSwizzles[static_cast<std::size_t>(map.swizzle)]));
  if (map.fill == TensorFill::Nan && !info(map.type).is_float)
    return fail(diag(DiagKind::BadArgument, "fill `nan` for elements of {}, expected a float type",
                     info(map.type).name));
  return {};
}

}  // namespace

const TensorTypeInfo& info(TensorType type) { return kTensorTypes[static_cast<std::size_t>(type)]; }
std::span<const TensorTypeInfo> tensor_types() { return kTensorTypes; }

bool is_padded(TensorType type) {
  return type == TensorType::B4x16P64 || type == TensorType::B6x16P32;
}

std::optional<TensorType> tensor_type_of_ptx(unsigned ptx_code) {
  const auto* found = std::ranges::find(kTensorTypes, ptx_code, &TensorTypeInfo::ptx_code);
  if (found == std::end(kTensorTypes)) return {};
  return static_cast<TensorType>(found - std::begin(kTensorTypes));
}

std::span<const std::string_view> words_of(Interleave) { return kInterleaves; }
std::span<const std::string_view> words_of(TensorSwizzle) { return kSwizzles; }
std::span<const std::string_view> words_of(TensorFill) { return kFills; }
std::span<const std::string_view> words_of(Promotion) { return kPromotions; }

unsigned swizzle_bytes(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::None:
      return 0;
    case TensorSwizzle::B32:
      return 32;
    case TensorSwizzle::B64:
      return 64;
    default:
      return 128;
  }
}

unsigned unit_bytes(const TensorMap& map) {
  switch (map.interleave) {
    case Interleave::None:
      return info(map.type).bits / 8;
    case Interleave::Slices16:
      return 16;
    case Interleave::Slices32:
      return 32;
  }
  return 0;
}

std::uint64_t bytes_of(const TensorMap& map, std::uint64_t elements) {
  const bool is_whole = map.interleave != Interleave::None || !is_packed(map.type);
  return is_whole ? elements * unit_bytes(map) : elements * info(map.type).bits / 8;
}

Result<void> check_tensor_map(const TensorMap& map) {
  WW_TRY_VOID(check_rank(map));
  WW_TRY_VOID(check_tensor(map));
  WW_TRY_VOID(map.im2col ? check_columns(map) : check_box(map));
  return check_modes(map);
}

}  // namespace ww::sim
