// SPDX-License-Identifier: Apache-2.0
// The grid of cases that TVM measures copies through tensor maps by, as programs of our own: swizzles and
// types of one tile, stages of a ring, atoms of atoms, parts of large arrays, three to five dimensions in
// other orders, gaps, planes of a volume, edges, the tiles of attention kernels, and what is declined.
// Each runs in both directions on all engines, in at most as many instructions as TVM needs.
#include <gmock/gmock.h>

#include "engines/box_programs.h"

namespace ww::test::tma_coverage_test {
namespace {

std::string mma_shared(const std::string& dtype, int swizzle, const Extents& shape) {
  return fmt::format("mma_shared_layout(\"{}\", {}, {})", dtype, swizzle, tuple(shape));
}

/// A case, and how many instructions TVM takes.
struct Row {
  BoxCase c;
  std::int64_t at_most = 1;
  bool goes_back = true;  // from shared to global memory, too
};

void run(Family& family, const Row& row) {
  for (const bool is_load : {true, false}) {
    if (!is_load && !row.goes_back) continue;
    BoxCase c = row.c;
    c.is_load = is_load;
    Program program = program_of(c);
    if (c.settings.contains("nan")) program.has_any_nan = true;
    const Checked checked = family.run(program, {.variant = "tma"});
    if (checked.right()) {
      EXPECT_LE(checked.call(0).plan.rounds, row.at_most) << checked.source;
    }
    family.count();
  }
}

// A tile that the regions fill.
Row whole(const std::string& dtype, int swizzle, const Extents& shape) {
  return {
      {.dtype = dtype, .array = shape, .shared = shape, .tile = mma_shared(dtype, swizzle, shape)}};
}

// Part of an array, to part of a tile of halves with rows of 128 bytes.
Row part(Extents array, std::string from, Extents shared, std::string to, std::int64_t elements) {
  const std::string layout = mma_shared("float16", 3, shared);
  return {{.array = std::move(array),
           .shared = std::move(shared),
           .tile = layout,
           .from = std::move(from),
           .to = std::move(to),
           .elements = elements}};
}

TEST(TmaCoverage, SwizzlesAndTypes) {
  Family family("tma, the grid of TIRx: swizzles and types", Nvcc::Always);
  for (const int swizzle : {0, 1, 2, 3}) run(family, whole("float16", swizzle, {8, 256}));
  for (const std::string dtype :
       {"int8", "uint8", "bfloat16", "float32", "float8_e4m3fn", "float8_e5m2"})
    run(family, whole(dtype, 3, {8, 256}));
}

TEST(TmaCoverage, PartsAndStages) {
  Family family("tma, the grid of TIRx: parts and stages", Nvcc::Always);
  run(family, part({64, 256}, "[0:64, 0:256]", {2, 64, 256}, "[1, 0:64, 0:256]", 64 * 256));
  run(family, part({512, 512}, "[0:128, 0:64]", {128, 64}, "", 0));
  run(family, part({128, 64}, "[0:128, 0:64]", {2, 2, 128, 64}, "[0, 0, 0:128, 0:64]", 128 * 64));
  run(family, part({128, 64}, "[64:88, 0:64]", {2, 2, 24, 64}, "[0, 0, 0:24, 0:64]", 24 * 64));
  run(family, part({256, 64}, "[128:256, 0:64]", {256, 64}, "[0:128, 0:64]", 128 * 64));
  run(family, part({128, 256}, "[0:32, 0:64]", {3, 128, 64}, "[0, 0:32, 0:64]", 32 * 64));
  run(family, part({256, 512}, "[0:64, 0:64]", {2, 256, 64}, "[1, 0:64, 0:64]", 64 * 64));
}

TEST(TmaCoverage, DimensionsAndOrders) {
  Family family("tma, the grid of TIRx: dimensions", Nvcc::Always);
  const auto plain = [](Extents array, std::string from, Extents shared) {
    return Row{{.array = std::move(array), .shared = std::move(shared), .from = std::move(from)}};
  };
  run(family, plain({4, 32, 64}, "", {4, 32, 64}));
  run(family, plain({8, 16, 128}, "[0:4, 0:16, 0:128]", {4, 16, 128}));
  Row gap = plain({8, 32, 64}, "", {8, 32, 64});
  gap.c.tile = tile("S[(8, 32, 64) : (4096, 64, 1)]");
  gap.at_most = 8;
  run(family, gap);
  run(family, part({2, 128, 8, 64}, "[0:1, 0:128, 0:1, 0:64]", {1, 1, 128, 64}, "", 0));
  run(family, part({4, 64, 4, 128}, "[0:1, 0:64, 0:1, 0:128]", {1, 1, 64, 128}, "", 0));
  run(family, part({2, 2, 128, 64}, "[0, 0, 0:128, 0:64]", {128, 64}, "", 0));
  run(family, part({4, 64, 4, 128}, "[0, 0:64, 0, 0:128]", {64, 128}, "", 0));
  // An array whose rows lie between the rows of its neighbours.
  Row woven = plain({2, 2, 16, 64}, "[1, 1, 0:16, 0:64]", {16, 64});
  woven.c.view = tile("S[(2, 2, 16, 64) : (2048, 64, 128, 1)]");
  run(family, woven);
  Row block{{.dtype = "bfloat16",
             .array = {256, 4, 128},
             .shared = {128, 32},
             .from = "[128:256, 1, 32:64]"}};
  run(family, block);
}

TEST(TmaCoverage, AtomsOfAtoms) {
  Family family("tma, the grid of TIRx: atoms", Nvcc::Always);
  // Atoms of 8 x 64 make 16 x 256, and four of those 32 x 512.
  const std::string atoms =
      swizzled(3, 3, 3, "S[(2, 2, 8, 2, 4, 64) : (8192, 2048, 64, 4096, 512, 1)]");
  Row row{{.array = {32, 512}, .shared = {32, 512}, .tile = atoms}, 2};
  run(family, row);
  row.c.array = {3, 32, 512};
  row.c.from = "[bx, 0:32, 0:512]";
  row.c.grid = {3};
  row.at_most = 4;
  run(family, row);
}

TEST(TmaCoverage, PlanesOfAVolume) {
  Family family("tma, the grid of TIRx: planes", Nvcc::Always);
  const auto plane = [](const std::string& dtype, int swizzle, Extents shape) {
    Row row = whole(dtype, swizzle, shape);
    row.c.array.insert(row.c.array.begin(), 3);
    row.c.from = fmt::format("[bx, 0:{}, 0:{}]", shape[0], shape[1]);
    row.c.grid = {3};
    return row;
  };
  run(family, plane("float16", 3, {8, 256}));
  run(family, plane("float16", 3, {64, 256}));
  for (const int swizzle : {0, 2}) run(family, plane("float16", swizzle, {8, 256}));
  for (const std::string dtype : {"int8", "float32"}) run(family, plane(dtype, 3, {8, 256}));
}

TEST(TmaCoverage, Edges) {
  Family family("tma, the grid of TIRx: edges", Nvcc::Always);
  for (const std::string oob : {"oob=\"zero\"", "oob=\"nan\""}) {
    Row row = part({128, 64}, "[120:136, 0:64]", {16, 64}, "", 0);
    row.c.settings = oob;
    row.goes_back = false;
    run(family, row);
    row = part({2, 128, 64}, "[0, 0:128, 0:64]", {128, 64}, "", 0);
    row.c.settings = oob;
    run(family, row);
  }
}

// Queries of a group of heads are rows of one tile; keys and values are one head of several.
TEST(TmaCoverage, TilesOfAttention) {
  Family family("tma, the grid of TIRx: attention", Nvcc::Always);
  run(family, {{.array = {1, 64, 8, 128},
                .shared = {2, 32, 4, 128},
                .tile = swizzled(3, 3, 3, "S[(2, 32, 4, 2, 64) : (16384, 256, 64, 8192, 1)]"),
                .from = "[0, 0:32, 0:4, 0:128]",
                .to = "[0, 0:32, 0:4, 0:128]",
                .elements = 128 * 128}});
  run(family, part({1, 256, 4, 128}, "[0, 0:128, 1, 0:128]", {2, 128, 128}, "[1, 0:128, 0:128]",
                   128 * 128));
}

TEST(TmaCoverage, Declines) {
  const auto verdict = [](BoxCase c) {
    c.variant = "tma";
    const Checked checked = compile_only(program_of(c));
    return checked.stage == Stage::Script ? checked.why : verdict_on(checked, 0, "tma");
  };
  // Turned tiles: what lies side by side in the array does not in shared memory.
  const auto turned = [&](Extents array, std::string from, std::int64_t rows,
                          std::int64_t columns) {
    return verdict({.array = std::move(array),
                    .shared = {rows, columns},
                    .tile = tile(fmt::format("S[({0}, {1}) : (1, {0})]", rows, columns)),
                    .from = std::move(from)});
  };
  for (const std::string& each :
       {turned({32, 64}, "", 32, 64), turned({64, 32}, "", 64, 32),
        turned({128, 64}, "[0:64, 0:64]", 64, 64), turned({128, 64}, "[64:128, 0:32]", 64, 32)})
    EXPECT_THAT(each, ::testing::StartsWith("[order] neighbours in shared memory are"));
  EXPECT_THAT(verdict({.array = {8, 256}, .shared = {8, 256}, .settings = "oob=\"bogus\""}),
              ::testing::HasSubstr("`oob` of `copy_async` is \"bogus\", expected \"zero\" or"));
  EXPECT_THAT(verdict({.dtype = "int8",
                       .array = {128, 64},
                       .shared = {16, 64},
                       .from = "[120:136, 0:64]",
                       .settings = "oob=\"nan\""}),
              ::testing::HasSubstr("fill"));
}

}  // namespace
}  // namespace ww::test::tma_coverage_test
