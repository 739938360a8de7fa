// SPDX-License-Identifier: Apache-2.0
// copy_async between tensor memory and registers, beside the grid: split rows, packed columns,
// several instructions, stages, units, small elements, replicas; and how the inputs of a call
// change what it becomes.
#include <tuple>

#include "engines/tensor_family.h"

namespace ww::test::tcgen05_test {
namespace {

const std::vector<std::string> kSlabShapes = {"16x64b", "16x128b", "16x256b"};
const std::vector<std::string> kShapes = {"32x32b", "16x64b", "16x128b", "16x256b"};
const std::vector<std::string> kHalves = {"float16", "bfloat16"};

// --- beside the grid -----------------------------------------------------------------------------

// Rows of 16 lanes twice, a constant number of columns apart.
TensorCopy split_copy(std::int64_t num, std::int64_t apart, int slab = 0,
                      const std::string& dtype = "float32") {
  const std::int64_t n = per_column(dtype);
  const std::string offset = slab == 0 ? "" : " + 16 @ TLane";
  return copy_of(
      tensor({4, 16, 2, num * n},
             tile(fmt::format("S[(4, 16, 2, {}) : (32 @ TLane, 1 @ TLane, {} @ TCol, 1 @ TCol)]{}",
                              num * n, apart * n, offset))),
      registers(
          {4, 16, 2, num * n},
          fmt::format("S[(4, 16, 2, {}) : (1 @ wid_in_wg, 1 @ laneid, 16 @ laneid, 1)]", num * n),
          num * n));
}

TEST(Tcgen05, SplitRows) {
  TensorFamily family("tcgen05, 16x32bx2", Nvcc::Always);
  for (const int num : {1, 2, 4, 8, 16, 32, 64, 128})
    family.run(round_trip(split_copy(num, num), "float32", 2 * num), both(times("16x32bx2", num)));
  family.run(round_trip(split_copy(4, 11), "float32", 15), both("16x32bx2.x4"));
  family.run(round_trip(split_copy(4, 11, 1), "float32", 15), both("16x32bx2.x4"));
  family.run(round_trip(split_copy(4, 5, 1, "float16"), "float16", 9), both("16x32bx2.x4"));
  family.run(round_trip(split_copy(2, 2, 0, "uint8"), "uint8", 4), both("16x32bx2.x2"));
}

// 16-bit elements with a column each.
TEST(Tcgen05, PackedColumns) {
  TensorFamily family("tcgen05, pack and unpack", Nvcc::Always);
  const auto packed = [](const std::string& move, int count = 1) {
    return Moves{{"ld " + move + ".pack::16b", count}, {"st " + move + ".unpack::16b", count}};
  };
  for (const std::string& dtype : kHalves)
    for (const int num : {1, 4, 32}) {
      const std::int64_t n = 2 * num;
      const TensorCopy copy =
          copy_of(tensor({128, n}, tile(fmt::format("S[(128, {}) : (1 @ TLane, 2 @ TCol)]", n))),
                  row_registers(n));
      family.run(round_trip(copy, dtype, n), packed(times("32x32b", num)));
    }
  for (const std::string& shape : kSlabShapes) {
    const std::int64_t n = factor_of(shape) * 4 * 2;
    const TensorCopy copy =
        copy_of(tensor({64, n}, tile(fmt::format("S[(4, 16, {}) : (32 @ TLane, 1 @ TLane, 2 @ "
                                                 "TCol)]",
                                                 n))),
                fragment(shape, 64, n, "float16"), 3);
    family.run(round_trip(copy, "float16", n + 3), packed(times(shape, 4)));
  }
}

TEST(Tcgen05, SeveralInstructions) {
  TensorFamily family("tcgen05, several instructions");
  family.run(
      round_trip(rows_copy("float32", 24, 0), "float32", 24),
      {{"ld 32x32b.x16", 1}, {"ld 32x32b.x8", 1}, {"st 32x32b.x16", 1}, {"st 32x32b.x8", 1}});
  family.run(round_trip(rows_copy("float16", 7, 2), "float16", 9), {{"ld 32x32b.x4", 1},
                                                                    {"ld 32x32b.x2", 1},
                                                                    {"ld 32x32b.x1", 1},
                                                                    {"st 32x32b.x4", 1},
                                                                    {"st 32x32b.x2", 1},
                                                                    {"st 32x32b.x1", 1}});
  // Columns in two groups, with others between them.
  const TensorCopy groups =
      copy_of(tensor({128, 2, 8}, tile("S[(128, 2, 8) : (1 @ TLane, 12 @ TCol, 1 @ TCol)]")),
              registers({128, 2, 8}, "S[(128, 2, 8) : (1 @ tid_in_wg, 8, 1)]", 16));
  family.run(round_trip(groups, "float32", 20), both("32x32b.x8", 2));
}

// Registers in any order, with gaps, from a register on.
TEST(Tcgen05, RegisterOrders) {
  TensorFamily family("tcgen05, orders of registers", Nvcc::Always);
  const std::vector<std::pair<std::string, std::int64_t>> orders = {
      {"S[(128, 4, 4) : (1 @ tid_in_wg, 1, 4)]", 16},
      {"S[(128, 4, 4) : (1 @ tid_in_wg, 5, 1)]", 19},
      {"S[(128, 4, 4) : (1 @ tid_in_wg, 4, 1)] + 3", 19},
      {"S[(128, 2, 8) : (1 @ tid_in_wg, 1, 2)]", 16}};
  for (const auto& [notation, count] : orders) {
    const Operand own = registers({128, 16}, notation, count);
    family.run(round_trip(copy_of(datapath('D', 128, 16), own), "float32", 16), both("32x32b.x16"));
  }
}

TEST(Tcgen05, StagesAtRunTime) {
  TensorFamily family("tcgen05, stages", Nvcc::Always);
  for (const std::string dtype : {"float32", "float16", "uint8"})
    for (const std::string stage : {"stage", "it", "1 - stage"}) {
      const std::int64_t n = 8 * per_column(dtype);
      TensorCopy copy = copy_of(
          tensor({3, 128, n},
                 tile(fmt::format("S[(3, 128, {}) : ({} @ TCol, 1 @ TLane, 1 @ TCol)]", n, n)),
                 fmt::format("[{}, 0:128, 0:{}]", stage, n)),
          row_registers(n));
      if (stage == "it") copy.around = "for it in range(2):";
      family.run(round_trip(copy, dtype, 24), both("32x32b.x8"));
    }
  // A start in columns of the tile.
  TensorCopy start = copy_of(datapath('F', 64, 64, 1, "[0:64, stage * 16:stage * 16 + 16]"),
                             fragment("16x128b", 64, 16, "float32"));
  family.run(round_trip(start, "float32", 64), both("16x128b.x4"));
}

TEST(Tcgen05, Units) {
  TensorFamily family("tcgen05, warps, warpgroups and CTAs", Nvcc::Always);
  // The second warpgroup: warps 4 to 7 reach what 0 to 3 do.
  for (const int group : {0, 1}) {
    TensorProgram second = round_trip(atom_copy("16x256b", 4, "float32"), "float32", 32);
    second.threads = 256;
    for (TensorCopy& copy : second.copies) copy.around = fmt::format("if wg == {}:", group);
    family.run(second, both("16x256b.x4"));
  }
  // What the first stores is loaded by both.
  TensorProgram pair = round_trip(rows_copy("float16", 8, 3), "float16", 11);
  pair.threads = 256;
  pair.copies.front().around = "if wg == 0:";
  family.run(pair, both("32x32b.x8"));
  // A warp by itself, in its quarter.
  for (const int warp : {0, 3}) {
    TensorCopy quarter = copy_of(datapath('D', 128, 8, 0, box({32 * warp, 0}, {32, 8})),
                                 registers({32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8));
    quarter.scope = "warp";
    quarter.around = fmt::format("if warp == {}:", warp);
    family.run(round_trip(quarter, "float32", 8), both("32x32b.x8"));
  }
  // A CTA of four warps.
  TensorCopy whole =
      copy_of(datapath('D', 128, 8), registers({128, 8}, "S[(128, 8) : (1 @ tx, 1)]", 8));
  whole.scope = "cta";
  family.run(round_trip(whole, "float32", 8), both("32x32b.x8"));
}

// Where many threads share the register file, an instruction has no more registers than fit.
TEST(Tcgen05, ManyThreads) {
  TensorFamily family("tcgen05, many threads");
  const std::vector<std::tuple<int, int, int>> rows = {{256, 128, 1}, {512, 64, 2}, {1024, 32, 4}};
  for (const auto& [threads, num, count] : rows) {
    TensorProgram program = one_way(rows_copy("float32", 128, 0), true, "float32", 128);
    program.threads = threads;
    program.copies.front().around = fmt::format("if wg == {}:", threads / 128 - 1);
    family.run(program, {{"ld " + times("32x32b", num), count}});
  }
}

// Elements of four bits, eight to a column: registers come from and go to global memory by copies,
// as single ones have no address.
TEST(Tcgen05, ElementsSmallerThanBytes) {
  TensorFamily family("tcgen05, elements of 4 bits");
  for (const std::string dtype : {"float4_e2m1fn", "int4"})
    for (const std::int64_t words : {1, 4, 16}) {
      const std::int64_t n = 8 * words;
      KernelText text(128, dtype);
      text.param("A", {128, n});
      text.param("B", {128, n});
      text.line("base = T.alloc_shared([1], \"uint32\")");
      text.line("if warp == 0:");
      text.line("    T.ptx.tcgen05.alloc(T.address_of(base), n_cols=32, cta_group=1)");
      text.sync();
      text.line(
          fmt::format("t = T.decl_buffer((128, {0}), \"{1}\", scope=\"tmem\", "
                      "allocated_addr=base[0], layout=TileLayout(S[(128, {0}) : (1 @ TLane, "
                      "1 @ TCol)]))",
                      n, dtype));
      for (const char* name : {"r", "q"})
        text.line(
            fmt::format("{0} = T.alloc_buffer((128, {1}), \"{2}\", scope=\"local\", "
                        "layout=TileLayout(S[(128, {1}) : (1 @ tid_in_wg, 1)]))",
                        name, n, dtype));
      text.line("Tx.wg.copy(r[:, :], A[:, :])");
      text.line("Tx.wg.copy_async(t[:, :], r[:, :])");
      text.line("T.ptx.tcgen05.wait.st()");
      text.line("Tx.wg.copy_async(q[:, :], t[:, :])");
      text.line("T.ptx.tcgen05.wait.ld()");
      text.line("Tx.wg.copy(B[:, :], q[:, :])");
      text.sync();
      text.line("if warp == 0:");
      text.line("    T.ptx.tcgen05.dealloc(base[0], n_cols=32, cta_group=1)");
      family.run(Program{.source = text.text(), .target = "sm_100a"}, both(times("32x32b", words)));
    }
}

// Each quarter of the lanes holds the tile, as scale factors are held: a warp takes its own.
TEST(Tcgen05, Replicas) {
  TensorFamily family("tcgen05, tiles that every quarter holds");
  KernelText text(128, "float32");
  text.param("A", {32, 8});
  text.param("B", {128, 8});
  text.line("base = T.alloc_shared([1], \"uint32\")");
  text.line("if warp == 0:");
  text.line("    T.ptx.tcgen05.alloc(T.address_of(base), n_cols=32, cta_group=1)");
  text.sync();
  text.line(
      "t = T.decl_buffer((32, 8), \"float32\", scope=\"tmem\", allocated_addr=base[0], "
      "layout=TileLayout(S[(32, 8) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]))");
  for (const char* name : {"r", "q"})
    text.line(
        fmt::format("{} = T.alloc_buffer((32, 8), \"float32\", scope=\"local\", "
                    "layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)] + R[4 : 1 @ wid_in_wg]))",
                    name));
  text.line("Tx.wg.copy(r[:, :], A[:, :])");
  text.line("Tx.wg.copy_async(t[:, :], r[:, :])");
  text.line("T.ptx.tcgen05.wait.st()");
  text.line("Tx.wg.copy_async(q[:, :], t[:, :])");
  text.line("T.ptx.tcgen05.wait.ld()");
  text.line("own = q.local(8)");
  text.for_registers("B", "own", 8, true);
  text.sync();
  text.line("if warp == 0:");
  text.line("    T.ptx.tcgen05.dealloc(base[0], n_cols=32, cta_group=1)");
  family.run(Program{.source = text.text(), .target = "sm_100a"}, both("32x32b.x8"));
}

// Loads into other registers may be under way together; one wait is for all.
TEST(Tcgen05, SeveralUnderWay) {
  TensorFamily family("tcgen05, several loads under way", Nvcc::Always);
  TensorProgram program;
  for (const int column : {0, 8, 16})
    program.copies.push_back(copy_of(datapath('D', 128, 8), row_registers(8), column));
  Program text = program_of(program);
  const std::string between =
      "    T.ptx.tcgen05.wait.ld()\n    T.ptx.tcgen05.fence.before_thread_sync()\n"
      "    T.cuda.cta_sync()\n    T.ptx.tcgen05.fence.after_thread_sync()\n";
  for (int i = 0; i < 2; ++i) text.source.erase(text.source.find(between), between.size());
  const Checked checked = family.run(text, {{"ld 32x32b.x8", 3}});
  EXPECT_EQ(count_of(checked.ptx, "tcgen05.wait::ld"), 1U) << checked.ptx;
}

// Registers that are taken at a run-time index are in local memory, where nothing is put before the
// load has been waited for.
TEST(Tcgen05, RegistersInLocalMemory) {
  TensorFamily family("tcgen05, registers in local memory", Nvcc::Always);
  TensorProgram program =
      one_way(copy_of(datapath('D', 128, 8), row_registers(8)), true, "float32", 8);
  Program text = program_of(program);
  const std::string dump = "r0_out[tid, i] = r0_d[i]";
  text.source.replace(text.source.find(dump), dump.size(), "r0_out[tid, i] = r0_d[(tid + i) % 8]");
  family.run(text, {{"ld 32x32b.x8", 1}});
}

// Other letters of the datapaths, and their images in registers.
TEST(Tcgen05, OtherDatapaths) {
  TensorFamily family("tcgen05, datapaths A, C, E, G");
  family.run(round_trip(copy_of(datapath('A', 128, 8), row_registers(8)), "float32", 8),
             both("32x32b.x8"));
  family.run(round_trip(copy_of(datapath('C', 64, 16, 1), fragment("16x128b", 64, 16, "float32")),
                        "float32", 16),
             both("16x128b.x4"));
  family.run(round_trip(copy_of(datapath('E', 64, 32), fragment("32x32b", 64, 32, "float32")),
                        "float32", 16),
             both("32x32b.x16"));
  const Operand image = registers({32, 32}, "S[(32, 4, 8) : (1 @ laneid, 1 @ wid_in_wg, 1)]", 8);
  family.run(round_trip(copy_of(datapath('G', 32, 32), image), "float32", 8), both("32x32b.x8"));
  // Halves on datapath B, for which there is no constructor of registers.
  const Operand halves =
      registers({64, 32}, "S[(64, 2, 16) : (1 @ tid_in_wg, 64 @ tid_in_wg, 1)]", 16);
  family.run(round_trip(copy_of(datapath('B', 64, 32), halves), "float16", 8), both("32x32b.x8"));
}

// --- how inputs change the algorithm -------------------------------------------------------------

// The rows of the table that describes this copy, one test each.

TEST(Tcgen05Inputs, RegisterLayout) {
  TensorFamily family("the register layout sets the shape");
  for (const std::string& shape : kSlabShapes)
    family.run(one_way(atom_copy(shape, 4, "float32"), true, "float32", 32),
               {{"ld " + times(shape, 4), 1}});
  // A row per thread has the shape of 32 lanes.
  family.run(one_way(rows_copy("float16", 4, 0), true, "float16", 4), {{"ld 32x32b.x4", 1}});
}

TEST(Tcgen05Inputs, ColumnWidthAndType) {
  TensorFamily family("width and element type set the number of repetitions");
  const std::vector<std::pair<std::string, std::int64_t>> types = {
      {"float32", 1}, {"int32", 1}, {"float16", 2}, {"bfloat16", 2}, {"uint8", 4}};
  for (const auto& [dtype, per] : types)
    for (const std::int64_t columns : {8, 16, 32}) {
      const std::int64_t words = columns / per;
      const Checked checked = family.run(
          one_way(copy_of(datapath('D', 128, columns), row_registers(columns)), true, dtype, words),
          {{"ld " + times("32x32b", words), 1}});
      EXPECT_EQ(checked.call(0).plan.rounds, 1);
    }
}

TEST(Tcgen05Inputs, Direction) {
  TensorFamily family("the direction sets the instruction");
  for (const std::string& shape : kShapes)
    for (const bool is_load : {true, false})
      family.run(one_way(atom_copy(shape, 2, "float16"), is_load, "float16", 16),
                 {{(is_load ? "ld " : "st ") + times(shape, 2), 1}});
}

TEST(Tcgen05Inputs, Datapath) {
  TensorFamily family("the datapath sets the slabs");
  for (const std::string& shape : kSlabShapes) {
    const std::int64_t columns = 2 * factor_of(shape);
    const Operand whole = fragment(shape, 128, columns, "float32");
    const Operand half = fragment(shape, 64, columns, "float32");
    family.run(one_load(datapath('D', 128, columns), whole), {{"ld " + times(shape, 2), 2}});
    for (const int slab : {0, 1})
      family.run(one_load(datapath('F', 64, columns, slab), half), {{"ld " + times(shape, 2), 1}});
  }
  family.run(one_load(datapath('D', 128, 8), row_registers(8)), {{"ld 32x32b.x8", 1}});
}

// The caller waits.
TEST(Tcgen05Inputs, NoWait) {
  const Program program = program_of(round_trip(rows_copy("float16", 4, 0), "float16", 4));
  const Checked checked = check(program);
  ASSERT_TRUE(checked.right()) << checked.explain();
  EXPECT_EQ(count_of(checked.ptx, "tcgen05.wait"), count_of(program.source, "tcgen05.wait"));
}

}  // namespace
}  // namespace ww::test::tcgen05_test
