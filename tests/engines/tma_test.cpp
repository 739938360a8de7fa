// SPDX-License-Identifier: Apache-2.0
// copy_async by the copy engine: every swizzle and width, ranks, tiles in several boxes, ragged edges,
// both directions, copies by chance, what is declined, and faults that must show. WW_RANDOM_COUNT=n
// and WW_RANDOM_SEED=n for more and other random ones.
#include <gmock/gmock.h>

#include "engines/random_boxes.h"

namespace ww::test::tma_test {
namespace {

// Rows of as many bytes as the swizzle has, one after the other, in several columns of such rows.
std::string atoms(int bits, std::int64_t rows, std::int64_t columns, int swizzle) {
  const std::int64_t width = swizzle == 0 ? columns : swizzle * 8 / bits;
  const std::string notation = fmt::format("S[({}, {}, {}) : ({}, {}, 1)]", rows, columns / width,
                                           width, width, rows * width);
  if (swizzle == 0) return tile(fmt::format("S[({}, {}) : ({}, 1)]", rows, columns, columns));
  const int unit = bits == 8 ? 4 : bits == 16 ? 3 : bits == 32 ? 2 : 1;
  return swizzled(unit, swizzle == 128 ? 3 : swizzle == 64 ? 2 : 1, 3, notation);
}

// --- what is accepted ----------------------------------------------------------------------------

TEST(Tma, EverySwizzleAndWidthBothWays) {
  Family family("tma, swizzles and widths", Nvcc::Always);
  for (const std::string dtype :
       {"uint8", "float8_e4m3fn", "float16", "bfloat16", "float32", "int32", "float64", "uint64"})
    for (const int swizzle : {0, 32, 64, 128})
      for (const bool is_load : {true, false}) {
        const int bits = bits_of(dtype);
        const std::int64_t width = (swizzle == 0 ? 128 : swizzle) * 8 / bits;
        const BoxCase c{.dtype = dtype,
                        .array = {64, 3 * width},
                        .shared = {32, width},
                        .tile = atoms(bits, 32, width, swizzle),
                        .from = fmt::format("[16:48, {}:{}]", width, 2 * width),
                        .is_load = is_load};
        const Checked checked = family.run(program_of(c), by_boxes(1));
        EXPECT_EQ(count_of(checked.ptx, "cp.async.bulk.tensor.2d"), 1U) << checked.ptx;
        family.count();
      }
}

// A tile of several columns of rows: one box of three dimensions where whole rows divide the array, as
// many boxes as columns where they do not.
TEST(Tma, SeveralColumnsOfRows) {
  Family family("tma, columns of rows", Nvcc::Always);
  BoxCase c{.array = {96, 256},
            .shared = {64, 128},
            .tile = atoms(16, 64, 128, 128),
            .from = "[32:96, 64:192]"};
  const Checked one = family.run(program_of(c), by_boxes(1));
  EXPECT_EQ(count_of(one.ptx, "tensor.3d"), 1U) << one.ptx;
  c.from = "[32:96, 24:152]";  // no multiple of 64
  const Checked two = family.run(program_of(c), by_boxes(2));
  EXPECT_EQ(count_of(two.ptx, "tensor.2d"), 2U) << two.ptx;
  c.from = "[32:96, 64:192]";
  c.array = {96, 200};
  c.settings = "fill_value=0";
  family.run(program_of(c), by_boxes(1));
  c.is_ragged = true;  // K is known at launch only, and 200 is no multiple of 64
  family.run(program_of(c), by_boxes(2));
  family.count(4);
}

TEST(Tma, RanksAndShapes) {
  Family family("tma, ranks");
  const auto run = [&](BoxCase c, std::int64_t boxes) {
    for (const bool is_load : {true, false}) {
      c.is_load = is_load;
      family.run(program_of(c), by_boxes(boxes));
      family.count();
    }
  };
  // One dimension, more than a box: rows of 256 in a second dimension.
  run({.dtype = "float32", .array = {8192}, .shared = {4096}, .from = "[4096:8192]"}, 1);
  run({.dtype = "float32", .array = {8192}, .shared = {96}, .from = "[100:196]"}, 1);
  // Five dimensions, all of which move.
  run({.dtype = "float32",
       .array = {3, 4, 5, 6, 8},
       .shared = {2, 2, 2, 2, 8},
       .from = "[1:3, 0:2, 3:5, 2:4, 0:8]"},
      1);
  // A plane of a volume, turned: shared memory has other rows first.
  run({.dtype = "float16",
       .array = {4, 16, 32},
       .shared = {16, 1, 32},
       .from = "[2, 0:16, 0:32]",
       .elements = 512},
      1);
  run({.dtype = "float16",
       .array = {8, 16, 32},
       .shared = {8, 16, 32},
       .tile = tile("S[(8, 16, 32) : (32, 256, 1)]")},
      1);
  // A row of 8 bytes makes whole units with the next ones.
  run({.dtype = "float16", .array = {64, 4}, .shared = {32, 4}, .from = "[8:40, 0:4]"}, 1);
  // Rows with gaps in shared memory: a box each.
  run({.dtype = "float32",
       .array = {16, 32},
       .shared = {8, 32},
       .tile = tile("S[(8, 32) : (64, 1)]"),
       .from = "[4:12, 0:32]"},
      8);
}

TEST(Tma, StagesAndStartsOfRunTime) {
  Family family("tma, run time", Nvcc::Always);
  BoxCase c{.array = {128, 128},
            .shared = {3, 32, 64},
            .tile = swizzled(3, 3, 3, "S[(3, 32, 64) : (2048, 64, 1)]"),
            .from = "[by * 32:by * 32 + 32, bx * 64:bx * 64 + 64]",
            .to = "[bx + 1, 0:32, 0:64]",
            .elements = 2048,
            .grid = {2, 4}};
  family.run(program_of(c), by_boxes(1));
  c.is_load = false;
  family.run(program_of(c), by_boxes(1));
  c.is_ragged = true;
  family.run(program_of(c), by_boxes(1));
  c.is_load = true;
  c.settings = "fill_value=0";
  c.array = {100, 120};
  family.run(program_of(c), by_boxes(1));
  family.count(4);
}

// What lies outside on every side is filled, or not stored.
TEST(Tma, Edges) {
  Family family("tma, edges", Nvcc::Always);
  for (const std::string start : {"bx * 16 - 8", "bx * 64 - 40", "bx * 24 + 40", "bx * 32 + 24"})
    for (const std::string settings : {"fill_value=0", "fill_value=float(\"nan\")", "clip=True"}) {
      if (settings == "clip=True" && start != "bx * 32 + 24") continue;
      BoxCase c{.array = {40, 48},
                .shared = {32, 32},
                .tile = atoms(16, 32, 32, 64),
                .from = fmt::format("[{0}:{0} + 32, {0}:{0} + 32]", start),
                .is_load = settings != "clip=True",
                .settings = settings,
                .grid = {2}};
      Program program = program_of(c);
      program.has_any_nan = true;  // the engine's has other bits than the language's
      family.run(program, by_boxes(1));
      family.count();
    }
}

// --- copies by chance ----------------------------------------------------------------------------

TEST(Tma, ByChance) { run_by_chance("tma, by chance", 60, box_by_chance); }

// --- what is declined ----------------------------------------------------------------------------

TEST(Tma, Declines) {
  const BoxCase good{.array = {64, 128},
                     .shared = {32, 64},
                     .tile = atoms(16, 32, 64, 128),
                     .from = "[0:32, 0:64]",
                     .variant = "tma"};
  EXPECT_TRUE(compile_only(program_of(good)).right());
  const auto expect = [&](const std::string& verdict, const auto& change) {
    BoxCase c = good;
    change(c);
    const Checked checked = compile_only(program_of(c));
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    const std::string said = verdict_on(checked, 0, "tma");
    EXPECT_EQ(said.substr(0, verdict.size()), verdict) << said << "\n" << checked.why;
  };
  expect("[threads] 128 threads come here, of which each would start the copy",
         [](BoxCase& c) { c.around = "if tid >= 0:"; });
  expect("[threads] 32 threads come here", [](BoxCase& c) { c.around = "if tid < 32:"; });
  expect("[alignment] `tile` is aligned to 512 bytes, expected 1024 for a swizzle of 128 bytes",
         [](BoxCase& c) { c.align = 512; });
  expect(
      "[swizzle] `tile` has a swizzle (2, 3, 3), expected chunks of 16 bytes exchanged over 32, 64 "
      "or 128 bytes: (3, 1, 2 or 3, 3)",
      [](BoxCase& c) { c.tile = swizzled(2, 3, 3, "S[(32, 64) : (64, 1)]"); });
  expect("[order] neighbours in shared memory are `128` elements apart in `A`, expected 1",
         [](BoxCase& c) { c.tile = tile("S[(32, 64) : (1, 32)]"); });
  expect(
      "[stride] elements of `A` along a dimension are 200 bytes apart, expected a multiple of 16 "
      "below 2^40",
      [](BoxCase& c) {
        c.array = {64, 100};
      });
  expect("[box] rows of the box have 8 bytes, expected a multiple of 16", [](BoxCase& c) {
    c.shared = {32, 4};
    c.tile = "";
    c.from = "[0:32, 0:4]";
  });
  expect(
      "[alignment] boxes of 40 x 1 elements are 96 bytes apart in `tile`, expected a multiple of "
      "128",
      [](BoxCase& c) {
        c.shared = {32, 40};
        c.tile = tile("S[(32, 40) : (48, 1)]");
        c.from = "[0:32, 0:40]";
      });
  expect(
      "[start] rows of `A` are copied from element `4` on, not known to be a multiple of 16 bytes",
      [](BoxCase& c) { c.from = "[0:32, 4:68]"; });
  expect("[edge] the region may begin before `A`, at `bx * 32 - 8`: a store cannot",
         [](BoxCase& c) {
           c.is_load = false;
           c.settings = "clip=True";
           c.grid = {2};
           c.from = "[bx * 32 - 8:bx * 32 + 24, 0:64]";
         });
  expect(
      "[edge] rows of `A` have `100` elements, not known to be a multiple of 16 bytes: a store "
      "would "
      "write behind their end",
      [](BoxCase& c) {
        c.is_load = false;
        c.settings = "clip=True";
        c.array = {100};
        c.shared = {64};
        c.tile = "";
        c.grid = {2};
        c.from = "[bx * 64:bx * 64 + 64]";
      });
  expect("[predicate] the copy engine copies whole boxes, under no condition",
         [](BoxCase& c) { c.settings = "predicate=tid < 4"; });
  expect("[fill] the copy engine fills with zeros, or floats with NaN",
         [](BoxCase& c) { c.from = "[48:80, 0:64]", c.settings = "fill_value=1"; });
  expect("[mbarrier] `mbar=` of a copy from shared memory, which is waited for by bulk groups",
         [](BoxCase& c) {
           c.is_load = false;
           c.settings = "mbar=T.address_of(bar[0])";
         });
  expect("[config] `tensormap_l2_promotion=` is \"512B\"",
         [](BoxCase& c) { c.settings = "tensormap_l2_promotion=\"512B\""; });
}

// Bytes that do not add up, in one block.
TEST(Tma, BytesThatDoNotAddUp) {
  const BoxCase good{.array = {64, 128},
                     .shared = {32, 64},
                     .tile = atoms(16, 32, 64, 128),
                     .from = "[0:32, 0:64]"};
  const auto errors = [&](const std::string& what, const std::string& with) {
    Program program = program_of(good);
    const std::size_t at = program.source.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    program.source.replace(at, what.size(), with);
    return compile_only(program).why;
  };
  EXPECT_EQ(errors(", 4096)", ", 4096)"), "");
  EXPECT_THAT(
      errors(", 4096)", ", 4000)"),
      ::testing::HasSubstr("the mbarrier at `T.address_of(bar[0])` expects 4000 bytes, and the "
                           "copies that name it bring 4096 [BadTileCall]"));
  // Twice the copy, expected once and twice.
  const std::string copy =
      "Tx.copy_async(tile[0:32, 0:64], A[0:32, 0:64], mbar=T.address_of(bar[0]))\n";
  EXPECT_THAT(errors(copy, copy + "        " + copy), ::testing::HasSubstr("bring 8192"));
  const std::string expect = "T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), 4096)\n";
  EXPECT_EQ(errors(expect,
                   "T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), 2048)\n        "
                   "T.ptx[\"mbarrier.expect_tx.relaxed.cta.shared::cta.b64\"]"
                   "(T.address_of(bar[0]), 2048)\n"),
            "");
  // A copy in another block: it may be for this phase.
  EXPECT_EQ(errors(copy, copy + "        if A[0, 0] > 0.0:\n            " + copy), "");
}

// Elements that nothing has written do not go to global memory, by whichever engine.
TEST(Tma, StoresWhatHasBeenWritten) {
  const BoxCase c{.array = {64, 128},
                  .shared = {32, 64},
                  .tile = atoms(16, 32, 64, 128),
                  .from = "[0:32, 0:64]",
                  .is_load = false};
  Program program = program_of(c);
  const std::size_t at = program.source.find("if e < 2048:\n            tile[");
  ASSERT_NE(at, std::string::npos) << program.source;
  program.source.replace(at, 11, "if e < 2000");
  const Findings found = findings_of(program);
  const auto has = [&](const std::optional<std::string>& text, std::string_view what) {
    EXPECT_TRUE(text && text->contains(what)) << text.value_or("nothing");
  };
  has(found.tile,
      "`A[31, 16]` gets its value from shared memory by thread 0 of CTA (0,0,0), and nothing");
  has(found.lowered, "gets its value from shared memory");
  has(found.device, "copies 96 bytes of shared memory to global memory that nothing has written");
}

// --- regions that leave the array ----------------------------------------------------------------

// Without the setting it is an error that all engines find, whether the copy reads or writes.
TEST(Tma, RegionsThatLeaveTheArray) {
  for (const bool is_load : {true, false}) {
    BoxCase c{.array = {200, 64},
              .shared = {128, 64},
              .tile = atoms(16, 128, 64, 128),
              .from = "[bx * 128:bx * 128 + 128, 0:64]",
              .is_load = is_load,
              .in_loop = true,
              .grid = {2}};
    const Findings found = findings_of(program_of(c));
    const auto has = [&](const std::optional<std::string>& text, std::string_view what) {
      EXPECT_TRUE(text && text->contains(what)) << text.value_or("nothing");
    };
    has(found.tile,
        "region 128:256 of dimension 0 of `A` in thread 0 of CTA (1,0,0) leaves its extent 200");
    has(found.lowered, "box 128:256 of dimension 1 of a tensor map");
    has(found.device, "the box is 128:256 in dimension 1 (0 is the innermost) of the tensor in");
    has(found.device, is_load ? "has `fill_value=`" : "has `clip=True`");
    Family family("tma, regions that leave");
    c.settings = is_load ? "fill_value=0" : "clip=True";
    family.run(program_of(c), by_boxes(1));
  }
}

// A copy that may leave the array does not excuse one that may not.
TEST(Tma, CopiesThatMayLeaveHaveAMapOfTheirOwn) {
  const BoxCase c{.array = {200, 64},
                  .shared = {128, 64},
                  .tile = atoms(16, 128, 64, 128),
                  .from = "[bx * 128:bx * 128 + 128, 0:64]",
                  .in_loop = true,
                  .grid = {2}};
  Program program = program_of(c);
  const std::string copy =
      "Tx.copy_async(tile[0:128, 0:64], A[bx * 128:bx * 128 + 128, 0:64], "
      "mbar=T.address_of(bar[0]))\n";
  const std::size_t at = program.source.find(copy);
  ASSERT_NE(at, std::string::npos) << program.source;
  const std::string filled = std::string(copy).replace(copy.size() - 2, 1, ", fill_value=0)");
  const std::string blanks(12, ' ');
  program.source.replace(
      at, copy.size(),
      "if rounds == 2:\n" + blanks + "    " + filled + blanks + "else:\n" + blanks + "    " + copy);
  const Findings found = findings_of(program);
  EXPECT_TRUE(found.tile && found.tile->contains("leaves its extent 200"));
  EXPECT_TRUE(found.device && found.device->contains("the box is 128:256"))
      << found.device.value_or("nothing");
  EXPECT_EQ(count_of(found.checked.lowered, "T.tensor_map("), 2U) << found.checked.lowered;
}

// WW_RANDOM_COUNT=20000 for many, and WW_DEVICE=cuda for those that are right on a GPU, too.
TEST(Tma, OutsideByChance) { run_outside_by_chance(150); }

// --- faults that must show -----------------------------------------------------------------------

TEST(Tma, FaultsShow) {
  const BoxCase good{.array = {64, 128},
                     .shared = {32, 64},
                     .tile = atoms(16, 32, 64, 128),
                     .from = "[0:32, 0:64]"};
  const auto expect = [&](const std::string& what, const std::string& with,
                          const std::string& evaluator, const std::string& device) {
    Program program = program_of(good);
    const std::size_t at = program.source.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    program.source.replace(at, what.size(), with);
    const Findings found = findings_of(program);
    EXPECT_TRUE(found.tile && found.tile->contains(evaluator)) << found.tile.value_or("nothing");
    EXPECT_TRUE(found.lowered && found.lowered->contains(evaluator))
        << found.lowered.value_or("nothing");
    EXPECT_TRUE(found.device && found.device->contains(device)) << found.device.value_or("nothing");
  };
  expect(", 4096)", ", 8192 + bx)", "4096 bytes are missing", "4096");
  expect(", 4096)", ", 2048 + bx)", "-2048 bytes are missing", "2048");
  expect("T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), 4096)",
         "if T.cast(tile_in[0, 0, 0], \"int32\") == 123456789:\n            "
         "T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), 4096)",
         "1 arrival is missing", "4096 bytes more than it expects");
  expect("    T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)\n", "    T.cuda.cta_sync()\n",
         "while a copy into it is under way", "that an asynchronous write is still on its way to");
}

}  // namespace
}  // namespace ww::test::tma_test
