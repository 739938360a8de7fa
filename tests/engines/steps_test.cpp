// SPDX-License-Identifier: Apache-2.0
// Regions by steps: `A[1:64:2, 0:64]` is every second row. Copies of all kinds take them, the copy engine
// through a map whose strides are so much larger; along rows it does not, and says so.
#include <gmock/gmock.h>

#include "engines/chance.h"
#include "engines/random_boxes.h"

namespace ww::test::steps_test {
namespace {

TEST(Steps, ByTheCopyEngine) {
  Family family("steps, tma", Nvcc::Always);
  for (const std::string from :
       {"[0:64:2, 0:64]", "[1:64:2, 64:128]", "[bx * 96:bx * 96 + 96:3, 0:64]", "[2:130:4, 0:64]"})
    for (const bool is_load : {true, false}) {
      const BoxCase c{.array = {192, 128},
                      .shared = {32, 64},
                      .tile = swizzled(3, 3, 3, "S[(32, 64) : (64, 1)]"),
                      .from = from,
                      .is_load = is_load,
                      .grid = {from.contains("bx") ? 2 : 1}};
      const Checked checked = family.run(program_of(c), by_boxes(1));
      EXPECT_EQ(count_of(checked.ptx, "cp.async.bulk.tensor.2d"), 1U) << checked.ptx;
      family.count();
    }
  // Along two dimensions of three.
  const BoxCase c{.dtype = "float32",
                  .array = {12, 40, 32},
                  .shared = {4, 8, 32},
                  .from = "[1:12:3, 4:36:4, 0:32]"};
  family.run(program_of(c), by_boxes(1));
  // Behind the array there are zeros.
  const BoxCase leaves{
      .array = {64, 64}, .shared = {32, 64}, .from = "[32:96:2, 0:64]", .settings = "fill_value=0"};
  family.run(program_of(leaves), by_boxes(1));
  family.count(2);
}

TEST(Steps, WhatTheCopyEngineDeclines) {
  const BoxCase c{
      .array = {32, 128}, .shared = {32, 64}, .from = "[0:32, 0:128:2]", .variant = "tma"};
  EXPECT_EQ(
      verdict_on(compile_only(program_of(c)), 0, "tma"),
      "[order] neighbours in shared memory are `2` elements apart in `A_by_step`, expected 1");
  const BoxCase leaves{.array = {64, 64},
                       .shared = {32, 64},
                       .from = "[33:97:2, 0:64]",
                       .settings = "fill_value=0",
                       .variant = "tma"};
  EXPECT_EQ(verdict_on(compile_only(program_of(leaves)), 0, "tma"),
            "[layout] `A_by_step` has a layout of its own, and the region may leave it");
}

TEST(Steps, ByThreads) {
  Family family("steps, copies by threads", Nvcc::Always);
  const auto run = [&](CopyCase each) {
    each.threads = 32;
    family.run(program_of(each));
    family.run(program_of(reversed(each)));
    family.count(2);
  };
  run({.dst = shared({16, 32}), .src = global({32, 32}, "[0:32:2, 0:32]")});
  run({.dst = shared({16, 8}), .src = global({32, 32}, "[1:33:2, 3:32:4]")});
  run({.dst = shared({8, 8}),
       .src = shared({64, 64}, swizzled(3, 3, 3, "S[(64, 64) : (64, 1)]"), "[0:64:8, 0:8]")});
  run({.dst = registers({16, 4}, "S[(8, 2, 4) : (4 @ laneid, 1, 1 @ laneid)]", 2),
       .src = shared({32, 4}, "", "[1:32:2, 0:4]")});
  run({.dst = shared({16}), .src = global({64}, "[2::4]")});
  CopyCase async{.dst = shared({16, 32}), .src = global({32, 32}, "[0:32:2, 0:32]")};
  async.op = "copy_async";
  family.run(program_of(async), {.variant = "ldgsts"});
  family.count();
}

BoxCase stepped_by_chance(std::uint64_t seed) {
  Chance by(seed ^ 0x7F4A'7C15U);
  BoxCase c;
  c.dtype = by.one_of<std::string>({"uint8", "float16", "float32", "float64"});
  const std::int64_t unit = 128 / bits_of(c.dtype);
  const std::size_t rank = 2 + static_cast<std::size_t>(by.upto(2));
  std::string from;
  for (std::size_t d = 0; d < rank; ++d) {
    const bool is_row = d + 1 == rank;
    const std::int64_t extent = is_row ? unit * (1 + by.upto(3)) : 1 + by.upto(5);
    const std::int64_t step = is_row ? 1 : by.one_of<std::int64_t>({1, 2, 3, 4});
    const std::int64_t start = is_row ? unit * by.upto(2) : by.upto(2 * step);
    const std::int64_t end = start + (extent - 1) * step + 1 + by.upto(step - 1);
    c.shared.push_back(extent);
    const std::int64_t rows = (end + step - 1) / step * step + by.upto(2) * step;
    c.array.push_back(is_row ? (end + unit - 1) / unit * unit : rows);
    from += fmt::format("{}{}:{}:{}", d == 0 ? "" : ", ", start, end, step);
  }
  c.from = "[" + from + "]";
  c.is_load = by.coin();
  return c;
}

TEST(Steps, ByChance) { run_by_chance("steps, by chance", 40, stepped_by_chance); }

}  // namespace
}  // namespace ww::test::steps_test
