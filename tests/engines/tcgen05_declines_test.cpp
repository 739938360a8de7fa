// SPDX-License-Identifier: Apache-2.0
// copy_async between tensor memory and registers: what is declined, with the reasons.
#include "engines/tensor_family.h"

namespace ww::test::tcgen05_declines_test {
namespace {

// --- what is declined ----------------------------------------------------------------------------

struct Decline {
  TensorProgram program;
  std::string verdict;
};

TensorProgram with_unit(TensorProgram program, const std::string& scope,
                        const std::string& around = {}) {
  program.copies.front().scope = scope;
  program.copies.front().around = around;
  return program;
}

std::vector<Decline> declines() {
  const Operand d = datapath('D', 128, 16), rows = row_registers(16);
  const Operand warp_rows = registers({32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  return {
      // Rows 0 to 63 are lanes 0 to 63: two warps reach them, and the fragment is of four.
      {one_load(datapath('D', 128, 16, 0, "[0:64, 0:16]"), fragment("16x64b", 64, 16, "float32")),
       "[lanes] thread 32 of the unit holds an element of lane 16 of tensor memory; its warp "
       "reaches lanes 32 to 63"},
      // One row per thread, in another order of threads.
      {one_load(d, registers({128, 16}, "S[(32, 4, 16) : (1 @ laneid, 1 @ wid_in_wg, 1)]", 16)),
       "[lanes] thread 8 of the unit holds an element of lane 32 of tensor memory; its warp "
       "reaches lanes 0 to 31"},
      {one_load(d, registers({128, 16},
                             "S[(4, 2, 16, 16) : (1 @ wid_in_wg, 1 @ laneid, 2 @ laneid, 1)]", 16)),
       "[shape] no shape gives the word at register element 0 of warp 0 the cells (lane of the "
       "quarter, column) that it holds: lane 0: (0, 0), lane 1: (16, 0), lane 2: (1, 0), lane 4: "
       "(2, 0), lane 16: (8, 0)"},
      // Halves of words.
      {one_load(datapath('D', 128, 16, 0, "[0:128, 0:8]"), row_registers(16, "[0:128, 1:9]"),
                "float16"),
       "[registers] the 32-bit word at register element 0 of thread 0 of the unit has 1 of its 2 "
       "elements in the tile"},
      {one_load(datapath('D', 128, 16, 0, "[0:128, 1:9]"), row_registers(16, "[0:128, 0:8]"),
                "float16"),
       "[columns] register element 0 of thread 0 of the unit goes with element 1 of lane 0, which "
       "is not part 0 of the 32-bit column of its word"},
      {one_load(datapath('D', 128, 16, 0, "[0:128, 0:7]"), row_registers(7), "float16"),
       "[registers] the 32-bit word at register element 6 of thread 0 of the unit has 1 of its 2 "
       "elements in the tile"},
      {one_load(datapath('D', 128, 16, 0, "[0:128, 4:6]"), row_registers(2), "uint8"),
       "[registers] the 32-bit word at register element 0 of thread 0 of the unit has 2 of its 4 "
       "elements in the tile"},
      {one_load(datapath('D', 128, 32, 0, "[0:128, stage:stage + 8]"), row_registers(8), "float16"),
       "[columns] `t0` begins at `T.Cast(\"int64\", stage)` elements of 16 bits, known at run time "
       "only and not known to be whole 32-bit columns"},
      // A slice that begins inside of an atom, and one that is less than an atom.
      {one_load(datapath('F', 64, 16, 0, "[0:64, 1:9]"),
                fragment("16x64b", 64, 16, "float32", "[0:64, 1:9]")),
       "[shape] the 32-bit word at register element 0 is held by 16 of the 32 lanes of warp 0, "
       "expected all or none"},
      {one_load(datapath('F', 64, 16, 0, "[0:64, 0:4]"),
                fragment("16x256b", 64, 16, "float32", "[0:64, 0:4]")),
       "[shape] the 32-bit word at register element 0 is held by 16 of the 32 lanes of warp 0, "
       "expected all or none"},
      // Datapath F is for shapes of 16 lanes.
      {one_load(datapath('F', 64, 16), registers({64, 16}, "S[(64, 16) : (1 @ tid_in_wg, 1)]", 16)),
       "[lanes] thread 16 of the unit holds an element of lane 32 of tensor memory; its warp "
       "reaches lanes 0 to 31"},
      // B has its columns in two halves of the lanes, and registers in rows do not.
      {one_load(datapath('B', 64, 16), registers({64, 16}, "S[(64, 16) : (1 @ tid_in_wg, 1)]", 16)),
       "[lanes] thread 0 of the unit holds an element of lane 64 of tensor memory; its warp "
       "reaches lanes 0 to 31"},
      {one_load(d, rows, "float64"), "[dtype] elements of 64 bits, expected 4, 8, 16 or 32"},
      {with_unit(one_load(datapath('D', 128, 16, 0, "[tid, 0:16]"), registers({16}, "S[16]", 16)),
                 "thread"),
       "[scope] thread scope, expected warp, warpgroup or cta"},
      // Every warp would load the same lanes.
      {with_unit(one_load(datapath('D', 128, 8, 0, "[0:32, 0:8]"), warp_rows), "warp"),
       "[lanes] warps 0 and 1 come here, which reach different lanes of tensor memory"},
      {with_unit(one_load(datapath('D', 128, 8, 0, "[0:32, 0:8]"), warp_rows), "warp",
                 "if warp == 1:"),
       "[lanes] thread 0 of the unit holds an element of lane 0 of tensor memory; its warp reaches "
       "lanes 32 to 63"},
      {one_load(tensor({128, 16},
                       "ComposeLayout(2, 2, 2, TileLayout(S[(128, 16) : (1 @ TLane, 1 @ "
                       "TCol)]))"),
                rows),
       "[swizzle] `t0` in tensor memory is swizzled"},
      // Lanes that no warp with the elements reaches.
      {with_unit(one_way(copy_of(tensor({32, 8}, tile("S[(32, 8) : (1 @ TLane, 1 @ TCol)] + R[4 : "
                                                      "32 @ TLane]")),
                                 warp_rows),
                         false, "float32", 8),
                 "warp", "if warp == 2:"),
       "[replica] `t0` holds each element at 4 places, 256 of the 1024 cells are reached by a warp "
       "that has them in registers"}};
}

TEST(Tcgen05, DeclinesWithReasons) {
  for (const Decline& row : declines()) {
    const Checked checked = check(program_of(row.program));
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    EXPECT_EQ(verdict_on(checked, 0, "tcgen05_ldst"), row.verdict) << checked.explain();
  }
  fmt::print("declines of tcgen05_ldst: {} cases\n", declines().size());
}

TEST(Tcgen05, ForcedByName) {
  TensorFamily family("tcgen05 by its names");
  for (const std::string name : {"tcgen05_ldst", "tmem<->local"}) {
    TensorProgram program = round_trip(rows_copy("float32", 8, 0), "float32", 8);
    for (TensorCopy& copy : program.copies) copy.settings = fmt::format("dispatch=\"{}\"", name);
    family.run(program, both("32x32b.x8"));
  }
}

// Without allocation, which those targets do not have either.
TEST(Tcgen05, NeedsTensorMemory) {
  constexpr std::string_view kSource =
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
      "from tvm.tirx.layout import S, TileLayout, TLane, TCol, tid_in_wg\n\n"
      "@T.prim_func\ndef kernel(A_ptr: T.handle):\n"
      "    A = T.match_buffer(A_ptr, (128, 8), \"float32\")\n"
      "    T.device_entry()\n    T.warpgroup_id([1])\n    T.thread_id([128])\n"
      "    t = T.decl_buffer((128, 8), \"float32\", scope=\"tmem\", allocated_addr=0, "
      "layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 @ TCol)]))\n"
      "    r = T.alloc_buffer((128, 8), \"float32\", scope=\"local\", "
      "layout=TileLayout(S[(128, 8) : (1 @ tid_in_wg, 1)]))\n"
      "    Tx.wg.copy_async(r[:, :], t[:, :])\n"
      "    Tx.wg.copy(A[:, :], r[:, :])\n";
  for (const std::string target : {"sm_90a", "sm_100", "sm_120a", "sm_80"}) {
    const Checked checked = compile_only({.source = std::string(kSource), .target = target});
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    EXPECT_TRUE(verdict_on(checked, 0, "tcgen05_ldst").starts_with("[arch] tcgen05.ld needs "))
        << checked.explain();
    EXPECT_TRUE(verdict_on(checked, 0, "tcgen05_ldst").ends_with(", the target is " + target))
        << checked.explain();
  }
  for (const std::string target : {"sm_100a", "sm_103a", "sm_100f"}) {
    const Checked checked = compile_only({.source = std::string(kSource), .target = target});
    EXPECT_TRUE(checked.right()) << checked.explain();
    EXPECT_EQ(verdict_on(checked, 0, "tcgen05_ldst"), "chosen");
  }
}

}  // namespace
}  // namespace ww::test::tcgen05_declines_test
