// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/matrix_descriptor.h"

#include <gtest/gtest.h>

#include <set>

namespace ww::sim {
namespace {

constexpr std::uint64_t bits_of(std::uint64_t start, std::uint64_t leading, std::uint64_t stride,
                                std::uint64_t base, std::uint64_t swizzle) {
  return start | leading << 16U | stride << 32U | base << 49U | swizzle << 62U;
}

// Start and base offset of a descriptor with the 128-byte swizzle and groups 1024 bytes apart, and
// where an H200 read the first element of the matrix.
struct Probe {
  std::uint64_t start, base;
  std::uint32_t first;
};
constexpr Probe kProbes[] = {{0, 1, 112},  {8, 1, 128},  {2, 1, 80},   {8, 7, 160}, {0, 2, 96},
                             {16, 2, 256}, {2, 2, 64},   {16, 6, 320}, {0, 3, 80},  {24, 3, 384},
                             {2, 3, 112},  {24, 5, 480}, {0, 0, 0},    {8, 0, 144}, {2, 0, 32}};

TEST(MatrixDescriptor, ReadsWhereADeviceReads) {
  for (const Probe& probe : kProbes) {
    const MatrixDescriptor k_major(bits_of(probe.start, 0, 64, probe.base, 1));
    EXPECT_EQ(k_major.k_major(0, 0), probe.first) << probe.start << ' ' << probe.base;
    const MatrixDescriptor mn_major(bits_of(probe.start, 128, 64, probe.base, 1));
    EXPECT_EQ(mn_major.mn_major(0, 0), probe.first) << probe.start << ' ' << probe.base;
  }
}

TEST(MatrixDescriptor, TakesItsFieldsApart) {
  const MatrixDescriptor d(bits_of(0x3FFF, 0x1234, 0x2ABC, 5, 2));
  EXPECT_EQ(d.start(), 0x3FFF0U);
  EXPECT_EQ(d.leading(), 0x12340U);
  EXPECT_EQ(d.stride(), 0x2ABC0U);
  EXPECT_EQ(d.base_offset(), 5U);
  EXPECT_EQ(d.width(), 64U);
  EXPECT_EQ(d.reserved(), 0U);
  EXPECT_EQ(MatrixDescriptor(~std::uint64_t{0}).reserved(), MatrixDescriptor::kReserved);
}

TEST(MatrixDescriptor, TakesFieldsOfTcgen05Apart) {
  struct Code {
    std::uint64_t code;
    std::uint32_t width, atom;
  };
  for (const Code& c : {Code{0, 16, 16}, {1, 128, 32}, {2, 128, 16}, {4, 64, 16}, {6, 32, 16}}) {
    const auto d = MatrixDescriptor::of_tcgen05(0x0012'0008'0004'0040U | c.code << 61U);
    EXPECT_EQ(d.width(), c.width);
    EXPECT_EQ(d.atom(), c.atom);
    EXPECT_EQ(d.start(), 0x400U);
    EXPECT_EQ(d.leading(), 0x40U);
    EXPECT_EQ(d.stride(), 0x80U);
    EXPECT_EQ(d.base_offset(), 1U);
    EXPECT_EQ(d.version(), 0U);
    EXPECT_TRUE(d.leads_by_address());
    EXPECT_EQ(d.reserved(), 0U);
  }
  EXPECT_EQ(MatrixDescriptor::of_tcgen05(~std::uint64_t{0}).version(), 7U);
  EXPECT_EQ(MatrixDescriptor::of_tcgen05(~std::uint64_t{0}).reserved(),
            MatrixDescriptor::kReservedTcgen05);
}

// Four rows of 128 bytes, in which pieces of 32 are exchanged.
TEST(MatrixDescriptor, ExchangesAtomsOf32Bytes) {
  const auto d = MatrixDescriptor::of_tcgen05(std::uint64_t{1} << 61U | std::uint64_t{32} << 32U);
  EXPECT_EQ(d.mn_major(0, 0), 0U);
  EXPECT_EQ(d.mn_major(0, 1), 128U + 32);
  EXPECT_EQ(d.mn_major(1, 1), 128U + 48);
  EXPECT_EQ(d.mn_major(6, 3), 384U);
  EXPECT_EQ(d.mn_major(2, 4), 512U + 32);
}

// A swizzle exchanges chunks: the chunks of a tile that is packed without gaps are all different,
// and fill it.
TEST(MatrixDescriptor, ChunksOfATileFillIt) {
  for (const std::uint64_t swizzle : {1U, 2U, 3U}) {
    const MatrixDescriptor shape(bits_of(0, 0, 0, 0, swizzle));
    const std::uint64_t stride = shape.width() / 2;  // 8 rows
    const MatrixDescriptor d(bits_of(64, 0, stride, 0, swizzle));
    std::set<std::uint32_t> k_major;
    std::set<std::uint32_t> mn_major;
    for (unsigned line = 0; line < 64; ++line) {
      for (unsigned chunk = 0; chunk < shape.width() / 16; ++chunk) {
        k_major.insert(d.k_major(line, chunk));
        mn_major.insert(d.mn_major(chunk, line));
      }
    }
    for (const std::set<std::uint32_t>& chunks : {k_major, mn_major}) {
      EXPECT_EQ(chunks.size(), 64 * shape.width() / 16);
      EXPECT_EQ(*chunks.begin(), 1024U);
      EXPECT_EQ(*chunks.rbegin(), 1024 + 64 * shape.width() - 16);
    }
  }
}

}  // namespace
}  // namespace ww::sim
