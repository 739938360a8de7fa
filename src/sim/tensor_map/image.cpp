// SPDX-License-Identifier: Apache-2.0
#include "sim/tensor_map/image.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace ww::sim {
namespace {

constexpr std::uint64_t kMagic = 0x5057'5454'524E'5357U;  // "WSNRTTWP"

// Which fields have been set: one bit for each, or for each dimension.
enum SetBits : std::uint32_t {
  kAddressSet = 1U << 0U,
  kRankSet = 1U << 1U,
  kTypeSet = 1U << 2U,
  kBoxSet = 1U << 3U,       // and four more
  kDimsSet = 1U << 8U,      // and four more
  kStridesSet = 1U << 13U,  // and three more
  kStepsSet = 1U << 17U,    // and four more
  kAllSet = (1U << 22U) - 1,
};

// The image, as a struct of plain bytes. Numbers less one, so that zeros are small maps.
struct Fields {
  std::uint64_t address = 0;
  std::uint64_t strides[kMaxTensorRank - 1] = {};
  std::uint32_t dims[kMaxTensorRank] = {};  // less one
  std::uint32_t is_set = 0;
  std::uint16_t box[kMaxTensorRank] = {};  // less one; of im2col channels and pixels
  std::int16_t lower[3] = {}, upper[3] = {};
  std::uint8_t steps[kMaxTensorRank] = {};  // less one
  std::uint8_t rank = 0;                    // less one
  std::uint8_t type = 0, interleave = 0, swizzle = 0, atomicity = 0, fill = 0, promotion = 0;
  std::uint8_t is_im2col = 0;
  std::uint8_t reserved[21] = {};
  std::uint64_t magic = 0;
};
static_assert(sizeof(Fields) == kTensorMapBytes);

Fields fields_of(std::span<const std::byte, kTensorMapBytes> image) {
  Fields fields;
  std::memcpy(&fields, image.data(), sizeof fields);
  return fields;
}

// A kernel may have written anything into the image.
bool is_map(const Fields& fields) {
  return fields.magic == kMagic && fields.rank < kMaxTensorRank &&
         fields.type < tensor_types().size() && fields.interleave <= 2 && fields.swizzle <= 3 &&
         fields.atomicity <= 3 && fields.fill <= 2 && fields.promotion <= 3;
}

Diag not_a_map() {
  return diag(DiagKind::BadArgument,
              "these 128 bytes are not a tensor map: neither the encoder nor `tensormap.replace` "
              "wrote them");
}

// Swizzle modes and atomicities of PTX, as one value.
void split_swizzle(TensorSwizzle swizzle, Fields& fields) {
  const auto code = static_cast<std::uint8_t>(swizzle);
  fields.swizzle = std::min<std::uint8_t>(code, 3);
  fields.atomicity = code > 3 ? static_cast<std::uint8_t>(code - 3) : 0;
}
TensorSwizzle join_swizzle(const Fields& fields) {
  return static_cast<TensorSwizzle>(fields.swizzle + (fields.swizzle == 3 ? fields.atomicity : 0));
}

Result<void> check_set(const Fields& fields) {
  const auto need = [&](std::uint32_t bit, std::string_view name) -> Result<void> {
    if ((fields.is_set & bit) != 0) return {};
    return fail(diag(DiagKind::BadArgument, "`{}` of the tensor map was never set", name));
  };
  const auto need_each = [&](std::uint32_t bit, unsigned count,
                             std::string_view name) -> Result<void> {
    for (unsigned d = 0; d < count; ++d) {
      if ((fields.is_set & (bit << d)) == 0)
        return fail(
            diag(DiagKind::BadArgument, "`{}` {} of the tensor map was never set", name, d));
    }
    return {};
  };
  WW_TRY_VOID(need(kAddressSet, "global_address"));
  WW_TRY_VOID(need(kRankSet, "rank"));
  WW_TRY_VOID(need(kTypeSet, "elemtype"));
  const unsigned rank = fields.rank + 1U;
  WW_TRY_VOID(need_each(kBoxSet, rank, "box_dim"));
  WW_TRY_VOID(need_each(kDimsSet, rank, "global_dim"));
  WW_TRY_VOID(need_each(kStridesSet, rank - 1, "global_stride"));
  return need_each(kStepsSet, rank, "element_stride");
}

Result<void> fits(std::string_view field, std::uint64_t value, std::uint64_t low,
                  std::uint64_t high) {
  if (value >= low && value <= high) return {};
  return fail(diag(DiagKind::BadArgument, "`{}` {} of a tensor map, expected {} to {}", field,
                   value, low, high));
}

}  // namespace

TensorMapImage encode(const TensorMap& map) {
  Fields fields;
  fields.address = map.address;
  std::ranges::copy(map.strides, fields.strides);
  for (unsigned d = 0; d < kMaxTensorRank; ++d) {
    fields.dims[d] = static_cast<std::uint32_t>(map.dims[d] - 1);
    fields.box[d] = static_cast<std::uint16_t>(map.box[d] - 1);
    fields.steps[d] = static_cast<std::uint8_t>(map.element_strides[d] - 1);
  }
  if (map.im2col) {
    fields.is_im2col = 1;
    fields.box[0] = static_cast<std::uint16_t>(map.im2col->channels - 1);
    fields.box[1] = static_cast<std::uint16_t>(map.im2col->pixels - 1);
    for (unsigned d = 0; d < 3; ++d) {
      fields.lower[d] = static_cast<std::int16_t>(map.im2col->lower[d]);
      fields.upper[d] = static_cast<std::int16_t>(map.im2col->upper[d]);
    }
  }
  fields.rank = static_cast<std::uint8_t>(map.rank - 1);
  fields.type = static_cast<std::uint8_t>(map.type);
  fields.interleave = static_cast<std::uint8_t>(map.interleave);
  split_swizzle(map.swizzle, fields);
  fields.fill = static_cast<std::uint8_t>(map.fill);
  fields.promotion = static_cast<std::uint8_t>(map.promotion);
  fields.is_set = kAllSet;
  fields.magic = kMagic;
  TensorMapImage image;
  std::memcpy(image.data(), &fields, sizeof fields);
  return image;
}

Result<TensorMap> decode(std::span<const std::byte, kTensorMapBytes> image) {
  const Fields fields = fields_of(image);
  if (!is_map(fields)) return fail(not_a_map());
  WW_TRY_VOID(check_set(fields));
  TensorMap map;
  map.type = static_cast<TensorType>(fields.type);
  map.rank = fields.rank + 1U;
  map.address = fields.address;
  std::ranges::copy(fields.strides, map.strides.begin());
  for (unsigned d = 0; d < map.rank; ++d) {
    map.dims[d] = std::uint64_t{fields.dims[d]} + 1;
    map.box[d] = fields.box[d] + 1U;
    map.element_strides[d] = fields.steps[d] + 1U;
  }
  map.interleave = static_cast<Interleave>(fields.interleave);
  map.swizzle = join_swizzle(fields);
  map.fill = static_cast<TensorFill>(fields.fill);
  map.promotion = static_cast<Promotion>(fields.promotion);
  if (fields.is_im2col != 0) {
    Im2col& columns = map.im2col.emplace();
    columns.channels = fields.box[0] + 1U;
    columns.pixels = fields.box[1] + 1U;
    std::ranges::copy(fields.lower, columns.lower.begin());
    std::ranges::copy(fields.upper, columns.upper.begin());
    map.box = {1, 1, 1, 1, 1};
  }
  WW_TRY_VOID(check_tensor_map(map));
  return map;
}

namespace {

Result<void> set_field(Fields& fields, MapField field, unsigned index, std::uint64_t value) {
  switch (field) {
    case MapField::GlobalAddress:
      fields.address = value;
      fields.is_set |= kAddressSet;
      return {};
    case MapField::Rank:
      WW_TRY_VOID(fits("rank", value, 0, kMaxTensorRank - 1));
      fields.rank = static_cast<std::uint8_t>(value);
      fields.is_set |= kRankSet;
      return {};
    case MapField::BoxDim:
      WW_TRY_VOID(fits("box_dim", value, 1, 256));
      fields.box[index] = static_cast<std::uint16_t>(value - 1);
      fields.is_set |= kBoxSet << index;
      return {};
    case MapField::GlobalDim:  // 0 stands for 2^32
      fields.dims[index] = static_cast<std::uint32_t>(value - 1);
      fields.is_set |= kDimsSet << index;
      return {};
    case MapField::GlobalStride:
      WW_TRY_VOID(fits("global_stride", index, 0, kMaxTensorRank - 2));
      fields.strides[index] = value;
      fields.is_set |= kStridesSet << index;
      return {};
    case MapField::ElementStride:
      WW_TRY_VOID(fits("element_stride", value, 1, 8));
      fields.steps[index] = static_cast<std::uint8_t>(value - 1);
      fields.is_set |= kStepsSet << index;
      return {};
    case MapField::ElementType: {
      const auto type = tensor_type_of_ptx(static_cast<unsigned>(value));
      if (!type) return fits("elemtype", value, 0, 15);
      fields.type = static_cast<std::uint8_t>(*type);
      fields.is_set |= kTypeSet;
      return {};
    }
    case MapField::InterleaveLayout:
      WW_TRY_VOID(fits("interleave_layout", value, 0, 2));
      fields.interleave = static_cast<std::uint8_t>(value);
      return {};
    case MapField::SwizzleMode:
      WW_TRY_VOID(fits("swizzle_mode", value, 0, 3));
      fields.swizzle = static_cast<std::uint8_t>(value);
      return {};
    case MapField::SwizzleAtomicity:
      WW_TRY_VOID(fits("swizzle_atomicity", value, 0, 3));
      fields.atomicity = static_cast<std::uint8_t>(value);
      return {};
    case MapField::FillMode:
      WW_TRY_VOID(fits("fill_mode", value, 0, 1));
      fields.fill = static_cast<std::uint8_t>(value);
      return {};
  }
  return {};
}

}  // namespace

Result<void> replace_field(std::span<std::byte, kTensorMapBytes> image, MapField field,
                           unsigned index, std::uint64_t value) {
  Fields fields = fields_of(image);
  const bool is_blank = std::ranges::all_of(image, [](std::byte b) { return b == std::byte{0}; });
  if (!is_blank && !is_map(fields)) return fail(not_a_map());
  fields.magic = kMagic;
  WW_TRY_VOID(set_field(fields, field, index, value));
  std::memcpy(image.data(), &fields, sizeof fields);
  return {};
}

}  // namespace ww::sim
