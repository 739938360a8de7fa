// SPDX-License-Identifier: Apache-2.0
// gather, scatter and scatter_add on all engines: every memory on each side, element types, axes,
// rows of all lengths, an index for each row and for each element, indices out of range with a value
// for them and without; and what is declined or an error. Indices are computed from random bits, so
// that rows come in any order and several times; those of a scatter are all different.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/family.h"

namespace ww::test::gather_test {
namespace {

/// A memory and, of registers and shared memory, a layout.
struct Home {
  std::string memory = "global";
  std::string layout = {};
};

struct Case {
  std::string call = "Tx.cta.gather(tile, table, index)";
  Extents table = {64, 64}, tile = {32, 64}, index = {32};
  Home tables = {}, tiles = {"shared"}, indices = {"shared"};
  std::string dtype = "float32", index_dtype = "int32";
  // Of element i, from random bits `r`; those of a scatter must differ.
  std::string number = "r & 63";
  std::int64_t threads = 128;
  std::string target = "sm_90a";
  std::string extent = {};  // a name for the first extent of the table: known at launch only
};

std::string shape_text(const Extents& shape) {
  return fmt::format("({},)", fmt::join(shape, ", "));
}

std::int64_t count_of(const Extents& shape) {
  std::int64_t out = 1;
  for (const std::int64_t extent : shape) out *= extent;
  return out;
}

// A buffer of the kernel by that name, filled from the parameter; its own place if it is global.
std::string operand(const std::string& name, const Extents& shape, const std::string& dtype,
                    const Home& home, const std::string& from) {
  if (home.memory == "global") return "";
  std::string out =
      fmt::format("    {} = T.alloc_buffer({}, \"{}\", scope=\"{}\"{})\n", name, shape_text(shape),
                  dtype, home.memory, home.layout.empty() ? "" : ", layout=" + home.layout);
  return out + fmt::format("    Tx.cta.copy({}, {})\n    T.cuda.cta_sync()\n", name, from);
}

// `numbers` are where the indices are made; what is written goes to parameters at the end.
Program program_of(const Case& c) {
  const bool is_gather = c.call.find("gather") != std::string::npos;
  std::string out =
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
      "from tvm.tirx.layout import S, R, TileLayout, SwizzleLayout, ComposeLayout, laneid, warpid, "
      "tx\n\n@T.prim_func\ndef kernel(table_ptr: T.handle, tile_ptr: T.handle, bits_ptr: T.handle, "
      "index_ptr: T.handle):\n";
  std::string extents = shape_text(c.table);
  if (!c.extent.empty()) {
    out += fmt::format("    {} = T.int32()\n", c.extent);
    extents = fmt::format("({}, {})", c.extent, c.table.at(1));
  }
  const auto param = [&](const std::string& name, const std::string& buffer,
                         const std::string& shape, const std::string& dtype) {
    out += fmt::format("    {} = T.match_buffer({}_ptr, {}, \"{}\")\n", buffer, name, shape, dtype);
  };
  const auto global = [&](const std::string& name, const Home& home) {
    return home.memory == "global" ? name : name + "_out";
  };
  const std::int64_t indices = count_of(c.index);
  param("table", global("table", c.tables), extents, c.dtype);
  param("tile", global("tile", c.tiles), shape_text(c.tile), c.dtype);
  param("bits", "bits", fmt::format("({},)", indices), "int32");
  param("index", global("index", c.indices), shape_text(c.index), c.index_dtype);
  out += fmt::format(
      "    T.device_entry()\n    T.cta_id([1])\n    tid = T.thread_id([{}])\n"
      "    flat = {}.view({})\n"
      "    for k in range({}):\n        i = k * {} + tid\n        if i < {}:\n"
      "            r = bits[i]\n            flat[i] = T.cast({}, \"{}\")\n    T.cuda.cta_sync()\n",
      c.threads, global("index", c.indices), indices, (indices + c.threads - 1) / c.threads,
      c.threads, indices, c.number, c.index_dtype);
  out += operand("index", c.index, c.index_dtype, c.indices, global("index", c.indices));
  out += operand("table", c.table, c.dtype, c.tables, "table_out");
  out += operand("tile", c.tile, c.dtype, c.tiles, "tile_out");
  out += fmt::format("    {}\n    T.cuda.cta_sync()\n", c.call);
  const std::string written = is_gather ? "tile" : "table";
  if ((is_gather ? c.tiles : c.tables).memory != "global")
    out += fmt::format("    Tx.cta.copy({0}_out, {0})\n", written);
  // Which NaN an operation on doubles gives is not specified.
  Program program{.source = out,
                  .target = c.target,
                  .inputs = c.dtype == "float64" ? Inputs::Normal : Inputs::Bits};
  if (!c.extent.empty()) program.scalars[c.extent] = c.table[0];
  return program;
}

// The verdict of the call is behind those of the copies.
std::size_t number_of_call(const Case& c) {
  std::size_t out = 0;
  for (const Home* home : {&c.tables, &c.tiles, &c.indices}) out += home->memory != "global";
  return out;
}

const std::string kRows = "TileLayout(S[(4, 8, 16, 4) : (4, 16 @ tx, 1 @ tx, 1)])";

TEST(Gather, Memories) {
  Family family("gather: memories", Nvcc::Always);
  const std::vector<Case> cases = {
      {},
      {.tiles = {"global"}, .indices = {"global"}},
      {.tables = {"shared"}, .tiles = {"global"}},
      {.tables = {"shared",
                  "ComposeLayout(SwizzleLayout(2, 3, 3), TileLayout(S[(64, 64) : (64, 1)]))"},
       .tiles = {"shared",
                 "ComposeLayout(SwizzleLayout(2, 3, 3), TileLayout(S[(32, 64) : (64, 1)]))"}},
      {.tables = {"shared", "TileLayout(S[(8, 8, 64) : (64, 520, 1)])"}},
      {.tiles =
           {"local",
            "TileLayout(S[(8, 4, 16, 4) : (4, 1 @ warpid, 2 @ laneid, 1)] + R[2 : 1 @ laneid])"}},
      {.tiles = {"local", "TileLayout(S[(4, 8, 16, 4) : (4, 16 @ tx, 1 @ tx, 1)])"}},
      {.indices = {"local", "TileLayout(S[32 : 1 @ laneid] + R[4 : 1 @ warpid])"}},
      {.tiles = {"local", "TileLayout(S[(4, 8, 16, 4) : (4, 16 @ tx, 1 @ tx, 1)])"},
       .indices = {"local", "TileLayout(S[32 : 4 @ tx] + R[4 : 1 @ tx])"}},
      {.tiles = {"local", "TileLayout(S[(32, 4, 16) : (4 @ tx, 1 @ tx, 1)])"},
       .indices = {"local", "TileLayout(S[32 : 4 @ tx] + R[4 : 1 @ tx])"}},
      {.call = "Tx.cta.gather(tile, table[8:40, :], index)", .number = "r & 31"},
      {.extent = "n"},
  };
  for (const Case& c : cases) {
    family.run(program_of(c), {.variant = "indexed"}, number_of_call(c));
    family.count();
  }
}

TEST(Gather, WidthsAndTypes) {
  Family family("gather: widths and types", Nvcc::Always);
  const auto run = [&](Case c, const std::string& opcode, std::int64_t times) {
    family.run(program_of(c), {.opcode = opcode, .per_thread = times}, number_of_call(c));
    family.count();
  };
  run({}, "ld.global.v4.b32", 4);
  run({.dtype = "float16"}, "ld.global.v4.b32", 2);
  run({.dtype = "uint8"}, "ld.global.v4.b32", 1);
  run({.dtype = "float64"}, "ld.global.v4.b32", 8);
  run({.dtype = "bool"}, "ld.global.v4.b32", 1);
  run({.dtype = "float16", .index_dtype = "int64"}, "ld.global.v4.b32", 2);
  // A pitch of 12 bytes, of 8, of 4, of 2.
  run({.table = {64, 3}, .tile = {32, 3}}, "ld.global.b32", 1);
  run({.table = {64, 6}, .tile = {32, 6}}, "ld.global.v2.b32", 1);
  run({.table = {64, 2}, .tile = {32, 2}, .dtype = "float16"}, "ld.global.b32", 1);
  run({.table = {64, 5}, .tile = {32, 5}, .dtype = "float16"}, "ld.global.b16", 2);
  // The region starts 8 bytes into a row.
  run({.call = "Tx.cta.gather(tile, table[:, 2:34], index)", .tile = {32, 32}}, "ld.global.v2.b32",
      4);
  run({.call = "Tx.warp.gather(tile, table, index)", .threads = 32}, "ld.global.v4.b32", 16);
  run({.call = "Tx.wg.gather(tile, table, index)"}, "ld.global.v4.b32", 4);
}

TEST(Gather, AxesAndIndices) {
  Family family("gather: axes and indices", Nvcc::Always);
  const std::vector<Case> cases = {
      {.call = "Tx.cta.gather(tile, table, index, axis=1)", .tile = {64, 32}},
      {.call = "Tx.cta.gather(tile, table, index, axis=-1)",
       .tile = {64, 32},
       .tables = {"shared"}},
      {.call = "Tx.cta.gather(tile, table, index, axis=1)",
       .table = {4, 64, 8},
       .tile = {4, 32, 8}},
      {.call = "Tx.cta.gather(tile, table[2, :, :], index, axis=1)",
       .table = {4, 64, 8},
       .tile = {32, 8}},
      {.table = {64}, .tile = {32}},
      {.table = {64}, .tile = {256}, .index = {256}, .tables = {"shared"}},
      {.call = "Tx.cta.gather(tile, table, index)", .index = {32, 64}},
      {.call = "Tx.cta.gather(tile, table, index, axis=1)",
       .tile = {64, 32},
       .index = {64, 32},
       .dtype = "float16"},
      {.index = {32, 64}, .tiles = {"local", kRows}, .indices = {"local", kRows}},
      {.call = "Tx.cta.gather(tile, table, index)", .tile = {1, 64}, .index = {1}},
      {.call = "Tx.cta.gather(tile, table, index)", .table = {1, 64}, .number = "r & 0"},
      {.call = "if tid == 5:\n        Tx.gather(tile, table, index)",
       .table = {64, 8},
       .tile = {4, 8},
       .index = {4}},
  };
  for (const Case& c : cases) {
    family.run(program_of(c), {.variant = "indexed"}, number_of_call(c));
    family.count();
  }
}

TEST(Gather, OutOfRange) {
  Family family("gather: a value for what is out of range", Nvcc::Always);
  const std::string call = "Tx.cta.gather(tile, table, index, fill_value={})";
  const std::vector<Case> cases = {
      {.call = fmt::format(fmt::runtime(call), "1.5"), .number = "(r & 127) - 32"},
      {.call = fmt::format(fmt::runtime(call), "-7"), .dtype = "int32", .number = "r"},
      {.call = fmt::format(fmt::runtime(call), "1.5"),
       .index_dtype = "int64",
       .number = "T.cast(r & 255, \"int64\") << 28"},
      {.call = fmt::format(fmt::runtime(call), "0"),
       .tiles = {"local", "TileLayout(S[(4, 8, 16, 4) : (4, 16 @ tx, 1 @ tx, 1)])"},
       .dtype = "float16",
       .number = "(r & 127) - 32"},
      {.call = fmt::format(fmt::runtime(call), "2.0"),
       .index = {32, 64},
       .tables = {"shared"},
       .number = "(r & 127) - 32"},
      {.call = fmt::format(fmt::runtime(call), "3.0"), .number = "(r & 127) - 32", .extent = "n"},
  };
  for (const Case& c : cases) {
    family.run(program_of(c), {.variant = "indexed"}, number_of_call(c));
    family.count();
  }
}

TEST(Scatter, Memories) {
  Family family("scatter", Nvcc::Always);
  const std::string call = "Tx.cta.scatter(table, tile, index)", all = "i * 5 + 3 & 63";
  const std::vector<Case> cases = {
      {.call = call, .number = all},
      {.call = call, .tables = {"shared"}, .tiles = {"global"}, .number = all},
      {.call = call, .dtype = "float16", .index_dtype = "int64", .number = all},
      {.call = call,
       .tiles =
           {"local",
            "TileLayout(S[(8, 4, 16, 4) : (4, 1 @ warpid, 2 @ laneid, 1)] + R[2 : 1 @ laneid])"},
       .number = all},
      {.call = call,
       .tiles = {"local", "TileLayout(S[(32, 4, 16) : (4 @ tx, 1 @ tx, 1)])"},
       .indices = {"local", "TileLayout(S[32 : 4 @ tx] + R[4 : 1 @ tx])"},
       .number = all},
      {.call = "Tx.cta.scatter(table, tile, index, axis=1)", .tile = {64, 32}, .number = all},
      {.call = "Tx.cta.scatter(table, tile, index, clip=True)", .number = "i * 5 - 16"},
      {.call = "Tx.cta.scatter(table, tile, index, clip=True)",
       .tables = {"shared",
                  "ComposeLayout(SwizzleLayout(2, 3, 3), TileLayout(S[(64, 64) : (64, 1)]))"},
       .number = "i * 5 - 16"},
      {.call = call, .index = {32, 64}, .number = "i // 64 * 5 + i & 63"},
      {.call = call, .table = {64}, .tile = {32}, .number = all},
  };
  for (const Case& c : cases) {
    family.run(program_of(c), {.variant = "indexed"}, number_of_call(c));
    family.count();
  }
}

// Sums of integers do not depend on their order.
TEST(Scatter, Adds) {
  Family family("scatter_add", Nvcc::Always);
  const std::string call = "Tx.cta.scatter_add(table, tile, index)";
  const auto run = [&](Case c, const std::string& opcode, std::int64_t times) {
    family.run(program_of(c), {.variant = "indexed", .opcode = opcode, .per_thread = times},
               number_of_call(c));
    family.count();
  };
  run({.call = call, .dtype = "int32"}, "red.global.add.s32", 16);
  run({.call = call, .dtype = "uint32", .number = "r & 3"}, "red.global.add.u32", 16);
  run({.call = call, .tables = {"shared"}, .dtype = "int64"}, "red.shared.add.u64", 16);
  run({.call = call, .tables = {"shared"}, .dtype = "uint64", .number = "r & 7"},
      "red.shared.add.u64", 16);
  run({.call = "Tx.cta.scatter_add(table, tile, index, clip=True)",
       .dtype = "int32",
       .number = "(r & 127) - 32"},
      "red.global.add.s32", 16);
  run({.call = call,
       .tiles =
           {"local",
            "TileLayout(S[(8, 4, 16, 4) : (4, 1 @ warpid, 2 @ laneid, 1)] + R[2 : 1 @ laneid])"},
       .dtype = "int32"},
      "red.global.add.s32", 32);
  run({.call = call,
       .table = {64},
       .tile = {256},
       .index = {256},
       .tables = {"shared"},
       .dtype = "int32"},
      "red.shared.add.s32", 4);
  // Floats: each place is added to once.
  for (const auto& [dtype, word] :
       {std::pair("float32", "f32"), std::pair("float64", "f64"), std::pair("float16", "noftz.f16"),
        std::pair("bfloat16", "noftz.bf16")})
    run({.call = call, .dtype = dtype, .number = "i * 5 + 3 & 63"},
        fmt::format("red.global.add.{}", word), 16);
}

TEST(Gather, OnAllTargets) {
  Family family("gather and scatter_add on all targets");
  for (const std::string target : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a",
                                   "sm_103a", "sm_110a", "sm_120a", "sm_121a"}) {
    family.run(program_of({.target = target}));
    family.run(program_of(
        {.call = "Tx.cta.scatter_add(table, tile, index)", .dtype = "int32", .target = target}));
    family.count(2);
  }
}

// Tables are not gone through row by row.
TEST(Gather, LargeTables) {
  const Checked checked = compile_only(program_of({.table = {50'000'000, 64}}));
  EXPECT_TRUE(checked.right()) << checked.explain();
}

TEST(Gather, Declines) {
  const auto reason = [](const Case& c) {
    return verdict_on(check(program_of(c)), number_of_call(c), "indexed");
  };
  EXPECT_EQ(reason({.table = {32, 64},
                    .tables = {"local", "TileLayout(S[(32, 4, 16) : (4 @ tx, 1 @ tx, 1)])"},
                    .number = "r & 31"}),
            "[memory] `table`, whose rows are chosen at run time, is in registers, expected global "
            "or shared memory");
  EXPECT_EQ(reason({.call = "Tx.cta.gather(table[0:32, :], table, index)", .tables = {"shared"}}),
            "[overlap] `table` and `table` are in one buffer, and may overlap");
  EXPECT_EQ(reason({.call = "Tx.cta.scatter_add(table, tile, index)",
                    .dtype = "bfloat16",
                    .target = "sm_80"}),
            "[arch] sm_80 does not have `red.global.add.noftz.bf16`");
}

// Indices that are wrong are found by the evaluator and by the virtual GPU.
TEST(Gather, FindsWrongIndices) {
  const auto expect = [](const Case& c, const std::string& tile, const std::string& device) {
    const Findings found = findings_of(program_of(c));
    ASSERT_TRUE(found.tile && found.device) << found.checked.explain();
    EXPECT_NE(found.tile->find(tile), std::string::npos) << *found.tile;
    EXPECT_NE(found.device->find(device), std::string::npos) << *found.device;
  };
  expect({.number = "r & 63 | 64"}, "expected 0 to 63", "bounds");
  expect({.number = "-1 - (r & 7)"}, "expected 0 to 63", "bounds");
  expect({.tables = {"shared"}, .tiles = {"global"}, .number = "r | 65536"}, "expected 0 to 63",
         "bounds");
  expect({.index_dtype = "int64", .number = "T.int64(1) << 32"}, "expected 0 to 63", "bounds");
  expect({.call = "Tx.cta.scatter(table, tile, index)", .number = "7"}, "both go to", "race");
  expect({.call = "Tx.cta.scatter_add(table, tile, index)", .dtype = "int32", .number = "64 + i"},
         "expected 0 to 63", "bounds");
}

}  // namespace
}  // namespace ww::test::gather_test
