// SPDX-License-Identifier: Apache-2.0
// Fetches of textures and accesses to surfaces, against values worked out by hand or by plain loops.
#include "sim/texture/texture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/test_run.h"

namespace ww::sim::texture_test {
namespace {

using Floats = std::vector<float>;
using Words = std::vector<std::uint32_t>;

// One warp; %r1 is the lane, %f1, %f2, %f3 are its coordinates, and four words go to the output.
std::string body(const std::string& instruction) {
  return "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 16; add.u64 %d2, %a1, %d1; add.u64 %d3, %a2, "
         "%d1;\n"
         "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d2]; ld.global.v4.u32 {%r11, %r12, %r13, %r14}, "
         "[%d2];\n" +
         instruction + "\nst.global.v4.b32 [%d3], {%r2, %r3, %r4, %r5};";
}

struct Done {
  Words words;  // four of each lane
  std::string findings;
  Outcome outcome{};
  std::string reason;
  Words texels;  // afterwards

  [[nodiscard]] float at(std::size_t lane, std::size_t channel = 0) const {
    return std::bit_cast<float>(words[lane * 4 + channel]);
  }
};

template <typename T>
Done run(const std::string& instruction, const Texture& texture, const std::vector<T>& texels,
         const std::vector<std::array<float, 3>>& where) {
  TestRun run(body(instruction), 3);
  run.texture(texture, texels);
  Floats coordinates(32 * 4);
  for (std::size_t i = 0; i < where.size(); ++i)
    std::copy(where[i].begin(), where[i].end(),
              coordinates.begin() + static_cast<std::ptrdiff_t>(i * 4));
  run.input(coordinates);
  run.output<std::uint32_t>(32 * 4);
  run.launch.block = {static_cast<std::uint32_t>(where.size())};
  const LaunchReport& report = run.run();
  EXPECT_EQ(run.errors() + run.refusal(), "") << instruction;
  Done done{run.read<std::uint32_t>(2), run.findings(), report.outcome, report.reason, {}};
  if constexpr (sizeof(T) == 4) done.texels = run.read<std::uint32_t>(0);
  return done;
}

const std::string kTex1 = "tex.1d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%a0, {%f1}];";
const std::string kTex2 = "tex.2d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%a0, {%f1, %f2}];";
const std::string kTex3 = "tex.3d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%a0, {%f1, %f2, %f3, %f3}];";

void expect_row(const Texture& texture, const std::vector<std::pair<float, float>>& wanted) {
  std::vector<std::array<float, 3>> where;
  for (const auto& [x, value] : wanted) where.push_back({x, 0, 0});
  const Done done = run(kTex1, texture, Floats{10, 20, 40, 80}, where);
  EXPECT_EQ(done.findings, "");
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_EQ(done.at(i), wanted[i].second) << "at " << wanted[i].first;
}

TEST(Texture, PointsTakeTheTexelTheyLieIn) {
  Texture row{.extent = {4, 1, 1}};
  expect_row(row,
             {{0.F, 10}, {0.99F, 10}, {1.F, 20}, {3.5F, 80}, {4.F, 80}, {-1.F, 10}, {1e30F, 80}});
  row.mode = AddressMode::Border;
  expect_row(row, {{-0.5F, 0}, {0.5F, 10}, {3.99F, 80}, {4.F, 0}});
  row.is_normalized = true;
  row.mode = AddressMode::Wrap;
  expect_row(row, {{0.F, 10}, {0.25F, 20}, {0.99F, 80}, {1.F, 10}, {-0.25F, 80}, {2.5F, 40}});
  row.mode = AddressMode::Mirror;
  expect_row(row, {{0.F, 10}, {0.6F, 40}, {1.1F, 80}, {1.9F, 10}, {-0.1F, 10}, {-0.3F, 20}});
}

TEST(Texture, LinesBetweenTwoTexels) {
  Texture row{.extent = {4, 1, 1}, .is_linear = true};
  expect_row(row, {{0.5F, 10}, {1.F, 15}, {1.5F, 20}, {1.75F, 25}, {0.F, 10}, {4.F, 80}});
  // Weights have eight bits.
  expect_row(row, {{2.5F + 1.F / 256, 40 + 40.F / 256}, {2.5F + 1.F / 2048, 40}});
  // With a border there is one above the row, too, and the row is read at its upper edge.
  row.mode = AddressMode::Border;
  expect_row(row, {{0.F, 2.5F}, {0.5F, 5}, {-0.5F, 0}, {4.F, 20}});
  row.is_normalized = true;
  row.mode = AddressMode::Wrap;
  expect_row(row, {{0.F, 45}, {0.25F, 15}, {1.F, 45}});
}

TEST(Texture, PlanesAndBodies) {
  Floats values;
  for (int i = 0; i < 2 * 3 * 4; ++i) values.push_back(static_cast<float>(i));
  Texture plane{.extent = {4, 6, 1}, .rank = 2};
  Done done = run(kTex2, plane, values, {{1.5F, 2.5F, 0}, {9, 9, 0}, {3.2F, 0, 0}});
  EXPECT_EQ(done.at(0), 9);
  EXPECT_EQ(done.at(1), 23);
  EXPECT_EQ(done.at(2), 3);
  plane.is_linear = true;
  done = run(kTex2, plane, values, {{1, 1, 0}, {1.75F, 3.25F, 0}});
  EXPECT_EQ(done.at(0), 2.5F);
  EXPECT_EQ(done.at(1), 1.25F + 4 * 2.75F);
  Texture body{.extent = {4, 3, 2}, .rank = 3, .is_linear = true};
  done = run(kTex3, body, values, {{2, 1, 1}, {0.5F, 0.5F, 1.5F}});
  EXPECT_EQ(done.at(0), 1.5F + 2 + 6);
  EXPECT_EQ(done.at(1), 12);
}

TEST(Texture, LayersAreNotFiltered) {
  const std::string tex = "tex.a1d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%a0, {%r1, %f1}];";
  const Texture rows{.extent = {2, 1, 1}, .layers = 3, .is_linear = true};
  const Done done =
      run(tex, rows, Floats{0, 2, 10, 12, 20, 22}, {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {0, 0, 0}});
  EXPECT_EQ(done.at(0), 1);
  EXPECT_EQ(done.at(1), 11);
  EXPECT_EQ(done.at(2), 21);
  EXPECT_EQ(done.at(3), 20);  // the last layer
}

TEST(Texture, ChannelsAndFractions) {
  Texture pixels{.extent = {2, 1, 1},
                 .kind = TexelKind::Unsigned,
                 .bits = 8,
                 .channels = 4,
                 .reads_fractions = true};
  const std::vector<std::uint8_t> bytes{0, 255, 51, 102, 1, 2, 3, 4};
  Done done = run(kTex1, pixels, bytes, {{0, 0, 0}, {1, 0, 0}});
  for (unsigned c = 0; c < 4; ++c) {
    EXPECT_EQ(done.at(0, c), static_cast<float>(bytes[c]) / 255) << c;
    EXPECT_EQ(done.at(1, c), static_cast<float>(bytes[4 + c]) / 255) << c;
  }
  pixels.kind = TexelKind::Signed;
  done =
      run(kTex1, pixels, std::vector<std::uint8_t>{0x80, 0x81, 0x7F, 0, 0, 0, 0, 0}, {{0, 0, 0}});
  EXPECT_EQ(done.at(0, 0), -1);
  EXPECT_EQ(done.at(0, 1), -1);
  EXPECT_EQ(done.at(0, 2), 1);
  const Texture words{.extent = {2, 1, 1}, .kind = TexelKind::Signed, .bits = 16, .channels = 2};
  done = run("tex.1d.v4.s32.f32 {%r2, %r3, %r4, %r5}, [%a0, {%f1}];", words,
             std::vector<std::int16_t>{-5, 6, 7, 8}, {{0, 0, 0}});
  EXPECT_EQ(done.words[0], static_cast<std::uint32_t>(-5));
  EXPECT_EQ(done.words[1], 6U);
}

TEST(Texture, WholeCoordinatesCountTexels) {
  const Texture row{.extent = {3, 1, 1}};
  const Done done =
      run("sub.u32 %r6, %r1, 1; tex.1d.v4.f32.s32 {%r2, %r3, %r4, %r5}, [%a0, {%r6}];", row,
          Floats{5, 6, 7}, {{}, {}, {}, {}, {}});
  for (std::size_t l = 0; l < 5; ++l)
    EXPECT_EQ(done.at(l), l == 0 || l == 4 ? 0 : static_cast<float>(l + 4)) << l;
}

TEST(Texture, GathersTheFourOfAFilter) {
  const Texture plane{.extent = {3, 3, 1}, .rank = 2, .is_linear = true};
  const Done done = run("tld4.r.2d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%a0, {%f1, %f2}];", plane,
                        Floats{0, 1, 2, 3, 4, 5, 6, 7, 8}, {{1, 1, 0}});
  EXPECT_EQ(done.at(0, 0), 3);  // (0,1), (1,1), (1,0), (0,0)
  EXPECT_EQ(done.at(0, 1), 4);
  EXPECT_EQ(done.at(0, 2), 1);
  EXPECT_EQ(done.at(0, 3), 0);
}

TEST(Texture, WrongHandlesAreFound) {
  const Texture row{.extent = {4, 1, 1}};
  const Floats texels{1, 2, 3, 4};
  EXPECT_TRUE(
      run(kTex2, row, texels, {{}})
          .findings.contains("takes a 2-D texture, and the handle is that of a 1-D texture"));
  EXPECT_TRUE(run("add.u64 %a0, %a0, 1; " + kTex1, row, texels, {{}})
                  .findings.contains("is not the handle of a texture"));
  EXPECT_TRUE(run("tex.1d.v4.u32.f32 {%r2, %r3, %r4, %r5}, [%a0, {%f1}];", row, texels, {{}})
                  .findings.contains("takes integers, and the texture gives floats"));
  EXPECT_TRUE(
      run("suld.b.1d.b32.zero {%r2}, [%a0, {%r1}]; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, 0;",
          row, texels, {{}})
          .findings.contains("takes a 1-D surface, and the handle is that of a 1-D texture"));
}

// --- surfaces ------------------------------------------------------------------------------------

const std::string kRest = " mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, 0;";

TEST(Surface, LoadsByBytesAndRows) {
  const Texture plane{
      .extent = {2, 2, 1}, .rank = 2, .kind = TexelKind::Unsigned, .is_surface = true};
  const Words texels{0x11, 0x22, 0x33, 0x44};
  // Lanes 0 to 3: x = -4, 0, 4, 8 in row 1.
  const auto load = [&](const std::string& clamp) {
    return run("mad.lo.u32 %r6, %r1, 4, -4; mov.u32 %r7, 1; suld.b.2d.b32." + clamp +
                   " {%r2}, [%a0, {%r6, %r7}];" + kRest,
               plane, texels, {{}, {}, {}, {}});
  };
  const auto first = [](const Done& done) {
    return Words{done.words[0], done.words[4], done.words[8], done.words[12]};
  };
  EXPECT_EQ(first(load("zero")), (Words{0, 0x33, 0x44, 0}));
  EXPECT_EQ(first(load("clamp")), (Words{0x33, 0x33, 0x44, 0x44}));
  const Done trapped = load("trap");
  EXPECT_EQ(trapped.outcome, Outcome::Trapped);
  EXPECT_TRUE(trapped.reason.contains("x -4, y 1, z 0 is outside of a surface of 2 x 2 x 1 texels"))
      << trapped.reason;
}

TEST(Surface, LayersOutsideAreTheLastOne) {
  const Texture rows{
      .extent = {2, 1, 1}, .layers = 3, .kind = TexelKind::Unsigned, .is_surface = true};
  const Words texels{10, 11, 20, 21, 30, 31};
  const Done done = run("sub.u32 %r6, %r1, 1; suld.b.a1d.b32.clamp {%r2}, [%a0, {%r6, 4}];" + kRest,
                        rows, texels, {{}, {}, {}, {}, {}});
  EXPECT_EQ((Words{done.words[0], done.words[4], done.words[8], done.words[12], done.words[16]}),
            (Words{31, 11, 21, 31, 31}));
}

TEST(Surface, StoresAndReduces) {
  const Texture row{.extent = {4, 1, 1}, .kind = TexelKind::Unsigned, .is_surface = true};
  const Words texels{1, 2, 3, 4};
  const std::string x = "mov.u32 %r2, 0; mad.lo.u32 %r6, %r1, 4, 4;" + kRest;
  Done done = run(x + "sust.b.1d.b32.zero [%a0, {%r6}], {%r6};", row, texels, {{}, {}, {}, {}});
  EXPECT_EQ(done.texels, (Words{1, 4, 8, 12}));
  EXPECT_EQ(done.findings, "");
  done = run(x + "mov.u32 %r7, 8; sured.b.add.1d.u32.trap [%a0, {%r7}], %r6;", row, texels,
             {{}, {}, {}});
  EXPECT_EQ(done.texels, (Words{1, 2, 3 + 4 + 8 + 12, 4}));
  EXPECT_EQ(done.findings, "");
  done = run(x + "sured.b.max.1d.u32.zero [%a0, {%r6}], 3;", row, texels, {{}, {}, {}, {}});
  EXPECT_EQ(done.texels, (Words{1, 3, 3, 4}));
  // All lanes at one place, and nothing to order them with the loads behind.
  done = run(x + "sust.b.1d.b32.zero [%a0, {0}], {%r6}; xor.b32 %r7, %r6, 4; sust.b.1d.b32.zero "
                 "[%a0, {%r7}], {1}; "
                 "suld.b.1d.b32.zero {%r2}, [%a0, {%r6}];",
             row, texels, {{}, {}, {}, {}});
  EXPECT_TRUE(done.findings.contains("race")) << done.findings;
}

TEST(Surface, UndefinedTexelsStayUndefined) {
  TestRun run(
      "ld.param.u64 %a0, [a0]; suld.b.1d.b32.zero {%r2}, [%a0, {0}]; "
      "sust.b.1d.b32.zero [%a0, {0}], {%r2};",
      1);
  run.output<std::uint32_t>(4);
  Texture row{.address = run.buffer(0).base,
              .extent = {4, 1, 1},
              .kind = TexelKind::Unsigned,
              .is_surface = true};
  run.handle(0, row);
  run.launch.block = {1};
  run.run();
  EXPECT_EQ(run.count(Check::Uninit), 1U) << run.findings();
}

}  // namespace
}  // namespace ww::sim::texture_test
