// SPDX-License-Identifier: Apache-2.0
// Programs that are easy to lower wrongly without a sign of it: alignment that only some
// threads have, vectors that are contiguous on one side only, offsets that count twice, thread ids
// used where a digit of them is meant, replicas, partial warps. Each comes out right, or is refused
// with the reason. docs/evidence/mislowerings.md shows them; its programs are in the folder beside
// it.
#include <filesystem>

#include "base/file_io.h"
#include "engines/family.h"

namespace ww::test::mislowerings_test {
namespace {

void both_ways(Family& family, const CopyCase& each, const Expected& expected) {
  family.run(each, expected);
  family.run(reversed(each), expected);
  family.count();
}

constexpr std::string_view kAccumulator = "S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]";

TEST(Mislowering, MatrixElementsOfOtherWidths) {
  Family family("1: fragments of elements that are not 16 bits wide");
  // A word is a word: 32-bit elements have 4 to a row, so pairs of them are no rows of 16 bytes …
  CopyCase wide{.dtype = "float32"};
  wide.dst = registers({16, 8}, std::string(kAccumulator), 4);
  wide.src = shared({16, 8});
  both_ways(family, wide, {.variant = "reg", .vector_bits = 64, .rounds = 2});
  // … and bytes come four to a word, where this fragment has two together.
  CopyCase bytes{.dtype = "uint8"};
  bytes.dst = registers({16, 8}, std::string(kAccumulator), 4);
  bytes.src = shared({16, 8});
  both_ways(family, bytes, {.variant = "reg", .vector_bits = 16, .rounds = 2});
}

TEST(Mislowering, MatrixRowsOffTheirAlignment) {
  Family family("2: rows of matrices that are not 16-byte aligned");
  CopyCase each;
  each.dst = registers({16, 16}, "S[(2, 8, 2, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]", 8);
  each.src = shared({16, 24}, {}, "[0:16, 4:20]");
  const Checked checked = family.run(each, {.variant = "reg", .vector_bits = 32});
  EXPECT_EQ(verdict_on(checked, 0, "ldstmatrix"),
            "[fragment] a row begins at byte 8, expected a multiple of 16");
  family.run(reversed(each), {.variant = "reg"});
  // The same where only the step from warp to warp is off.
  CopyCase warps{.threads = 128, .scope = "wg"};
  warps.dst =
      registers({4, 8, 4, 2}, "S[(4, 8, 4, 2) : (1 @ wid_in_wg, 4 @ laneid, 1 @ laneid, 1)]", 2);
  warps.src = shared({4, 8, 4, 2}, tile("S[(4, 8, 4, 2) : (68, 8, 2, 1)]"));
  family.run(warps, {.variant = "reg", .vector_bits = 32});
  family.run(reversed(warps), {.variant = "reg", .vector_bits = 32});
  family.count(2);
}

TEST(Mislowering, RowsOffTheirAlignment) {
  Family family("3: rows of threads that are not aligned to the vector");
  CopyCase nine{.dtype = "float32"};
  nine.dst = registers({32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  nine.src = shared({32, 8}, tile("S[(32, 8) : (9, 1)]"));
  both_ways(family, nine, {.variant = "reg", .vector_bits = 32, .rounds = 8});
  CopyCase twelve;
  twelve.dst = registers({32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  twelve.src = shared({32, 8}, tile("S[(32, 8) : (12, 1)]"));
  both_ways(family, twelve, {.variant = "reg", .vector_bits = 64, .rounds = 2});
}

TEST(Mislowering, RegistersThatAreNoVector) {
  Family family("4: registers that do not follow each other");
  CopyCase strided{.dtype = "float32"};
  strided.dst = registers({32, 4}, "S[(32, 4) : (1 @ laneid, 2)]", 7);
  strided.src = shared({32, 4});
  both_ways(family, strided, {.variant = "reg", .vector_bits = 32, .rounds = 4});
  CopyCase gap;
  gap.dst = registers({32, 2, 4}, "S[(32, 2, 4) : (1 @ laneid, 8, 1)]", 12);
  gap.src = shared({32, 8});
  gap.src.shape = {32, 2, 4};
  both_ways(family, gap, {.variant = "reg", .vector_bits = 64, .rounds = 2});
}

TEST(Mislowering, GlobalTilesThatAreNoVectors) {
  Family family("5 and 6: global tiles that are not contiguous, or in another order");
  CopyCase strided{.dtype = "float32"};
  strided.dst = shared({8, 8});
  strided.src = {
      .memory = "global", .shape = {8, 8}, .layout = tile("S[(8, 8) : (16, 2)]"), .registers = 127};
  both_ways(family, strided, {.variant = "gmem_smem", .vector_bits = 32});
  CopyCase turned{.dtype = "float32"};
  turned.dst = shared({3, 4}, tile("S[(4, 3) : (1, 4)]"));
  turned.src = {
      .memory = "global", .shape = {3, 4}, .layout = tile("S[(3, 4) : (1, 3)]"), .registers = 12};
  both_ways(family, turned, {.variant = "gmem_smem"});
}

TEST(Mislowering, DigitsOfTheLane) {
  Family family("7: thread iters that are digits of the lane");
  CopyCase rows{.dtype = "float32"};
  rows.dst = registers({8, 4}, "S[(8, 4) : (4 @ laneid, 1)] + R[4 : 1 @ laneid]", 4);
  rows.src = shared({8, 4});
  family.run(rows, {.variant = "reg", .vector_bits = 128});
  // Only lanes 0, 4, 8 … hold anything: the others neither load nor store.
  CopyCase few{.dtype = "float32"};
  few.dst = registers({8, 4}, "S[(8, 4) : (4 @ laneid, 1)]", 4);
  few.src = shared({8, 4});
  both_ways(family, few, {.variant = "reg", .vector_bits = 128});
  CopyCase split{.dtype = "float32"};
  split.dst = registers({2, 8, 4}, "S[(2, 8, 4) : (16 @ laneid, 1 @ laneid, 1)]", 4);
  split.src = shared({2, 8, 4});
  both_ways(family, split, {.variant = "reg", .vector_bits = 128});
  // Elements that a thread holds twice.
  CopyCase twice{.dtype = "float32"};
  twice.dst = registers({32, 4}, "S[(32, 4) : (1 @ laneid, 1)] + R[2 : 4]", 8);
  twice.src = shared({32, 4});
  family.run(twice, {.variant = "reg"});
  family.count(2);
}

// A broadcast fragment: what is loaded by all is stored once.
TEST(Mislowering, ReplicatedSources) {
  Family family("7: replicas as sources");
  KernelText text(32, "float32");
  text.param("A", {8, 4});
  text.param("B", {8, 4});
  text.line(
      "R1 = T.alloc_buffer((8, 4), \"float32\", scope=\"local\", "
      "layout=TileLayout(S[(8, 4) : (4 @ laneid, 1)] + R[4 : 1 @ laneid]))");
  text.line("Tx.warp.copy(R1[:, :], A[:, :])");
  text.line("Tx.warp.copy(B[:, :], R1[:, :])");
  const Checked checked = family.run(Program{.source = text.text()}, {.variant = "reg"}, 1);
  EXPECT_EQ(count_of(checked.ptx, "st.global.v4.b32"), 1U);
  family.count();
}

TEST(Mislowering, OffsetsOfLayoutsAndViews) {
  Family family("8: offsets of layouts and of views");
  for (const std::string memory : {"shared", "global"}) {
    CopyCase offset{.dtype = "float32"};
    offset.dst = registers({32, 4}, "S[(32, 4) : (1 @ laneid, 1)]", 4);
    offset.src = {.memory = memory,
                  .shape = {32, 4},
                  .layout = tile("S[(32, 4) : (4, 1)] + 8"),
                  .registers = memory == "global" ? 136 : 0};
    both_ways(family, offset, {.variant = "reg", .vector_bits = 128});
    offset.src.layout = tile("S[(32, 4) : (4, 1)] + 2");
    both_ways(family, offset, {.variant = "reg", .vector_bits = 64});
    CopyCase odd{.dtype = "float32"};
    odd.dst = registers({32, 4}, "S[(32, 4) : (1 @ laneid, 1)]", 4);
    odd.src = {.memory = memory, .shape = {32, 4}, .registers = 128, .elem_offset = 1};
    both_ways(family, odd, {.variant = "reg", .vector_bits = 32});
  }
  CopyCase tiles{.dtype = "float16"};
  tiles.dst = {.memory = "shared", .shape = {32, 16}, .registers = 512, .elem_offset = 3};
  tiles.src = {.memory = "global", .shape = {32, 16}};
  both_ways(family, tiles, {.variant = "gmem_smem", .vector_bits = 16});
  CopyCase matrix;
  matrix.dst = registers({8, 4, 2, 2}, "S[(8, 4, 2, 2) : (4 @ laneid, 1 @ laneid, 2, 1)]", 4);
  matrix.src = shared({8, 4, 2, 2}, tile("S[(8, 4, 2, 2) : (16, 2, 8, 1)] + 24"));
  both_ways(family, matrix, {.variant = "ldstmatrix"});
  matrix.src = shared({8, 4, 2, 2}, tile("S[(8, 4, 2, 2) : (16, 2, 8, 1)] + 20"));
  both_ways(family, matrix, {.variant = "reg", .vector_bits = 32});
}

// A part of a swizzled tile, at an offset that the swizzle does not leave alone.
TEST(Mislowering, PartsOfSwizzledTiles) {
  Family family("8: parts of swizzled tiles");
  KernelText text(32, "float16");
  text.param("A", {64, 64});
  text.param("B", {32, 32});
  text.line("M = T.alloc_buffer((64, 64), \"float16\", scope=\"shared\", layout=" +
            swizzled(3, 3, 3, "S[64, 64]") + ")");
  text.for_elements({64, 64}, "M", "A");
  text.line("part = M.sub[13:45, 24:56]");
  text.line(
      "R1 = T.alloc_buffer((32, 32), \"float16\", scope=\"local\", "
      "layout=TileLayout(S[(32, 32) : (1 @ laneid, 1)]))");
  text.sync();
  text.line("Tx.warp.copy(R1[:, :], part[:, :])");
  text.line("Tx.warp.copy(B[:, :], R1[:, :])");
  family.run(Program{.source = text.text()}, {.variant = "reg", .vector_bits = 128});
  family.count();
}

TEST(Mislowering, ForcedVectorsAreChecked) {
  Family family("9: forced vectors of registers in another order, at odd starts, across rows");
  struct Row {
    std::string layout, dst_region, src_region;
    Stage stage;
    std::string why;
  };
  const std::string parted =
      "[vector] the 4 elements are not contiguous and aligned to 16 bytes on both sides";
  const std::vector<Row> rows = {
      {"S[(4, 4) : (1, 4)]", "[0, 0:4]", "[tid, 0:4]", Stage::Lower, parted},
      {"S[4, 4]", "[0, 0:4]", "[tid, 1:5]", Stage::Lower, parted},
      {"S[4, 4]", "[0:2, 2:4]", "[tid:tid + 2, 0:2]", Stage::Lower, parted},
      {"S[4, 4]", "[1, 0:4]", "[tid, 4:8]", Stage::Right, "chosen"}};
  for (const Row& row : rows) {
    CopyCase each{.dtype = "float32", .scope = "thread", .settings = "dispatch=\"vec_128b\""};
    each.dst = registers({4, 4}, row.layout, 16);
    each.dst.region = row.dst_region;
    each.src = shared({33, 8}, {}, row.src_region);
    const Checked checked = check(program_of(each));
    EXPECT_EQ(checked.stage, row.stage) << checked.explain();
    EXPECT_EQ(verdict_on(checked, 0, "vec_128b"), row.why) << checked.explain();
    family.count();
  }
}

TEST(Mislowering, DivergentCollectives) {
  Family family("10: collectives in divergent code");
  const std::vector<std::pair<std::string, std::string>> branches = {
      {"if tid < 48:", "threads 0-47 of 128"},
      {"if lane % 2 == 0:", "of 128"},
      {"if tid < 16:", "threads 0-15 of 128"},
      {"if tid < 16:\n        T.evaluate(0)\n    else:", "threads 16-127 of 128"}};
  for (const auto& [branch, who] : branches) {
    CopyCase each{.threads = 128, .around = branch};
    each.dst = registers({8, 4, 2}, "S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]", 2);
    each.src = shared({8, 4, 2});
    const Checked checked = check(program_of(each));
    EXPECT_EQ(checked.stage, Stage::Script) << checked.explain();
    EXPECT_NE(checked.why.find("[Divergent]"), std::string::npos) << checked.why;
    EXPECT_NE(checked.why.find(who), std::string::npos) << checked.why;
    family.count();
  }
  // Names derived from ids, and `else`: whole warps remain whole.
  for (const std::string branch :
       {"if tid // 32 == 1:", "if warp >= 2:", "if tid < 32:\n        T.evaluate(0)\n    else:"}) {
    CopyCase each{.threads = 128, .around = branch};
    each.dst = registers({8, 4, 2}, "S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]", 2);
    each.src = shared({8, 4, 2});
    family.run(each, {.variant = "ldstmatrix"});
    family.count();
  }
}

TEST(Mislowering, ThreadsThatAreNoWholeWarps) {
  Family family("11: threads that are not whole warps");
  CopyCase cta{.dtype = "float32", .threads = 48, .scope = "cta"};
  cta.dst = shared({48, 4});
  cta.src = {.memory = "global", .shape = {48, 4}};
  family.run(cta, {.variant = "gmem_smem", .vector_bits = 128, .rounds = 1});
  CopyCase warp{.dtype = "float32", .threads = 48, .scope = "warp"};
  warp.dst = shared({32, 4});
  warp.src = {.memory = "global", .shape = {32, 4}};
  const Checked checked = check(program_of(warp));
  EXPECT_EQ(checked.stage, Stage::Script) << checked.explain();
  CopyCase half{.dtype = "float32", .threads = 16, .scope = "warp"};
  half.dst = shared({32, 4});
  half.src = {.memory = "global", .shape = {32, 4}};
  EXPECT_EQ(check(program_of(half)).stage, Stage::Script);
  family.count(3);
}

// Every warp holds the same registers: all may load, one stores.
TEST(Mislowering, LayoutsNarrowerThanTheScope) {
  Family family("12: a layout over lanes at cta scope");
  KernelText text(128, "float32");
  text.param("A", {32, 4});
  text.param("B", {32, 4});
  text.line(
      "R1 = T.alloc_buffer((32, 4), \"float32\", scope=\"local\", "
      "layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))");
  text.line("Tx.cta.copy(R1[:, :], A[:, :])");
  text.line("Tx.cta.copy(B[:, :], R1[:, :])");
  const Checked checked = family.run(Program{.source = text.text()}, {.variant = "reg"}, 1);
  EXPECT_NE(checked.lowered.find("if threadIdx_x < 32:"), std::string::npos) << checked.lowered;
  family.count();
}

TEST(Mislowering, RegistersInSeveralRuns) {
  Family family("21: registers and memory whose runs have other borders");
  CopyCase each{.dtype = "float32", .threads = 128, .scope = "wg"};
  each.dst = registers(
      {64, 32}, "S[(4, 2, 8, 4, 4, 2) : (1 @ wid_in_wg, 2, 4 @ laneid, 4, 1 @ laneid, 1)]", 16);
  each.src = shared({64, 32}, tile("S[(64, 2, 16) : (16, 1024, 1)]"));
  both_ways(family, each, {.variant = "reg", .vector_bits = 64, .rounds = 8});
  CopyCase unit{.dtype = "float32", .scope = "thread", .around = "if tid == 0:"};
  unit.dst = shared({1, 1});
  unit.src = {.memory = "global", .shape = {1, 1}};
  both_ways(family, unit, {});
}

TEST(Mislowering, InstructionsOfOtherArchitectures) {
  Family family("22: stmatrix below sm_90");
  CopyCase each{.target = "sm_80"};
  each.src = registers({8, 4, 2, 2}, "S[(8, 4, 2, 2) : (4 @ laneid, 1 @ laneid, 2, 1)]", 4);
  each.dst = shared({8, 4, 2, 2}, tile("S[(8, 4, 2, 2) : (16, 2, 8, 1)]"));
  const Checked checked = family.run(each, {.variant = "reg", .vector_bits = 32});
  EXPECT_EQ(verdict_on(checked, 0, "ldstmatrix"),
            "[arch] stmatrix needs sm_90 or later, the target is sm_80");
  family.run(reversed(each), {.variant = "ldstmatrix"});
  each.target = "sm_75";
  family.run(reversed(each), {.variant = "ldstmatrix"});
  family.count(3);
}

// --- the programs of the page --------------------------------------------------------------------

namespace fs = std::filesystem;

fs::path page_folder() { return fs::path(WW_SOURCE_DIR) / "docs" / "evidence" / "mislowerings"; }

Program page_program(const std::string& name) {
  return {.source = read_file(page_folder() / (name + ".py"), std::size_t{1} << 20U).value(),
          .target = name.starts_with("13") || name.starts_with("14") ? "sm_100a" : "sm_90a",
          .inputs = Inputs::Whole};
}

void expect_right(const std::string& name) {
  const Checked checked = check(page_program(name));
  EXPECT_TRUE(checked.right()) << checked.explain();
}
void expect_refused(const std::string& name, Stage stage, const std::string& why) {
  const Checked checked = check(page_program(name));
  EXPECT_EQ(checked.stage, stage) << checked.explain();
  EXPECT_NE(checked.why.find(why), std::string::npos) << checked.why;
}

TEST(Mislowering, TensorRegistersInAnotherOrder) {
  expect_refused("13_permuted_registers", Stage::Lower,
                 "tcgen05_ldst: thread 1 of the unit holds an element of lane 64 of tensor memory; "
                 "its warp reaches lanes 0 to 31 [declined: lanes]");
}

TEST(Mislowering, PartOfAWarpgroup) {
  expect_refused("14_part_of_a_warpgroup", Stage::Script,
                 "is reached by warps 0-1 of 4, expected whole warpgroups [Divergent]");
}

TEST(Mislowering, BarriersAreNotForgotten) {
  expect_refused("15_mbarrier", Stage::Lower,
                 "`mbar=` is for a copy that arrives at a barrier [declined: mbarrier]");
}

TEST(Mislowering, GemmOfAThread) {
  expect_refused(
      "16_gemm_of_a_thread", Stage::Lower,
      "mma: thread scope, expected warp, warpgroup or cta [declined: full_active_lanes]");
}

TEST(Mislowering, GemmSplitAlongK) {
  expect_refused("16_split_k", Stage::Lower,
                 "the sums of several warps would have to be added up [declined: k-split]");
}

TEST(Mislowering, GemmOfOneWarpsPart) {
  const Checked checked = check(page_program("16_part_of_one_warp"));
  EXPECT_TRUE(checked.right()) << checked.explain();
  EXPECT_NE(checked.lowered.find("if threadIdx_x < 32:"), std::string::npos) << checked.lowered;
  EXPECT_NE(checked.lowered.find("if threadIdx_x >= 32:"), std::string::npos) << checked.lowered;
}

TEST(Mislowering, ReductionsAreWhole) { expect_right("17_sum"); }

TEST(Mislowering, BiasOfAnyScalar) { expect_right("18_bias_of_registers"); }

TEST(Mislowering, CastsOfSwizzledRows) { expect_right("19_cast_of_swizzled_rows"); }

// Rounded to nearest, on targets that have packed sums and on others.
TEST(Mislowering, SumsRoundAlikeOnAllTargets) {
  for (const char* target : {"sm_90a", "sm_100a"}) {
    Program program = page_program("19_packed_sums");
    program.target = target;
    program.inputs = Inputs::Normal;
    const Checked checked = check(program);
    EXPECT_TRUE(checked.right()) << checked.explain();
    EXPECT_FALSE(checked.ptx.contains(".rz")) << checked.ptx;
  }
}

TEST(Mislowering, OneElementPerLane) { expect_right("23_one_element_per_lane"); }

TEST(Mislowering, RowsWithPadding) {
  const Checked checked = check(page_program("24_padded_rows"));
  EXPECT_TRUE(checked.right()) << checked.explain();
  EXPECT_TRUE(checked.ptx.contains("M[1520]")) << checked.ptx;
}

// What else is on the page is lowered, or refused at the same place as its sisters above.
TEST(Mislowering, ProgramsOfThePage) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(page_folder())) {
    const std::string name = entry.path().stem().string();
    SCOPED_TRACE(name);
    // Arrays of the harness are flat; the page's commands run those with layouts.
    const bool has_layouts = name.starts_with("05") || name.starts_with("06");
    const Program program = page_program(name);
    const Checked checked = has_layouts ? compile_only(program) : check(program);
    const bool is_script = name.starts_with("10") || name.starts_with("14");
    const bool is_lower = name.starts_with("09") || name.starts_with("13") ||
                          name.starts_with("15") || name == "16_gemm_of_a_thread" ||
                          name == "16_split_k";
    EXPECT_EQ(checked.stage, is_script  ? Stage::Script
                             : is_lower ? Stage::Lower
                                        : Stage::Right)
        << checked.explain();
    ++count;
  }
  EXPECT_GE(count, 25U);
}

}  // namespace
}  // namespace ww::test::mislowerings_test
