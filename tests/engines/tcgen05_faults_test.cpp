// SPDX-License-Identifier: Apache-2.0
// Mistakes with tensor memory, written into a program that is right without them: the evaluator
// names each in the tile program, the virtual GPU in the PTX that it becomes; or there is no such
// program.
#include "engines/family.h"
#include "engines/tensor_programs.h"

namespace ww::test::tcgen05_faults_test {
namespace {

// Eight columns of 32 there and back.
TensorProgram there_and_back(std::int64_t column = 0) {
  TensorCopy store{.tensor = datapath('D', 128, 8),
                   .local = row_registers(8),
                   .address = base_plus(column),
                   .is_load = false};
  TensorCopy load = store;
  load.is_load = true;
  return {.copies = {std::move(store), std::move(load)}};
}

/// The program with a text that occurs after another replaced.
Program with_fault(const TensorProgram& right, const std::string& after, const std::string& what,
                   const std::string& with) {
  Program out = program_of(right);
  const std::size_t from = out.source.find(after);
  EXPECT_NE(from, std::string::npos) << after;
  const std::size_t at = out.source.find(what, from);
  EXPECT_NE(at, std::string::npos) << what;
  out.source.replace(at, what.size(), with);
  return out;
}

struct Fault {
  std::string name;
  Program program;
  std::string evaluator, virtual_gpu;  // what each says first
};

std::vector<Fault> faults() {
  const TensorProgram right = there_and_back();
  TensorProgram only_load = right;
  only_load.copies.erase(only_load.copies.begin());
  const std::string store = "copy_async(t0", load = "copy_async(r1";
  return {
      {"no wait for a store", with_fault(right, store, "T.ptx.tcgen05.wait.st()", "pass"),
       "async: `t1[0, 0]` is read by warpgroup 0 of CTA (0,0,0) while a copy into it "
       "is under way",
       ", column 0 of tensor memory, which an earlier instruction is still to "
       "write"},
      {"no wait for a load", with_fault(right, load, "T.ptx.tcgen05.wait.ld()", "pass"),
       "`r1_d[0]` is read by thread 0 of CTA (0,0,0) while a copy into it is under way",
       "is used before `tcgen05.wait::ld`"},
      {"a wait of the wrong kind",
       with_fault(right, load, "T.ptx.tcgen05.wait.ld()", "T.ptx.tcgen05.wait.st()"),
       "`r1_d[0]` is read by thread 0 of CTA (0,0,0) while a copy into it is under way",
       "is used before `tcgen05.wait::ld`"},
      {"a store that nobody waits for",
       with_fault(only_load, "copy_async(r0", "wait.ld()",
                  "wait.ld()\n    Tx.wg.copy_async(t0[:, :], r0[:, :])"),
       "the kernel ends before warpgroup 0 of CTA (0,0,0) has waited for this copy",
       "the kernel ends without `tcgen05.wait::st`"},
      {"the quarter of another warp",
       with_fault(right, "for c in range", "warp * 32, c", "(3 - warp) * 32, c"),
       "names lane 96 of tensor memory: its lanes begin at 0",
       " of tensor memory is none of the lanes "},
      {"columns that are not allocated", program_of(there_and_back(28)),
       "`t0[0, 4]` is used by CTA (0,0,0) in column 32, which is not allocated",
       "column 32 of tensor memory is not allocated"},
      {"columns that are never given back",
       with_fault(right, "relinquish", "T.ptx.tcgen05.dealloc(base[0], n_cols=32, cta_group=1)",
                  "pass"),
       "32 columns of tensor memory from column 0 are never given back",
       "32 columns from column 0 are never freed"},
      {"more columns given back than allocated",
       with_fault(right, "relinquish", "n_cols=32", "n_cols=64"),
       "gives back 64 columns of tensor memory at 0x0, which were not allocated so",
       "frees 64 columns of an allocation of 32"},
      {"a number of columns that there is not",
       with_fault(right, "device_entry", "n_cols=32",
                  "n_cols=T.uint32(24) + T.cast(warp, \"uint32\")"),
       "24 columns", "allocates 24 columns; 32, 64, 128, 256 and 512 are possible"},
  };
}

TEST(Tcgen05Faults, AreNamedByBothEngines) {
  for (const Fault& fault : faults()) {
    SCOPED_TRACE(fault.name);
    Program program = fault.program;
    program.target = "sm_100a";
    const Checked tile = check(program);
    EXPECT_EQ(tile.stage, Stage::Tile) << tile.explain();
    EXPECT_NE(tile.why.find(fault.evaluator), std::string::npos) << tile.why;
    const Checked device = check_on_virtual_gpu(program);
    EXPECT_EQ(device.stage, Stage::Device) << device.explain();
    EXPECT_NE(device.why.find(fault.virtual_gpu), std::string::npos) << device.why;
  }
  EXPECT_TRUE(check(program_of(there_and_back())).right());
  fmt::print("faults with tensor memory: {} cases\n", faults().size());
}

// Mistakes that are no program.
TEST(Tcgen05Faults, AreRefused) {
  struct Row {
    Program program;
    std::string why;
  };
  const TensorProgram right = there_and_back();
  TensorProgram one_warp = right, half = right, partial = right;
  one_warp.copies[0].around = "if warp == 0:";
  half.copies[0].around = "if warp < 2:";
  partial.copies[0].around = "if lane < 16:";
  const std::vector<Row> rows = {
      {program_of(one_warp),
       "`copy_async` at warpgroup scope is reached by warp 0 of 4, expected whole warpgroups "
       "[Divergent]"},
      {program_of(half),
       "`copy_async` at warpgroup scope is reached by warps 0-1 of 4, expected whole warpgroups "
       "[Divergent]"},
      {program_of(partial), "[Divergent]"},
      {with_fault(right, "device_entry", "n_cols=32", "n_cols=16"),
       "operand `columns` is 16, allowed: 32, 64, 128, 256, 512 [BadOperand]"},
      {with_fault(right, "device_entry", "n_cols=32", "n_cols=1024"),
       "operand `columns` is 1024, allowed: 32, 64, 128, 256, 512 [BadOperand]"},
      {with_fault(right, "t0 = ", "(128, 8)", "(128, 4)"),
       "0:8 in dimension 1 of `t0`, which has extent 4 [OutOfBounds]"}};
  for (const Row& row : rows) {
    const Checked checked = check(row.program);
    EXPECT_EQ(checked.stage, Stage::Script) << checked.explain();
    EXPECT_NE(checked.why.find(row.why), std::string::npos) << checked.why;
  }
  fmt::print("refused programs with tensor memory: {} cases\n", rows.size());
}

}  // namespace
}  // namespace ww::test::tcgen05_faults_test
