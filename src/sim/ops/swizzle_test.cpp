// SPDX-License-Identifier: Apache-2.0
// Matrix operands that a tensor copy has filled: the swizzle in their descriptor is that of the map, or
// `align` has a finding. The witness is the product: it is wrong exactly where there is one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "sim/ops/test_tcgen05_mma.h"
#include "sim/tensor_map/image.h"
#include "sim/test_run.h"

namespace ww::sim::swizzle_test {
namespace {

constexpr unsigned kColumns = 128, kRows = 64;     // of the tensor, of f16
constexpr unsigned kWidths[] = {16, 128, 64, 32};  // bytes, by the code of wgmma's descriptors

TensorSwizzle swizzle_of_code(unsigned code) {
  constexpr TensorSwizzle kSwizzles[] = {TensorSwizzle::None, TensorSwizzle::B128,
                                         TensorSwizzle::B64, TensorSwizzle::B32};
  return kSwizzles[code];
}

/// A tile of 64 rows, and how a product reads it. B is the start of A.
struct Case {
  unsigned map_code = 1, code = 1;
  unsigned slice = 0;        // of 16 elements along K
  unsigned at = 0;           // of the tile in shared memory
  unsigned base_offset = 0;  // in the descriptor
  bool is_mn_major = false;
  bool is_packed = false;  // rows of the tensor have no more elements than those of the box
  std::string then{};      // what follows the copy

  [[nodiscard]] unsigned width() const { return kWidths[map_code]; }
  [[nodiscard]] std::uint64_t descriptor() const {
    const std::uint64_t leading = 1024;
    const std::uint64_t stride = 8 * (map_code == 0 ? 16 : width());
    return (at + slice * 32) / 16 | leading / 16 << 16U | stride / 16 << 32U |
           std::uint64_t{base_offset} << 49U | std::uint64_t{code} << 62U;
  }
};

std::string text_of(const Case& it) {
  const unsigned copies = it.map_code == 0 && !it.is_packed ? 2 : 1;
  const unsigned box = it.is_packed ? 128 : it.width();
  std::string text = fmt::format(
      ".shared .align 1024 .b8 tile[16384]; .shared .align 8 .b64 bar;\n"
      "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; setp.ne.u32 %p2, %r1, %r1;\n"
      "@%p1 mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {};\n",
      copies * kRows * box);
  for (unsigned i = 0; i < copies; ++i)
    text += fmt::format(
        "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[tile+{}], [%a1, {{{}, 0}}], [bar];\n",
        it.at + 1024 * i, 8 * i);
  text += "filled: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra filled;\n";
  text += it.then;
  text += fmt::format(
      "mov.u32 %r2, tile; shr.u32 %r2, %r2, 4; cvt.u64.u32 %d1, %r2; add.u64 %d1, %d1, {0};\n"
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0,%f1,%f2,%f3}}, %d1, %d1, %p2, 1, 1, "
      "{1}, {1};\n"
      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
      "mul.wide.u32 %d2, %r1, 16; add.u64 %d2, %d2, %a2;\n"
      "st.global.v4.f32 [%d2], {{%f0,%f1,%f2,%f3}};\n",
      it.descriptor(), it.is_mn_major ? 1 : 0);
  return kernel_text(
      "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, "
      "%f0;\n" +
          text,
      3);
}

TensorMap map_of(const Case& it) {
  TensorMap map;
  map.type = TensorType::F16;
  map.rank = 2;
  const unsigned columns = it.is_packed ? 64 : kColumns;
  map.dims = {columns, kRows, 1, 1, 1};
  map.strides = {columns * 2, 0, 0, 0};
  map.box = {it.is_packed ? 64 : it.width() / 2, kRows, 1, 1, 1};
  map.swizzle = swizzle_of_code(it.map_code);
  return map;
}

/// Element (row, column): whole numbers of which no two rows are alike.
unsigned value_at(unsigned row, unsigned column) {
  return (row * 37 + column * column * 11 + row * column * 5) % 61 % 8;
}
std::uint16_t half_of(unsigned small) {
  constexpr std::uint16_t kHalves[] = {0, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700};
  return kHalves[small];
}

// D of lane t, register i.
float expected(const Case& it, unsigned t, unsigned i) {
  const unsigned m = t / 32 * 16 + t % 32 / 4 + i / 2 * 8;
  const unsigned n = t % 4 * 2 + i % 2;
  unsigned sum = 0;
  for (unsigned k = 16 * it.slice; k < 16 * it.slice + 16; ++k)
    sum += it.is_mn_major ? value_at(k, m) * value_at(k, n) : value_at(m, k) * value_at(n, k);
  return static_cast<float>(sum);
}

struct Ran {
  std::string findings;
  bool is_right = true;
};

Ran run(const Case& it) {
  TestRun test(text_of(it));
  EXPECT_EQ(test.errors(), "");
  std::vector<std::uint16_t> tensor(std::size_t{kRows} * kColumns);
  for (unsigned i = 0; i < tensor.size(); ++i)
    tensor[i] = half_of(value_at(i / kColumns, i % kColumns));
  test.input(tensor);
  TensorMap map = map_of(it);
  map.address = test.buffer(0).base;
  const TensorMapImage image = encode(map);
  test.input(std::vector<std::byte>(image.begin(), image.end())).output<float>(128 * 4);
  test.launch.block = {128};
  const LaunchReport& report = test.run();
  EXPECT_EQ(report.reason + test.refusal(), "");
  Ran ran{.findings = test.findings()};
  const auto out = test.read<float>(2);
  for (unsigned i = 0; i < out.size(); ++i)
    ran.is_right = ran.is_right && out[i] == expected(it, i / 4, i % 4);
  return ran;
}

void expect_found(const Case& it, std::string_view words) {
  const Ran ran = run(it);
  EXPECT_TRUE(ran.findings.starts_with("align ")) << ran.findings;
  EXPECT_NE(ran.findings.find(words), std::string::npos) << ran.findings;
  EXPECT_EQ(std::ranges::count(ran.findings, '\n'), 1) << ran.findings;
  EXPECT_FALSE(ran.is_right);
}
void expect_clean(const Case& it) {
  const Ran ran = run(it);
  EXPECT_EQ(ran.findings, "");
}

TEST(Swizzle, ProductsAreWrongExactlyWhereThereIsAFinding) {
  for (unsigned map_code = 0; map_code < 4; ++map_code) {
    for (unsigned code = 0; code < 4; ++code) {
      const Case it{.map_code = map_code, .code = code};
      const Ran ran = run(it);
      EXPECT_EQ(ran.is_right, code == map_code) << map_code << ' ' << code;
      EXPECT_EQ(ran.findings.empty(), code == map_code) << map_code << ' ' << code << '\n'
                                                        << ran.findings;
    }
  }
}

TEST(Swizzle, SlicesAndStagesOfATileAreFine) {
  for (const unsigned at : {0U, 2048U, 256U}) {  // the last one starts inside the pattern
    for (unsigned slice = 0; slice < 4; ++slice) {
      const Case it{.slice = slice, .at = at};
      EXPECT_TRUE(run(it).is_right) << at << ' ' << slice;
      expect_clean(it);
    }
  }
  const Case mn{.is_mn_major = true};
  EXPECT_TRUE(run(mn).is_right);
  expect_clean(mn);
}

TEST(Swizzle, FindingsSayWhatToChange) {
  expect_found({.map_code = 1, .code = 2},
               "the descriptor of A has swizzle 64B, and the map of the tensor copy that wrote the "
               "tile has 128B; encode the map with 64B, or let the descriptor say 128B");
  expect_found({.code = 2, .is_mn_major = true}, "has swizzle 64B");
  expect_found({.at = 256, .base_offset = 2},
               "the descriptor of A has base offset 2, and the tensor copy that wrote the tile "
               "swizzled by addresses in shared memory, whose pattern starts at multiples of 1024 "
               "bytes; with base offset 0 the product reads what was copied");
}

TEST(Swizzle, TilesThatSomethingElseWroteAreNotLookedAt) {
  const std::string fill =
      "bar.sync 0; shl.b32 %r4, %r1, 4; mov.u32 %r5, tile; add.u32 %r4, %r4, %r5;\n"
      "mov.b32 %r6, 0; mov.u32 %r7, 0;\n"
      "more: st.shared.v4.b32 [%r4], {%r6,%r6,%r6,%r6}; add.u32 %r4, %r4, 2048;\n"
      "add.u32 %r7, %r7, 1; setp.lt.u32 %p4, %r7, 4; @%p4 bra more;\n"
      "fence.proxy.async; bar.sync 0;\n";
  expect_clean({.code = 2, .then = fill});
  const std::string copy =
      "bar.sync 0; @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 8192;\n"
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a0], 8192, "
      "[bar];\n"
      "again: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 1; @!%p3 bra again;\n";
  expect_clean({.code = 2, .then = copy});
}

TEST(Swizzle, TilesMayLieSwizzledInGlobalMemory) {
  expect_clean({.map_code = 0, .code = 1, .is_packed = true});
  expect_found({.map_code = 1, .code = 2, .at = 512, .is_packed = true}, "has swizzle 64B");
}

// A of tcgen05.mma is copied with 32B, B is stored by threads.
std::string tensor_product_with_copy() {
  const TensorProductSpec spec;
  return std::string(kTensorProductHead) + tensor_product_prelude(spec) +
         ".shared .align 8 .b64 filled; .reg .b64 %map; add.u64 %map, %a2, 64;\n"
         "@%p3 mbarrier.init.shared.b64 [filled], 1; fence.proxy.async; bar.sync 0;\n"
         "@%p3 mbarrier.arrive.expect_tx.shared.b64 _, [filled], 4096;\n"
         "@%p3 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
         "[image], [%map, {0, 0}], [filled];\n"
         "full: mbarrier.try_wait.parity.shared.b64 %p5, [filled], 0; @!%p5 bra full;\n" +
         tensor_product_ready(spec) + tensor_product_text(spec) + tensor_product_done(spec) +
         tensor_product_epilogue(spec);
}

std::string findings_of_tensor_product(std::uint64_t code_of_a,
                                       TensorSwizzle swizzle = TensorSwizzle::B32) {
  TestRun test(tensor_product_with_copy());
  EXPECT_EQ(test.errors(), "");
  test.input(std::vector<std::uint8_t>(16384)).input(std::vector<std::uint32_t>(128 * 32));
  TensorMap map;
  map.type = TensorType::F16;
  map.rank = 2;
  map.address = test.buffer(0).base;
  map.dims = {64, 128, 1, 1, 1};
  map.strides = {128, 0, 0, 0};
  map.box = {16, 128, 1, 1, 1};
  map.swizzle = swizzle;
  const TensorMapImage image = encode(map);
  std::vector<std::uint64_t> words(8 + image.size() / 8);
  words[0] = 8ULL << 16U | 16ULL << 32U | 1ULL << 46U | code_of_a << 61U;
  words[1] = 4096 / 16 | 8ULL << 16U | 16ULL << 32U | 1ULL << 46U;
  words[2] = 0x08040010;  // f16 into f32, M = 128, N = 16
  std::memcpy(&words[8], image.data(), image.size());
  test.input(words).output<std::uint32_t>(128 * 32);
  test.launch.block = {128};
  EXPECT_EQ(test.run().reason + test.refusal(), "");
  return test.findings();
}

TEST(Swizzle, OfTensorProducts) {
  EXPECT_EQ(findings_of_tensor_product(6), "");
  const std::string found = findings_of_tensor_product(0);
  EXPECT_TRUE(found.starts_with("align ")) << found;
  EXPECT_NE(found.find("the descriptor of A has swizzle none, and the map of the tensor copy that "
                       "wrote the tile has 32B"),
            std::string::npos)
      << found;
}

// Descriptors have no word for some swizzles of copies.
TEST(Swizzle, AdviceIsWhatDescriptorsCanSay) {
  const std::string found = findings_of_tensor_product(0, TensorSwizzle::Atom64);
  EXPECT_NE(found.find("has 128B_atom_64B; encode the map with none\n"), std::string::npos)
      << found;
  const std::string wide = findings_of_tensor_product(0, TensorSwizzle::Atom32);
  EXPECT_NE(wide.find("or let the descriptor say 128B_atom_32B\n"), std::string::npos) << wide;
}

}  // namespace
}  // namespace ww::sim::swizzle_test
