// SPDX-License-Identifier: Apache-2.0
// Copies, packing, byte permutation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "sim/ops/test_warp.h"

namespace ww::sim::ops_move_test {
namespace {

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

TEST(MoveOps, Copies) {
  const auto same = [](auto a) { return a; };
  for (const char* type : {"b16", "u16", "s16"}) {
    expect_lanes<U16, U16>(std::string("mov.") + type, same);
  }
  for (const char* type : {"b32", "u32", "s32", "f32"}) {
    expect_lanes<U32, U32>(std::string("mov.") + type, same);
  }
  for (const char* type : {"b64", "u64", "s64", "f64"}) {
    expect_lanes<U64, U64>(std::string("mov.") + type, same);
  }
}

TEST(MoveOps, CopiesConstants) {
  OpsUnderTest ops(
      "mov.b16 %h0, -2; mov.u32 %r0, 0xFFFFFFFF; mov.f32 %r1, 0f3F800000; mov.f64 %d0, 1.5;"
      "mov.s64 %d1, -3;");
  ASSERT_TRUE(ops.ok());
  ops.run();
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(ops.lanes<U16>("%h0")[l], 0xFFFE);
    EXPECT_EQ(ops.lanes<U32>("%r0")[l], 0xFFFFFFFFU);
    EXPECT_EQ(ops.lanes<float>("%r1")[l], 1.0F);
    EXPECT_EQ(ops.lanes<double>("%d0")[l], 1.5);
    EXPECT_EQ(ops.lanes<std::int64_t>("%d1")[l], -3);
  }
}

TEST(MoveOps, CopiesConstantsThatAreNoNumbers) {
  OpsUnderTest ops(
      "mov.f64 %d0, 0dFFF8000000000001; mov.b64 %d1, 0d7FF0000000000001;"
      "mov.f32 %r0, 0fFFC00001;");
  ASSERT_TRUE(ops.ok());
  ops.run();
  EXPECT_EQ(ops.lanes<U64>("%d0")[5], 0xFFF8'0000'0000'0001U);
  EXPECT_EQ(ops.lanes<U64>("%d1")[5], 0x7FF0'0000'0000'0001U);
  EXPECT_EQ(ops.lanes<U32>("%r0")[5], 0xFFC0'0001U);
}

TEST(MoveOps, CopiesPredicates) {
  OpsUnderTest ops("mov.pred %p0, %p1; mov.pred %p2, !%p1; mov.pred %p3, 1; mov.pred %p4, 0;");
  ASSERT_TRUE(ops.ok());
  ops.pred("%p1") = 0x1234'5678;
  ops.pred("%p4") = kAllLanes;
  ops.run(0x0000'FFFF);
  EXPECT_EQ(ops.pred("%p0"), 0x5678U);
  EXPECT_EQ(ops.pred("%p2"), 0xA987U);
  EXPECT_EQ(ops.pred("%p3"), 0xFFFFU);
  EXPECT_EQ(ops.pred("%p4"), 0xFFFF'0000U);
}

TEST(MoveOps, AddsTheStartOfLocalMemory) {
  OpsUnderTest ops(
      ".local .align 8 .b8 first[24]; .local .align 4 .b32 second;"
      "mov.u64 %d0, first; mov.u64 %d1, second; mov.u32 %r0, first+4;");
  ASSERT_TRUE(ops.ok());
  ops.warp.here.local = 0x400;
  ops.run();
  const U64 first = ops.lanes<U64>("%d0")[0];
  EXPECT_EQ(ops.lanes<U64>("%d1")[31], first + 24);
  EXPECT_EQ(ops.lanes<U32>("%r0")[9], static_cast<U32>(first) + 4);
  ops.warp.here.local = 0x500;
  ops.run(lane_bit(3));
  EXPECT_EQ(ops.lanes<U64>("%d0")[3], first + 0x100);
  EXPECT_EQ(ops.lanes<U64>("%d0")[4], first);
}

// Packs the parts into a register and takes it apart again, through memory.
template <typename Part>
void expect_packing(const std::string& type, const std::string& whole, unsigned parts) {
  SCOPED_TRACE(type);
  std::string list;
  std::string taken;
  for (unsigned i = 0; i < parts; ++i) {
    list += (i == 0 ? "{" : ", ") + register_name<Part>(i);
    taken += (i == 0 ? "{" : ", ") + register_name<Part>(i + 4);
  }
  OpsUnderTest ops("mov." + type + " " + whole + ", " + list + "}; mov." + type + " " + taken +
                   "}, " + whole + ";");
  ASSERT_TRUE(ops.ok());
  const unsigned bytes = parts * sizeof(Part);
  Numbers numbers;
  for (const Mask exec : {kAllLanes, Mask{0x00FF'00F1}}) {
    std::vector<std::vector<U8>> before;
    for (unsigned l = 0; l < kLanes; ++l) {
      const U8* const at = ops.lanes<U8>(whole) + l * bytes;
      before.emplace_back(at, at + bytes);
      for (unsigned i = 0; i < parts; ++i) {
        ops.lanes<Part>(register_name<Part>(i))[l] = numbers.next<Part>();
      }
    }
    ops.run(exec);
    for (unsigned l = 0; l < kLanes; ++l) {
      std::vector<U8> wanted = before[l];
      for (unsigned i = 0; i < parts && has_lane(exec, l); ++i) {
        const Part& part = ops.lanes<Part>(register_name<Part>(i))[l];
        std::memcpy(wanted.data() + i * sizeof(Part), &part, sizeof(Part));
        EXPECT_EQ(ops.lanes<Part>(register_name<Part>(i + 4))[l], part);
      }
      EXPECT_EQ(std::memcmp(ops.lanes<U8>(whole) + l * bytes, wanted.data(), bytes), 0);
    }
  }
}
TEST(MoveOps, PacksAndUnpacks) {
  expect_packing<U8>("b16", "%h0", 2);
  expect_packing<U16>("b32", "%r0", 2);
  expect_packing<U8>("b32", "%r0", 4);
  expect_packing<U32>("b64", "%d0", 2);
  expect_packing<U16>("b64", "%d0", 4);
  expect_packing<U64>("b128", "%q0", 2);
  expect_packing<U32>("b128", "%q0", 4);
}

TEST(MoveOps, DropsParts) {
  OpsUnderTest ops("mov.b64 {_, %r1}, %d0; mov.b32 {%h0, _}, %r1;");
  ASSERT_TRUE(ops.ok());
  for (unsigned l = 0; l < kLanes; ++l) ops.lanes<U64>("%d0")[l] = (U64{l} << 32U) + 7;
  ops.run();
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(ops.lanes<U32>("%r1")[l], l);
    EXPECT_EQ(ops.lanes<U16>("%h0")[l], l);
  }
}

// As an H200 does with what ptxas makes of it.
TEST(MoveOps, CutsAValueIntoParts) {
  OpsUnderTest ops(
      "mov.v4.b32 {%r0, %r1, %r2, %r3}, 0x04030201; mov.v4.f32 {%r4, %r5, %r6, %r7}, 0f3F800000;"
      "mov.v2.b64 {%d1, %d2}, %d0; mov.v2.f64 {%d3, %d4}, 1.5; mov.v2.b64 {_, %d5}, -1;");
  ASSERT_TRUE(ops.ok());
  for (unsigned l = 0; l < kLanes; ++l) ops.lanes<U64>("%d0")[l] = (U64{l} << 32U) + 7;
  ops.run();
  for (unsigned l = 0; l < kLanes; ++l) {
    const auto word = [&](const char* name) { return ops.lanes<U32>(name)[l]; };
    EXPECT_EQ((std::array{word("%r0"), word("%r1"), word("%r2"), word("%r3")}),
              (std::array{1U, 2U, 3U, 4U}));
    EXPECT_EQ((std::array{word("%r4"), word("%r5"), word("%r6"), word("%r7")}),
              (std::array{0U, 0U, 0x80U, 0x3FU}));
    const auto wide = [&](const char* name) { return ops.lanes<U64>(name)[l]; };
    EXPECT_EQ((std::array{wide("%d1"), wide("%d2")}), (std::array{U64{7}, U64{l}}));
    EXPECT_EQ((std::array{wide("%d3"), wide("%d4")}), (std::array{U64{0}, U64{0x3FF80000}}));
    EXPECT_EQ(wide("%d5"), 0xFFFFFFFFU);
  }
  OpsUnderTest over("mov.v2.b32 {%r0, %r1}, %r0;");  // a part goes where the whole was
  ASSERT_TRUE(over.ok());
  for (unsigned l = 0; l < kLanes; ++l) over.lanes<U32>("%r0")[l] = 0x80010000U + l;
  over.run();
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(over.lanes<U32>("%r0")[l], l);
    EXPECT_EQ(over.lanes<U32>("%r1")[l], 0x8001U);
  }
}

TEST(MoveOps, CopiesWide) {
  OpsUnderTest ops("mov.b128 %q0, %q1;");
  ASSERT_TRUE(ops.ok());
  for (unsigned l = 0; l < kLanes; ++l) ops.lanes<Wide>("%q1")[l] = {l, ~U64{l}};
  ops.run(0xFFFF'0000);
  EXPECT_EQ(ops.lanes<Wide>("%q0")[15], (Wide{0, 0}));
  EXPECT_EQ(ops.lanes<Wide>("%q0")[16], (Wide{16, ~U64{16}}));
}

// --- prmt ----------------------------------------------------------------------------------------

// Byte i of the result is byte `select(c, i)` of the pair b:a.
template <typename Select>
void expect_prmt(const std::string& opcode, Select select) {
  const auto expected = [=](U32 a, U32 b, U32 c) {
    const U64 pair = U64{b} << 32U | a;
    U32 result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned s = select(c, i);
      U32 byte = pair >> (8 * (s & 7U)) & 0xFFU;
      if (s >= 8) byte = byte >= 0x80 ? 0xFF : 0;
      result |= byte << (8 * i);
    }
    return result;
  };
  expect_lanes<U32, U32, U32, U32>(opcode, expected);
  for (const U32 c : {0x3210U, 0x0123U, 0x5410U, 0x7632U, 0xBA98U, 0xF8E1U, 1U, 2U, 0xFFFF6543U}) {
    expect_lanes<U32, U32, U32>(
        opcode, [&](U32 a, U32 b) { return expected(a, b, c); }, ", " + std::to_string(c));
  }
}
TEST(MoveOps, PermutesBytes) {
  expect_prmt("prmt.b32", [](U32 c, unsigned i) { return c >> (4 * i) & 15U; });
  expect_prmt("prmt.b32.f4e", [](U32 c, unsigned i) { return c % 4 + i; });
  expect_prmt("prmt.b32.b4e", [](U32 c, unsigned i) { return (c % 4 + 8 - i) % 8; });
  expect_prmt("prmt.b32.rc8", [](U32 c, unsigned) { return c % 4; });
  expect_prmt("prmt.b32.ecl", [](U32 c, unsigned i) { return std::max(c % 4, i); });
  expect_prmt("prmt.b32.ecr", [](U32 c, unsigned i) { return std::min(c % 4, i); });
  expect_prmt("prmt.b32.rc16", [](U32 c, unsigned i) { return c % 2 * 2 + i % 2; });
}

}  // namespace
}  // namespace ww::sim::ops_move_test
