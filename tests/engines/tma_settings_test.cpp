// SPDX-License-Identifier: Apache-2.0
// Settings of copies by the copy engine: reductions into the array, hints to the cache, fills by TVM's
// name, maps that are prefetched; each with what is refused, and faults that must show.
#include <gmock/gmock.h>

#include "engines/random_boxes.h"

namespace ww::test::tma_settings_test {
namespace {

using ::testing::HasSubstr;

const BoxCase kLoad{.dtype = "float32",
                    .array = {64, 128},
                    .shared = {32, 32},
                    .tile = swizzled(2, 3, 3, "S[(32, 32) : (32, 1)]"),
                    .from = "[16:48, 64:96]"};

BoxCase store_of(const std::string& dtype, const std::string& settings) {
  BoxCase c{.dtype = dtype,
            .array = {64, 128},
            .shared = {16, 64},
            .from = "[16:32, 64:128]",
            .is_load = false,
            .settings = settings};
  return c;
}

// --- reductions ----------------------------------------------------------------------------------

TEST(TmaReduce, EveryOperationAndType) {
  Family family("tma, reductions", Nvcc::Always);
  int declined = 0;
  for (const std::string dtype : {"int32", "uint32", "int64", "uint64", "float16", "bfloat16",
                                  "float32", "float64", "uint8", "int16"})
    for (const std::string op : {"add", "min", "max", "inc", "dec", "and", "or", "xor"}) {
      const Program program = program_of(store_of(dtype, fmt::format("use_tma_reduce=\"{}\"", op)));
      const Checked compiled = compile_only(program);
      if (!compiled.right()) {
        EXPECT_THAT(
            verdict_on(compiled, 0, "tma"),
            HasSubstr(fmt::format("[dtype] `use_tma_reduce=\"{}\"` of {}, expected", op, dtype)));
        ++declined;
        continue;
      }
      const Checked checked = family.run(program, by_boxes(1));
      EXPECT_EQ(count_of(checked.ptx, "cp.reduce.async.bulk.tensor.2d.global.shared::cta." + op),
                1U);
      family.count();
    }
  EXPECT_EQ(declined, 80 - 30);
}

// What lies outside is left alone.
TEST(TmaReduce, Edges) {
  Family family("tma, reductions at edges", Nvcc::Always);
  BoxCase c = store_of("int32", "use_tma_reduce=\"add\", clip=True");
  c.from = "[bx * 0 + 56:bx * 0 + 72, bx * 0 + 96:bx * 0 + 160]";
  family.run(program_of(c), by_boxes(1));
  family.count();
}

TEST(TmaReduce, ByChance) { run_by_chance("tma, reductions by chance", 60, reduce_by_chance); }

TEST(TmaReduce, Refuses) {
  BoxCase load = kLoad;
  load.settings = "use_tma_reduce=\"add\"";
  EXPECT_THAT(compile_only(program_of(load)).why,
              HasSubstr("`use_tma_reduce` of `copy_async` is for shared to global memory, this is "
                        "global to shared"));
  EXPECT_THAT(
      compile_only(program_of(store_of("int32", "use_tma_reduce=\"mul\""))).why,
      HasSubstr("`use_tma_reduce` of `copy_async` is `\"mul\"`, expected \"add\", \"min\""));
}

TEST(TmaReduce, FaultsShow) {
  Program program = program_of(store_of("int32", "use_tma_reduce=\"add\""));
  const std::string wait = "        T.ptx.cp_async.bulk.wait_group(0, read=False)\n";
  const std::size_t at = program.source.find(wait);
  ASSERT_NE(at, std::string::npos);
  // A plain store into the elements while they are combined.
  program.source.replace(at, wait.size(), "        A[16, 64] = 0\n" + wait);
  const Findings found = findings_of(program);
  EXPECT_TRUE(found.tile && found.tile->contains("while a copy into it is under way"))
      << found.tile.value_or("nothing");
  EXPECT_TRUE(found.lowered && found.lowered->contains("while a copy into it is under way"))
      << found.lowered.value_or("nothing");
}

// --- hints, fills, prefetches --------------------------------------------------------------------

TEST(TmaSettings, CacheHints) {
  Family family("tma, cache hints", Nvcc::Always);
  for (const bool is_load : {true, false})
    for (const std::string hint :
         {"\"evict_normal\"", "\"evict_first\"", "\"evict_last\"", "0x12F0000000000000",
          "T.uint64(0x14F0000000000000) + T.uint64(bx)"}) {
      BoxCase c = kLoad;
      c.is_load = is_load;
      c.settings = "cache_hint=" + hint;
      const Checked checked = family.run(program_of(c), by_boxes(1));
      EXPECT_EQ(count_of(checked.ptx, ".L2::cache_hint"), 1U) << checked.ptx;
      family.count();
    }
  BoxCase reduce = store_of("float32", "use_tma_reduce=\"add\", cache_hint=\"evict_last\"");
  family.run(program_of(reduce), by_boxes(1));
  BoxCase shared = kLoad;
  shared.cluster = 2;
  shared.grid = {2};
  shared.settings = "multicast=(0, 1), split=True, cache_hint=\"evict_last\"";
  family.run(program_of(shared), by_boxes(1));
  family.count(2);
  for (const std::string bad : {"\"evict\"", "1.5", "bx"}) {
    BoxCase c = kLoad;
    c.settings = "cache_hint=" + bad;
    EXPECT_THAT(
        compile_only(program_of(c)).why,
        HasSubstr("expected \"evict_normal\", \"evict_first\", \"evict_last\" or the 64 bits "
                  "of a policy"));
  }
}

TEST(TmaSettings, FillsByTheirNameInTvm) {
  Family family("tma, oob", Nvcc::Always);
  for (const std::string fill : {"zero", "nan"}) {
    BoxCase c = kLoad;
    c.from = "[48:80, 112:144]";
    c.settings = fmt::format("oob=\"{}\"", fill);
    Program program = program_of(c);
    program.has_any_nan = true;
    family.run(program, by_boxes(1));
    family.count();
  }
  BoxCase c = kLoad;
  c.settings = "oob=\"one\"";
  EXPECT_THAT(compile_only(program_of(c)).why,
              HasSubstr("`oob` of `copy_async` is \"one\", expected \"zero\" or \"nan\""));
  c.dtype = "int32";
  c.settings = "oob=\"nan\"";
  EXPECT_THAT(compile_only(program_of(c)).why, HasSubstr("which `int32` does not hold"));
}

// By thread 0, before anything else, and once for each map.
TEST(TmaSettings, MapsArePrefetched) {
  Family family("tma, maps prefetched", Nvcc::Always);
  BoxCase c = kLoad;
  c.settings = "prefetch_tensormap=True";
  const Checked checked = family.run(program_of(c), by_boxes(1));
  EXPECT_EQ(count_of(checked.ptx, "prefetch.tensormap"), 1U) << checked.ptx;
  EXPECT_LT(checked.ptx.find("prefetch.tensormap"), checked.ptx.find("mbarrier.init"));
  c.settings = "prefetch_tensormap=False";
  EXPECT_EQ(count_of(family.run(program_of(c), by_boxes(1)).ptx, "prefetch.tensormap"), 0U);
  // By hand.
  Program program = program_of(kLoad);
  const std::size_t at = program.source.find("    T.device_entry()\n");
  program.source.replace(at, 21,
                         "    A_map = T.tensor_map(A, box=(32, 32))\n    T.device_entry()\n"
                         "    T.ptx.prefetch_tensormap(A_map)\n");
  EXPECT_EQ(count_of(family.run(program).ptx, "prefetch.tensormap"), 1U);
  family.count(3);
}

// A map of the program's own, which has to be the one that the copy needs.
TEST(TmaSettings, MapsByHand) {
  Family family("tma, maps by hand", Nvcc::Always);
  const auto with_map = [](BoxCase c, const std::string& map) {
    c.settings += std::string(c.settings.empty() ? "" : ", ") + "tensor_map=A_map";
    Program program = program_of(c);
    const std::size_t at = program.source.find("    T.device_entry()\n");
    program.source.insert(at, "    A_map = T.tensor_map(" + map + ")\n");
    return program;
  };
  for (const bool is_load : {true, false}) {
    BoxCase c = kLoad;
    c.is_load = is_load;
    const Checked checked =
        family.run(with_map(c, "A, box=(32, 32), swizzle=128, promotion=128"), by_boxes(1));
    EXPECT_EQ(count_of(checked.ptx, ".param .align 64"), 1U) << checked.ptx;  // no other map
    c.is_ragged = true;
    family.run(with_map(c, "A, box=(32, 32), swizzle=128"), by_boxes(1));
    family.count(2);
  }
  const auto declines = [&](const std::string& map, const std::string& why, BoxCase c = kLoad) {
    const Checked checked = compile_only(with_map(c, map));
    EXPECT_THAT(verdict_on(checked, 0, "tma"), HasSubstr("[map] `A_map` has " + why))
        << checked.why;
  };
  declines("A, box=(16, 32), swizzle=128", "boxes of 32 x 16, expected 32 x 32");
  declines("A, box=(32, 32), swizzle=64", "a swizzle of 64 bytes, expected 128");
  declines("tile_in, box=(1, 32, 32), swizzle=128", "boxes of 32 x 32 x 1, expected 32 x 32");
  declines("A.data, box=(32, 32), dims=(64, 64), strides=(128,), swizzle=128",
           "other extents than the array");
  declines("A.data, box=(32, 32), dims=(64, 128), strides=(256,), swizzle=128",
           "other strides than the array");
  BoxCase filled = kLoad;
  filled.from = "[48:80, 64:96]";
  filled.settings = "fill_value=0";
  declines("A, box=(32, 32), swizzle=128, fill=\"nan\"", "`fill=\"nan\"`, expected \"zero\"",
           filled);
  declines("A, box=(32, 32), swizzle=128, fill=\"none\"", "`fill=\"none\"`, expected \"zero\"",
           filled);
  BoxCase bad = kLoad;
  bad.settings = "tensor_map=bx";
  EXPECT_THAT(compile_only(program_of(bad)).why,
              HasSubstr("expected a name that `T.tensor_map` gives before `T.device_entry()`"));
}

TEST(TmaSettings, ByChance) { run_by_chance("tma, settings by chance", 40, hinted_by_chance); }

}  // namespace
}  // namespace ww::test::tma_settings_test
