// SPDX-License-Identifier: Apache-2.0
// copy_async from shared to tensor memory: what is declined, with the reasons.
#include "engines/cp_programs.h"

namespace ww::test::tcgen05_cp_declines_test {
namespace {

// --- what is declined ----------------------------------------------------------------------------

TEST(Tcgen05Cp, Declines) {
  const CpCase good{.dtype = "float16",
                    .shape = {128, 16},
                    .tensor = lanes(128, 16),
                    .shared = swizzled_rows(16, 128, 16, 32)};
  const auto expect = [&](const std::string& verdict, const auto& change) {
    CpCase c = good;
    change(c);
    const Checked checked = compile_only(program_of(c));
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    const std::string said = verdict_on(checked, 0, "tcgen05_cp");
    EXPECT_EQ(said.substr(0, verdict.size()), verdict) << said << "\n" << checked.why;
  };
  expect("[threads] 128 threads come here", [](CpCase& c) { c.around = ""; });
  expect("[threads] 32 threads come here", [](CpCase& c) { c.around = "if warp_id == 1:"; });
  expect("[threads] 4 threads come here", [](CpCase& c) { c.around = "if T.ptx.elect_sync():"; });
  // Not even the lanes of a row, rows that no shape has, lanes that there are not.
  expect("[shape] columns 0 to 3 are filled in 64 lanes from 64 different rows, lane 0 alike",
         [](CpCase& c) {
           c.shape = {64, 16};
           c.tensor = lanes(64, 16);
           c.shared = swizzled_rows(16, 64, 16, 32);
         });
  expect("[shape] columns 0 to 3 are filled in 64 lanes from 32 different rows, lanes 0, 32 alike",
         [](CpCase& c) {
           c.shape = {32, 16};
           c.tensor = tile("S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[2 : 32 @ TLane]");
           c.shared = swizzled_rows(16, 32, 16, 32);
         });
  expect("[lanes] element 1008 goes to lane 128", [](CpCase& c) {
    c.shape = {64, 16};
    c.tensor = lanes(64, 16);
    c.address = "T.cuda.get_tmem_addr(base[0], 65, 0)";
    c.shared = swizzled_rows(16, 64, 16, 32);
  });
  expect("[columns] columns 4 to 7 of lane 0 are filled in part", [](CpCase& c) {
    c.shape = {128, 12};
    c.tensor = lanes(128, 12);
    c.shared = tile("S[(128, 12) : (16, 1)]");
    c.elements = 2048;
  });
  expect("[units] element 0 is byte 0 of `smem`, and byte 8 of columns 0 to 3",
         [](CpCase& c) { c.tensor = tile("S[(128, 16) : (1 @ TLane, 1 @ TCol)] + 4 @ TCol"); });
  expect("[units] element 1 is byte 256", [](CpCase& c) {
    c.shared = tile("S[(128, 16) : (1, 128)]");  // the other way round
  });
  // Rows as they lie in no descriptor: row-major without a swizzle, a swizzle of other bits.
  expect(
      "[descriptor] no matrix descriptor gives the rows of 128x256b for columns 0 on: row 0 at "
      "byte 0, row 1 at byte 32, row 2 at byte 64, row 7 at byte 224, row 8 at byte 256, row 16 "
      "at byte 512, half a row 16 bytes on",
      [](CpCase& c) { c.shared = {}; });
  expect("[descriptor] ",
         [](CpCase& c) { c.shared = swizzled(3, 1, 4, "S[(128, 16) : (16, 1)]"); });
  expect("[descriptor] ", [](CpCase& c) {
    c.shared_shape = {136, 16};
    c.shared = swizzled_rows(16, 136, 16, 32);
    c.from = "[1:129, 0:16]";  // not where a pattern begins
  });
  expect(
      "[alignment] the rows of `smem` have a swizzle of 32 bytes, whose pattern begins at "
      "multiples of 256 bytes; storage of 64",
      [](CpCase& c) { c.align = 64; });
  expect("[alignment] `smem` is not known to begin at a multiple of 16 bytes", [](CpCase& c) {
    c.shared_shape = {8, 128, 16};
    c.shared = tile("S[(8, 128, 2, 8) : (4, 8, 1024, 1)]");
    c.elements = 4096;
    c.from = "[stage, 0:128, 0:16]";
  });
  expect("[start] `smem` begins at ", [](CpCase& c) {
    c.shared_shape = {128, 64};
    c.shared = swizzled_rows(16, 128, 64, 128);
    c.from = "[0:128, stage * 16:stage * 16 + 16]";
  });
  expect("[swizzle] `smem` begins at ", [](CpCase& c) {
    c.shared_shape = {128, 64};
    c.shared = swizzled(4, 1, 3, "S[(128, 64) : (64, 1)]");
    c.from = "[0:128, stage * 16:stage * 16 + 16]";
  });
  // Groups of 8 rows that begin in different rows of the pattern.
  expect("[descriptor] ", [](CpCase& c) {
    c.shared = swizzled(3, 1, 3, "S[(16, 8, 16) : (144, 16, 1)]");
    c.shape = {16, 8, 16};
    c.tensor = tile("S[(16, 8, 16) : (8 @ TLane, 1 @ TLane, 1 @ TCol)]");
    c.elements = 2560;
  });
  expect("[columns] `tmem` begins at ", [](CpCase& c) {
    c.tensor_shape = {128, 64};
    c.tensor = lanes(128, 64);
    c.to = "[0:128, stage * 4:stage * 4 + 16]";
  });
  expect("[collision] ",
         [](CpCase& c) { c.tensor = tile("S[(2, 64, 16) : (0 @ TLane, 1 @ TLane, 1 @ TCol)]"); });
  expect("[predicate] ", [](CpCase& c) { c.settings = "predicate=stage < 2"; });
  // Settings.
  expect("[config] there is no `tcgen05.cp.128x256b.warpx4`",
         [](CpCase& c) { c.settings = "shape=\"128x256b\", multicast=\"warpx4\""; });
  expect("[config] `decompress=`", [](CpCase& c) { c.settings = "decompress=True"; });
  expect("[shape] ", [](CpCase& c) { c.settings = "shape=\"64x128b\""; });
}

// Nothing else of the program needs tensor memory.
TEST(Tcgen05Cp, DeclinesOtherArchitectures) {
  Program program{
      .source =
          "from tvm.script import tirx as T\n"
          "from tvm.script.tirx import tile as Tx\n"
          "from tvm.tirx.layout import S, R, TileLayout, TLane, TCol\n\n"
          "@T.prim_func\n"
          "def kernel(address: T.uint32):\n"
          "    T.device_entry()\n"
          "    T.cta_id([1])\n"
          "    T.thread_id([1])\n"
          "    smem = T.alloc_shared((32, 4), \"float32\")\n"
          "    tmem = T.decl_buffer((32, 4), \"float32\", scope=\"tmem\", "
          "allocated_addr=address, layout=TileLayout(S[(32, 4) : (1 @ TLane, 1 @ TCol)] + "
          "R[4 : 32 @ TLane]))\n"
          "    Tx.copy_async(tmem, smem)\n"};
  for (const std::string target : {"sm_80", "sm_90a", "sm_100", "sm_120a"}) {
    program.target = target;
    const std::string said = verdict_on(compile_only(program), 0, "tcgen05_cp");
    EXPECT_EQ(said,
              "[arch] tcgen05.cp needs sm_100a, sm_100f, sm_103a, sm_103f, sm_110a, sm_110f, "
              "the target is " +
                  target);
  }
  for (const std::string target : {"sm_100a", "sm_100f", "sm_103a"}) {
    program.target = target;
    EXPECT_EQ(verdict_on(compile_only(program), 0, "tcgen05_cp"), "chosen");
  }
}

TEST(Tcgen05Cp, DeclinesOtherScopes) {
  CpCase c{.dtype = "float16",
           .shape = {128, 16},
           .tensor = lanes(128, 16),
           .shared = swizzled_rows(16, 128, 16, 32),
           .around = "if warp_id == 0:"};
  Program program = program_of(c);
  const std::size_t at = program.source.find("Tx.copy_async");
  program.source.replace(at, 13, "Tx.warp.copy_async");
  const Checked checked = compile_only(program);
  EXPECT_EQ(verdict_on(checked, 0, "tcgen05_cp"),
            "[scope] warp scope, expected thread: who starts the copy is who commits");
}

}  // namespace
}  // namespace ww::test::tcgen05_cp_declines_test
