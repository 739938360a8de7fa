// SPDX-License-Identifier: Apache-2.0
#include "sim/tensor_map/map.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/tensor_map/image.h"

namespace ww::sim::tensor_map_test {
namespace {

TensorMap plain() {
  TensorMap map;
  map.type = TensorType::F16;
  map.rank = 3;
  map.address = 0x1000;
  map.dims = {64, 32, 8, 1, 1};
  map.strides = {128, 4096, 0, 0};
  map.box = {32, 8, 2, 1, 1};
  return map;
}
TensorMap columns() {
  TensorMap map = plain();
  map.box = {1, 1, 1, 1, 1};
  map.im2col = Im2col{.lower = {-1, 0, 0}, .upper = {1, 0, 0}, .channels = 16, .pixels = 64};
  return map;
}

std::string refusal(const TensorMap& map) {
  const auto checked = check_tensor_map(map);
  return checked ? "" : checked.error().text;
}

TEST(TensorMaps, LimitsOfTheDriver) {
  EXPECT_EQ(refusal(plain()), "");
  EXPECT_EQ(refusal(columns()), "");
  const std::vector<std::pair<std::function<void(TensorMap&)>, std::string>> kCases = {
      {[](TensorMap& m) { m.rank = 6; }, "the tensor has 6 dimensions, expected 1 to 5"},
      {[](TensorMap& m) { m.rank = 2, m.interleave = Interleave::Slices16; },
       "the tensor has 2 dimensions, expected 3 to 5 with interleaved channels"},
      {[](TensorMap& m) { m.address = 0x1008; },
       "the tensor is at 0x1008, expected a multiple of 16"},
      {[](TensorMap& m) { m.dims[1] = 0; }, "`dims[1]` is 0, expected 1 to 4294967296"},
      {[](TensorMap& m) { m.strides[1] = 4104; },
       "`strides[1]` is 4104, expected a multiple of 16"},
      {[](TensorMap& m) { m.strides[0] = std::uint64_t{1} << 40U; },
       "`strides[0]` is 1099511627776, expected 0 to 1099511627775"},
      {[](TensorMap& m) { m.box[1] = 257; }, "`box[1]` is 257, expected 1 to 256"},
      {[](TensorMap& m) { m.box[0] = 4; },
       "`box[0]` is 4, which makes rows of 8 bytes, expected a multiple of 16"},
      {[](TensorMap& m) { m.swizzle = TensorSwizzle::B32; },
       "`box[0]` is 32, which makes rows of 64 bytes, expected 32 at most with the swizzle 32B"},
      {[](TensorMap& m) {
         m.box = {256, 256, 2, 1, 1};
       },
       "a box has 262144 bytes, and shared memory 233472"},
      {[](TensorMap& m) { m.element_strides[2] = 9; },
       "`element_strides[2]` is 9, expected 1 to 8"},
      {[](TensorMap& m) { m.interleave = Interleave::Slices32; },
       "interleaved by 32B with the swizzle none, expected 32B"},
      {[](TensorMap& m) { m.type = TensorType::U16, m.fill = TensorFill::Nan; },
       "fill `nan` for elements of uint16, expected a float type"},
  };
  for (const auto& [change, text] : kCases) {
    TensorMap map = plain();
    change(map);
    EXPECT_EQ(refusal(map), text);
  }
}

TensorMap packed(TensorType type) {
  TensorMap map = plain();
  map.type = type;
  map.dims[0] = 256;
  map.strides = {256, 8192, 0, 0};
  map.box[0] = 128;
  return map;
}

TEST(TensorMaps, LimitsOfPackedElements) {
  constexpr TensorType kB4 = TensorType::B4x16, kP64 = TensorType::B4x16P64,
                       kP32 = TensorType::B6x16P32;
  struct Row {
    TensorType type;
    std::function<void(TensorMap&)> change;
    std::string text;
  };
  const std::vector<Row> kCases = {
      {kB4, [](TensorMap& m) { m.dims[0] = 98, m.box[0] = 32; }, ""},
      {kB4, [](TensorMap& m) { m.dims[0] = 97; }, "`dims[0]` is 97, expected a multiple of 2"},
      {kB4, [](TensorMap& m) { m.box[0] = 16; },
       "`box[0]` is 16, which makes rows of 8 bytes, expected a multiple of 16"},
      {kB4, [](TensorMap& m) { m.swizzle = TensorSwizzle::B32; },
       "`box[0]` is 128, which makes rows of 64 bytes, expected 32 at most with the swizzle 32B"},
      {kB4, [](TensorMap& m) { m.swizzle = TensorSwizzle::B64; }, ""},
      {kB4, [](TensorMap& m) { m.fill = TensorFill::Nan; },
       "fill `nan` for elements of b4x16, expected a float type"},
      {kP64, [](TensorMap& m) { m.address = 0x1010; },
       "the tensor is at 0x1010, expected a multiple of 32"},
      {kP64, [](TensorMap& m) { m.dims[0] = 192; }, "`dims[0]` is 192, expected a multiple of 128"},
      {kP64, [](TensorMap& m) { m.strides[0] = 272; },
       "`strides[0]` is 272, expected a multiple of 32"},
      {kP64, [](TensorMap& m) { m.box[0] = 64; }, "`box[0]` is 64, expected 128 of b4x16_p64"},
      {kP64, [](TensorMap& m) { m.swizzle = TensorSwizzle::B64; },
       "elements of b4x16_p64 with the swizzle 64B, expected none, 128B or 128B_atom_32B"},
      {kP64, [](TensorMap& m) { m.swizzle = TensorSwizzle::Atom64; },
       "elements of b4x16_p64 with the swizzle 128B_atom_64B, expected none, 128B or "
       "128B_atom_32B"},
      {kP32, [](TensorMap& m) { m.swizzle = TensorSwizzle::Atom64; }, ""},
      {kP32, [](TensorMap& m) { m.swizzle = TensorSwizzle::Atom32Flip; },
       "elements of b6x16_p32 with the swizzle 128B_atom_32B_flip_8B, expected none, 128B or "
       "128B_atom_32B, or 128B_atom_64B for stores"},
      {kP32, [](TensorMap& m) { m.interleave = Interleave::Slices16; },
       "elements of b6x16_p32 interleaved by 16B, expected none"},
      {kP32, [](TensorMap& m) { m.im2col = Im2col{.channels = 64, .pixels = 8}; },
       "`channels` is 64, expected 128 of b6x16_p32"},
  };
  for (const TensorType type : {kB4, kP64, kP32}) EXPECT_EQ(refusal(packed(type)), "");
  for (const auto& [type, change, text] : kCases) {
    TensorMap map = packed(type);
    change(map);
    EXPECT_EQ(refusal(map), text);
  }
}

TEST(TensorMaps, LimitsOfColumns) {
  const std::vector<std::pair<std::function<void(TensorMap&)>, std::string>> kCases = {
      {[](TensorMap& m) { m.rank = 2; }, "the tensor has 2 dimensions, expected 3 to 5 for im2col"},
      {[](TensorMap& m) { m.rank = 4, m.strides[2] = 32768, m.im2col->lower[1] = -129; },
       "`lower[1]` is -129, expected -128 to 127 in a tensor of 4 dimensions"},
      {[](TensorMap& m) { m.im2col->lower[0] = 40; },
       "the box of pixels is empty in dimension 1: it has 32 pixels, `lower` is 40, `upper` is 1"},
      {[](TensorMap& m) { m.dims[1] = 0x7FFF'FFFF; },
       "the box of pixels ends at 2147483648 in dimension 1, expected 2147483647 at most"},
      {[](TensorMap& m) { m.im2col->channels = 257; }, "`channels` is 257, expected 1 to 256"},
      {[](TensorMap& m) { m.im2col->pixels = 1025; }, "`pixels` is 1025, expected 1 to 1024"},
  };
  for (const auto& [change, text] : kCases) {
    TensorMap map = columns();
    change(map);
    EXPECT_EQ(refusal(map), text);
  }
}

TEST(TensorMaps, ImagesComeBack) {
  TensorMap full = plain();
  full.swizzle = TensorSwizzle::B64;
  full.fill = TensorFill::Nan;
  full.promotion = Promotion::B256;
  full.element_strides = {1, 2, 8, 1, 1};
  full.dims[2] = std::uint64_t{1} << 32U;
  for (const TensorMap& map : {plain(), columns(), full, packed(TensorType::B6x16P32)}) {
    const auto back = decode(encode(map));
    ASSERT_TRUE(back) << back.error().text;
    EXPECT_EQ(*back, map);
  }
}

TEST(TensorMaps, BytesThatAreNoMap) {
  TensorMapImage image = encode(plain());
  image[127] ^= std::byte{1};
  const auto back = decode(image);
  ASSERT_FALSE(back);
  EXPECT_NE(back.error().text.find("these 128 bytes are not a tensor map"), std::string::npos);
  EXPECT_FALSE(replace_field(image, MapField::Rank, 0, 1));
  // Any byte may have been overwritten: a map whose values have names, or none.
  const auto is_named = [](auto value) {
    return static_cast<std::size_t>(value) < words_of(value).size();
  };
  for (const TensorMap& whole : {plain(), columns()})
    for (std::size_t i = 0; i < kTensorMapBytes; ++i)
      for (unsigned value = 0; value < 256; ++value) {
        TensorMapImage changed = encode(whole);
        changed[i] = static_cast<std::byte>(value);
        const auto map = decode(changed);
        if (!map) continue;
        EXPECT_EQ(refusal(*map), "") << i;
        EXPECT_TRUE(is_named(map->interleave) && is_named(map->swizzle) && is_named(map->fill) &&
                    is_named(map->promotion))
            << "byte " << i << " is " << value;
      }
}

// A map that is filled in on the device equals that of the encoder.
TEST(TensorMaps, FieldByField) {
  TensorMapImage image{};
  const TensorMap map = plain();
  const auto set = [&](MapField field, unsigned index, std::uint64_t value) {
    const auto done = replace_field(image, field, index, value);
    EXPECT_TRUE(done) << done.error().text;
  };
  set(MapField::GlobalAddress, 0, map.address);
  set(MapField::Rank, 0, map.rank - 1);
  set(MapField::ElementType, 0, info(map.type).ptx_code);
  for (unsigned d = 0; d < map.rank; ++d) {
    set(MapField::BoxDim, d, map.box[d]);
    set(MapField::GlobalDim, d, map.dims[d]);
    set(MapField::ElementStride, d, map.element_strides[d]);
    if (d + 1 < map.rank) set(MapField::GlobalStride, d, map.strides[d]);
  }
  const auto back = decode(image);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, map);
  EXPECT_FALSE(replace_field(image, MapField::BoxDim, 0, 257));
  EXPECT_FALSE(replace_field(image, MapField::SwizzleMode, 0, 4));
}

// PTX numbers three of the types otherwise than the driver does.
TEST(TensorMaps, CodesOfTypes) {
  EXPECT_EQ(tensor_type_of_ptx(8), TensorType::F32Ftz);
  EXPECT_EQ(tensor_type_of_ptx(9), TensorType::F64);
  EXPECT_EQ(tensor_type_of_ptx(10), TensorType::Bf16);
  EXPECT_EQ(static_cast<unsigned>(TensorType::F64), 8U);
  EXPECT_EQ(tensor_type_of_ptx(16), std::nullopt);
}

}  // namespace
}  // namespace ww::sim::tensor_map_test
