// SPDX-License-Identifier: Apache-2.0
// Tensor copies of packed elements, of 4 and 6 bits, as the manuals have them for sm_100: which bytes
// they move, how padded ones lie in shared memory, what is counted, and what is refused.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "sim/ops/test_async.h"
#include "sim/ops/test_shared_tiles.h"
#include "sim/tensor_map/image.h"

namespace ww::sim::ops_packed_copy_test {
namespace {

constexpr std::uint32_t kStride = 192, kRows = 8;  // bytes of a row, rows
constexpr std::uint32_t kBoxBytes = 512;           // of shared memory that a test looks at
constexpr Grid kBlackwell{.target = "sm_100a"};

using ByteList = std::vector<std::uint8_t>;

TensorMap map_of(TensorType type, TensorSwizzle swizzle = TensorSwizzle::None) {
  TensorMap map;
  map.type = type;
  map.rank = 2;
  map.dims = {256, kRows, 1, 1, 1};
  map.strides = {kStride, 0, 0, 0};
  map.box = {128, 4, 1, 1, 1};
  map.swizzle = swizzle;
  return map;
}

std::uint8_t tensor_byte(std::uint32_t i) { return static_cast<std::uint8_t>(i * 37 + i / 192); }
std::uint8_t shared_byte(std::uint32_t i) { return static_cast<std::uint8_t>(i * 29 + i / 7); }

struct Ran {
  std::string findings, reason;
  ByteList tensor, out, undefined;  // `undefined` says which bytes of `out` are
};

// %a0 the tensor, %a1 its map, %a2 the output, %a3 what shared memory holds first; %p1: one thread.
Ran run(const TensorMap& map_for_base_0, std::string_view body, const Grid& grid = kBlackwell) {
  const std::string prelude =
      ".shared .align 1024 .b8 cells[4096]; .shared .align 8 .b64 bar[8];\n"
      "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, cells; add.u32 %r4, %r3, %r2;"
      "cvt.u64.u32 %d1, %r2; add.u64 %d2, %d1, %a2; add.u64 %d3, %d1, %a3;"
      "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1;"
      "fence.mbarrier_init.release.cluster; bar.sync 0;\n";
  TestRun test(kernel_text(prelude + with_waits(body), 4, grid.target, grid.version));
  if (!test.errors().empty()) return {test.errors(), "", {}, {}, {}};
  ByteList tensor(kStride * kRows), shared(kBoxBytes);
  for (std::uint32_t i = 0; i < tensor.size(); ++i) tensor[i] = tensor_byte(i);
  for (std::uint32_t i = 0; i < shared.size(); ++i) shared[i] = shared_byte(i);
  test.input(tensor);
  TensorMap map = map_for_base_0;
  map.address += test.buffer(0).base;
  const TensorMapImage image = encode(map);
  test.input(std::vector<std::byte>(image.begin(), image.end()));
  test.output<std::uint8_t>(kBoxBytes);
  test.input(shared);
  test.launch.block = {32};
  test.options.limits.instructions = 100'000;
  test.options.checks.undefined_early = true;  // gaps go to the output
  const LaunchReport& report = test.run();
  EXPECT_EQ(test.refusal(), "");
  const Region& out = test.buffer(2);
  return {test.findings(), report.reason, test.read<std::uint8_t>(0), test.read<std::uint8_t>(2),
          ByteList(out.undefined, out.undefined + kBoxBytes)};
}

std::string expecting(unsigned bytes) {
  return fmt::format("@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {};\n", bytes);
}
std::string load(std::string_view at, std::string_view space = "cluster") {
  return fmt::format(
      "@%p1 cp.async.bulk.tensor.2d.shared::{}.global.tile.mbarrier::complete_tx::bytes [cells], "
      "[%a1, {}], [bar];\n",
      space, at);
}
const std::string kShow =
    "WAIT(0, 0); ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4];"
    "st.global.v4.u32 [%d2], {%r10, %r11, %r12, %r13};\n";
const std::string kStore =
    "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d3]; st.shared.v4.u32 [%r4], {%r10, %r11, %r12, "
    "%r13}; fence.proxy.async.shared::cta; bar.sync 0;\n"
    "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%a1, {128, 2}], [cells];\n"
    "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;\n";

Ran expect_clean(const TensorMap& map, std::string_view body, const Grid& grid = kBlackwell) {
  Ran ran = run(map, body, grid);
  EXPECT_EQ(ran.findings + ran.reason, "") << body;
  return ran;
}
void expect_trap(const TensorMap& map, std::string_view text, std::string_view body,
                 const Grid& grid = kBlackwell) {
  const Ran ran = run(map, body, grid);
  EXPECT_TRUE(ran.reason.contains(text)) << "`" << text << "` is not in `" << ran.reason << "`\n"
                                         << ran.findings;
}

// --- loads ---------------------------------------------------------------------------------------

TEST(PackedCopy, FourBitElementsAreCopiedAsTheyAre) {
  const Ran ran =
      expect_clean(map_of(TensorType::B4x16), expecting(4 * 64) + load("{32, 2}") + kShow);
  for (std::uint32_t i = 0; i < 4 * 64; ++i)
    EXPECT_EQ(ran.out[i], tensor_byte((2 + i / 64) * kStride + 16 + i % 64)) << i;
}

TEST(PackedCopy, RowsEndInTheMiddleOfAChunk) {
  TensorMap map = map_of(TensorType::B4x16);
  map.dims[0] = 70;
  const Ran ran = expect_clean(map, expecting(4 * 64) + load("{32, 6}") + kShow);
  for (std::uint32_t i = 0; i < 4 * 64; ++i) {
    const bool is_inside = i / 64 < 2 && i % 64 < 35 - 16;
    EXPECT_EQ(ran.out[i], is_inside ? tensor_byte((6 + i / 64) * kStride + 16 + i % 64) : 0) << i;
  }
}

// Sixteen elements take 16 bytes; what is behind them there is undefined, and not counted.
void expect_spread(TensorType type, unsigned group, TensorSwizzle swizzle, unsigned atom) {
  const Ran ran =
      expect_clean(map_of(type, swizzle), expecting(4 * 8 * group) + load("{128, 6}") + kShow);
  for (std::uint32_t i = 0; i < 4 * 128; ++i) {
    const std::uint32_t row = i / 128, chunk = i / 16 % 8 ^ (row * atom & 7U);
    const std::uint32_t at = (6 + row) * kStride + 8 * group + chunk * group + i % 16;
    EXPECT_EQ(ran.undefined[i] != 0, i % 16 >= group) << i;
    if (i % 16 < group) {
      EXPECT_EQ(ran.out[i], row < 2 ? tensor_byte(at) : 0) << i;
    }
  }
}

TEST(PackedCopy, PaddedElementsAreSpread) {
  for (const auto& [type, group] :
       {std::pair{TensorType::B4x16P64, 8U}, std::pair{TensorType::B6x16P32, 12U}}) {
    expect_spread(type, group, TensorSwizzle::None, 0);
    expect_spread(type, group, TensorSwizzle::B128, 1);
    expect_spread(type, group, TensorSwizzle::Atom32, 2);
  }
}

// A tile of `tcgen05.mma` with elements of 4 or 6 bits in bytes.
TEST(PackedCopy, LiesWhereTensorProductsReadIt) {
  for (const auto& [type, bits] :
       {std::pair{TensorType::B4x16P64, 4U}, std::pair{TensorType::B6x16P32, 6U}}) {
    const Ran ran = expect_clean(map_of(type, TensorSwizzle::B128),
                                 expecting(4 * 16 * bits) + load("{0, 0}") + kShow);
    tcgen05_mma_test::Elements lines(4, std::vector<std::uint32_t>(128));
    for (std::uint32_t row = 0; row < 4; ++row)
      for (std::uint32_t bit = 0; bit < 128 * bits; ++bit)
        lines[row][bit / bits] |= (tensor_byte(row * kStride + bit / 8) >> bit % 8 & 1U)
                                  << bit % bits;
    ByteList image(kBoxBytes);
    tcgen05_mma_test::put(image, 0, lines, {bits, 16}, tcgen05_mma_test::kSwizzles[1], false);
    for (std::uint32_t i = 0; i < kBoxBytes; ++i) {
      if (ran.undefined[i] == 0) {
        EXPECT_EQ(ran.out[i], image[i]) << i;
      }
    }
  }
}

TEST(PackedCopy, PaddingIsNotToBeRead) {
  const std::string use =
      "WAIT(0, 0); ld.shared.u32 %r10, [cells+{}]; add.u32 %r11, %r10, 1; st.global.u32 [%a2], "
      "%r11;";
  const auto body = [&](unsigned at) {
    std::string text = expecting(256) + load("{0, 0}") + use;
    return text.replace(text.find("{}"), 2, std::to_string(at));
  };
  EXPECT_EQ(run(map_of(TensorType::B4x16P64), body(4)).findings, "");
  EXPECT_TRUE(run(map_of(TensorType::B4x16P64), body(8)).findings.contains("uninit"));
}

TEST(PackedCopy, ThePaddedBytesAreNotCounted) {
  const Ran ran = run(map_of(TensorType::B4x16P64), expecting(512) + load("{0, 0}") + kShow);
  EXPECT_TRUE(ran.findings.contains("which lacks 256 of 512 bytes")) << ran.findings << ran.reason;
}

// --- stores --------------------------------------------------------------------------------------

TEST(PackedCopy, FourBitElementsAreStoredAsTheyAre) {
  const Ran ran = expect_clean(map_of(TensorType::B4x16), kStore);
  for (std::uint32_t i = 0; i < ran.tensor.size(); ++i) {
    const std::uint32_t row = i / kStride - 2, column = i % kStride - 64;
    const bool is_inside = row < 4 && column < 64;
    EXPECT_EQ(ran.tensor[i], is_inside ? shared_byte(row * 64 + column) : tensor_byte(i)) << i;
  }
}

// Each byte of shared memory holds six bits, and two that are left out.
TEST(PackedCopy, SixBitElementsArePacked) {
  for (const TensorSwizzle swizzle : {TensorSwizzle::None, TensorSwizzle::Atom64}) {
    const Ran ran = expect_clean(map_of(TensorType::B6x16P32, swizzle), kStore);
    const auto bit_at = [&](std::uint32_t row, std::uint32_t bit) {
      return ran.tensor[row * kStride + bit / 8] >> bit % 8 & 1U;
    };
    for (std::uint32_t row = 0; row < 4; ++row) {
      const std::uint32_t flip = swizzle == TensorSwizzle::Atom64 ? row % 2 * 64 : 0;
      for (std::uint32_t e = 0; e < 128; ++e) {
        for (std::uint32_t b = 0; b < 6; ++b)
          EXPECT_EQ(bit_at(2 + row, 6 * (128 + e) + b),
                    shared_byte((row * 128 + e) ^ flip) >> b & 1U)
              << row << ' ' << e << ' ' << b;
      }
    }
    for (std::uint32_t i = 0; i < 2 * kStride + 96; ++i) EXPECT_EQ(ran.tensor[i], tensor_byte(i));
  }
}

// --- what is refused -----------------------------------------------------------------------------

TEST(PackedCopy, WhatNoGpuCopies) {
  const TensorMap b4 = map_of(TensorType::B4x16), p64 = map_of(TensorType::B4x16P64),
                  p32 = map_of(TensorType::B6x16P32);
  expect_trap(b4, "elements of b4x16 need sm_100", load("{0, 0}"), {.target = "sm_90a"});
  expect_trap(b4, "coordinate 0 is 16, expected a multiple of 32 with elements of b4x16",
              load("{16, 0}"));
  expect_trap(p32, "coordinate 0 is 64, expected a multiple of 128 with elements of b6x16_p32",
              load("{64, 0}"));
  expect_trap(p64, "elements of b4x16_p64 are loaded, not stored", kStore);
  expect_trap(map_of(TensorType::B6x16P32, TensorSwizzle::Atom64),
              "elements of b6x16_p32 with the swizzle 128B_atom_64B are stored, not loaded",
              load("{0, 0}"));
  expect_trap(b4, "`.add` does not combine elements of b4x16",
              "@%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
              "[%a1, {0, 0}], [cells];");
  TensorMap slices = b4;
  slices.rank = 3;
  slices.dims[2] = 1;
  slices.strides[1] = kStride * kRows;
  slices.interleave = Interleave::Slices16;
  expect_trap(slices, "interleaved elements of b4x16 are not modelled",
              "@%p1 cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%a1, {0, 0, 0}];");
  expect_trap(map_of(TensorType::B4x16, TensorSwizzle::Atom32Flip),
              "the swizzle 128B_atom_32B_flip_8B is for loads", kStore);
}

TEST(PackedCopy, OnSm120TheyGoToTheirOwnCta) {
  const Grid geforce{.target = "sm_120a"};
  const TensorMap map = map_of(TensorType::B4x16P64);
  expect_trap(map, "elements of b4x16_p64 are loaded to `.shared::cta` on sm_120",
              expecting(256) + load("{0, 0}"), geforce);
  expect_clean(map, expecting(256) + load("{0, 0}", "cta") + kShow, geforce);
}

// --- maps that the kernel changes ----------------------------------------------------------------

TEST(PackedCopy, TheTypeIsReplacedOnTheDevice) {
  const std::string replace =
      "@%p1 tensormap.replace.tile.elemtype.global.b1024.b32 [%a1], 14;\n"
      "fence.proxy.tensormap::generic.release.gpu;"
      "fence.proxy.tensormap::generic.acquire.gpu [%a1], 128;\n";
  const Ran ran =
      expect_clean(map_of(TensorType::B4x16), replace + expecting(256) + load("{128, 0}") + kShow);
  EXPECT_EQ(ran.out[16], tensor_byte(64 + 8));
  EXPECT_NE(ran.undefined[8], 0);
}

}  // namespace
}  // namespace ww::sim::ops_packed_copy_test
