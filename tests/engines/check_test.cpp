// SPDX-License-Identifier: Apache-2.0
// Negative controls: the harness must notice what is wrong, and say which engine saw it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "engines/programs.h"
#include "foreign/toolchain.h"
#include "harness/cuda_batch.h"
#include "harness/gpu.h"
#include "harness/random_run.h"
#include "harness/tool_queue.h"
#include "runtime/sim_device.h"

namespace ww::test::harness_test {
namespace {

CopyCase fragment_copy(bool is_load) {
  Operand own{.memory = "local",
              .shape = {8, 4, 2, 2},
              .layout = tile("S[(8, 4, 2, 2) : (4 @ laneid, 1 @ laneid, 2, 1)]"),
              .registers = 4};
  Operand other{.shape = {8, 4, 2, 2}, .layout = tile("S[(8, 4, 2, 2) : (16, 2, 8, 1)]")};
  if (is_load) return {.dst = own, .src = other};
  return {.dst = other, .src = own};
}

Checked check_edited(bool is_load, const std::string& from, const std::string& to) {
  Program program = program_of(fragment_copy(is_load));
  program.edits = {{from, to}};
  return check(program);
}

TEST(Harness, NoticesWrongBits) {
  const Checked turned = check_edited(true, "x2.shared", "x2.trans.shared");
  EXPECT_EQ(turned.stage, Stage::Device);
  EXPECT_EQ(turned.why, "`dst_out[0, 1]` has other bits than in the tile program");
}

// One row of four words per lane, to all rows of global memory but the last.
Program row_stores() {
  CopyCase rows{.dtype = "float32", .fills_dst = false};
  rows.src = registers({32, 4}, "S[(32, 4) : (1 @ laneid, 1)]", 4);
  rows.dst = global({33, 4}, "[0:32, 0:4]");
  return program_of(rows);
}

// The line of the text that has that in it.
std::string line_with(const std::string& text, const std::string& what) {
  const std::size_t at = text.find(what);
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) + 1 - begin);
}

// The same store, 16 bytes further on.
std::string moved(std::string store) { return store.insert(store.find(']'), "+16"); }

constexpr const char* kMissing = "`dst_out[0, 0]` is not written, expected that it is";
constexpr const char* kStray = "`dst_out[32, 0]` is written, expected that it is not";

TEST(Harness, NoticesMissingAndStrayWrites) {
  Program program = row_stores();
  const Checked right = check(program);
  ASSERT_TRUE(right.right()) << right.explain();
  const std::string store = line_with(right.ptx, "st.global.v4.b32");
  program.edits = {{store, ""}};
  const Checked missing = check(program);
  EXPECT_EQ(missing.stage, Stage::Device);
  EXPECT_EQ(missing.why, kMissing);
  // Only the last lane's row is not overwritten by the lane that it belongs to.
  program.edits = {{store, moved(store) + "\tbar.warp.sync\t0xffffffff;\n" + store}};
  const Checked stray = check(program);
  EXPECT_EQ(stray.stage, Stage::Device);
  EXPECT_EQ(stray.why, kStray);
}

TEST(Harness, TellsZerosApartUnlessTheProgramMayHaveEither) {
  Arg arg{.name = "y",
          .is_array = true,
          .dtype = num::DType::Float32,
          .element_bytes = 4,
          .shape = {1}};
  const auto holding = [](float value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return Results{.arrays = {Bytes(bytes.begin(), bytes.end())}, .written = {{true}}};
  };
  EXPECT_TRUE(difference_of({arg}, holding(0.F), holding(-0.F)));
  arg.has_any_zero = true;
  EXPECT_FALSE(difference_of({arg}, holding(0.F), holding(-0.F)));
  EXPECT_TRUE(difference_of({arg}, holding(0.F), holding(1.F)));
}

// --- devices -------------------------------------------------------------------------------------

// The way to a GPU, with the virtual one in its place.
std::string on_device(const Checked& checked, const std::string& ptx) {
  runtime::SimDevice device;
  Results seen;
  auto why = run_on(device, ptx, checked.ran->lowered, checked.ran->args, seen);
  if (!why) why = difference_of(checked.ran->args, checked.ran->expected, seen);
  return why.value_or("");
}

TEST(Harness, ComparesDevices) {
  const Checked right = check(row_stores());
  ASSERT_TRUE(right.right()) << right.explain();
  const std::string store = line_with(right.ptx, "st.global.v4.b32");
  const auto edited = [&](const std::string& to) {
    std::string out = right.ptx;
    return out.replace(out.find(store), store.size(), to);
  };
  EXPECT_EQ(on_device(right, right.ptx), "");
  EXPECT_EQ(on_device(right, edited("")), kMissing);
  EXPECT_EQ(on_device(right, edited(moved(store) + store)), kStray);
}

// Of a GPU's floats any NaN is a NaN; numbers, and NaN elsewhere, still count.
TEST(Harness, TakesAnyNanOfAGpu) {
  const auto results = [](std::uint32_t first, std::uint32_t second) {
    Bytes bytes(8);
    std::memcpy(bytes.data(), &first, 4);
    std::memcpy(bytes.data() + 4, &second, 4);
    return Results{.arrays = {bytes}, .written = {{true, true}}};
  };
  constexpr std::uint32_t kCanonical = 0x7FFFFFFF, kOther = 0xFF812345, kOne = 0x3F800000;
  std::vector<Arg> args(1);
  args[0] = {.name = "O",
             .is_array = true,
             .is_output = true,
             .dtype = num::DType::Float32,
             .element_bytes = 4,
             .shape = {2}};
  const Results expected = results(kCanonical, kOne);
  EXPECT_EQ(difference_of(args, expected, results(kOther, kOne)),
            "`O[0]` has other bits than in the tile program");
  EXPECT_EQ(difference_of(with_any_nan(args), expected, results(kOther, kOne)), std::nullopt);
  EXPECT_EQ(difference_of(with_any_nan(args), expected, results(kOne, kOne)),
            "`O[0]` has other bits than in the tile program");
  EXPECT_EQ(difference_of(with_any_nan(args), expected, results(kCanonical, kOther)),
            "`O[1]` has other bits than in the tile program");
  args[0].dtype = num::DType::Uint32;
  EXPECT_EQ(difference_of(with_any_nan(args), expected, results(kOther, kOne)),
            "`O[0]` has other bits than in the tile program");
}

TEST(Harness, WantsTheGpuThatIsAskedFor) {
  const Checked right = check(row_stores());
  ASSERT_TRUE(right.right()) << right.explain();
  const auto says = [&](const Gpu& gpu) {
    Results seen;
    return gpu.run(right.ptx, right.ran->lowered, right.ran->args, seen).value_or("");
  };
  EXPECT_FALSE(Gpu("", "libcuda.so.1").runs(target::Arch::Sm90a));
  const Gpu none("cuda", "libno_such_driver.so.1");
  EXPECT_TRUE(none.runs(target::Arch::Sm90a));
  EXPECT_NE(says(none).find("libno_such_driver.so.1"), std::string::npos) << says(none);
  EXPECT_EQ(says(Gpu("amd", "libcuda.so.1")), "WW_DEVICE is `amd`, expected `cuda` or nothing");
}

TEST(Harness, NoticesWrongCuda) {
  CudaBatch batch;
  batch.add(check(program_of(fragment_copy(true))));
  batch.edit("x2.shared", "x2.trans.shared");
  std::string skipped;
  const std::string found = batch.run(skipped);
  if (!skipped.empty()) GTEST_SKIP() << "needs nvcc: " << skipped;
  EXPECT_EQ(found.substr(0, found.find('\n')),
            "CUDA C++ on the virtual GPU: `dst_out[0, 1]` has other bits than in the tile program");
}

// One module of three is wrong, and two have an array of dynamic shared memory: ptxas takes them
// together, and the message shows the wrong one alone.
TEST(Harness, NoticesPtxThatPtxasRefuses) {
  const auto module = [](const std::string& head, const std::string& body) {
    return fmt::format(
        ".version 8.0\n.target sm_90\n.address_size 64\n{}.visible .entry k()\n{{\n"
        "\t.reg .b32 %r<2>;\n\t{};\n}}\n",
        head, body);
  };
  const std::string array = ".extern .shared .align 16 .b8 pool[];\n";
  Assembly assembly;
  std::string skipped;
  assembly.add("sm_90", module(array, "st.shared.b32\t[pool], 1"));
  assembly.add("sm_90", module(array, "ld.shared.b32\t%r1, [pool]"));
  EXPECT_EQ(assembly.assemble(skipped), "");
  if (!skipped.empty()) GTEST_SKIP() << "needs ptxas: " << skipped;
  const std::string wrong = module("", "mov.b32\t%r1, %r2");
  assembly.add("sm_90", wrong);
  EXPECT_TRUE(assembly.assemble(skipped).ends_with(
      "--- test\nHarness.NoticesPtxThatPtxasRefuses\n--- PTX\n" + wrong))
      << assembly.assemble(skipped);
}

// Of kernels that differ in numbers and names, ptxas generates code for the first and for every eighth of
// the others. It finds too much shared memory only then; and no other kernel has such a store.
TEST(Harness, GeneratesCodeForKernelsWithNewInstructions) {
  const auto module = [](int k, const std::string& head = "", const std::string& body = "") {
    return fmt::format(
        ".version 8.0\n.target sm_90\n.address_size 64\n{1}.visible .entry k(\n"
        "\t.param .u32 p{0}\n)\n{{\n\t.reg .pred %p<9>;\n\t.reg .b32 %r<99>;\n"
        "\tld.param.u32\t%r{0}, [p{0}]; // {0}\n\tsetp.eq.s32\t%p1, %r{0}, {0};\n"
        "\t@%p1 bra\t$L_{0};\n{2}\tmov.u32\t%r1, %tid.x;\n$L_{0}:\n\tret;\n}}\n",
        k, head, body);
  };
  Assembly assembly;
  for (int k = 1; k <= 20; ++k) assembly.add("sm_90", module(k));
  EXPECT_EQ(assembly.chosen(), 1U + 3U);
  std::string skipped;
  EXPECT_EQ(assembly.assemble(skipped), "");
  if (!skipped.empty()) GTEST_SKIP() << "needs ptxas: " << skipped;
  const std::string wrong =
      module(1, ".shared .align 16 .b8 pool[300000];\n", "\tst.shared.b32\t[pool], %r1;\n");
  assembly.add("sm_90", wrong);
  const std::string complaint = assembly.assemble(skipped);
  EXPECT_THAT(complaint, testing::HasSubstr("too much shared data"));
  EXPECT_TRUE(complaint.ends_with("--- PTX\n" + wrong)) << complaint;
}

constexpr const char* kPlantWrong = "WW_PLANT_WRONG_KERNELS";

// By itself it starts this process again, which then leaves to the end a kernel whose expected
// results are wrong, and one that ptxas refuses: no test of that process fails, but the process
// does, and names the test.
TEST(Harness, NoticesWrongKernelsAtTheEndOfTheProcess) {
  if (std::getenv(kPlantWrong) != nullptr) {
    Checked checked = check(program_of(fragment_copy(true)));
    ASSERT_TRUE(checked.right()) << checked.explain();
    Assembly assembly;
    assembly.add(checked.ran->target, checked.ptx + "no PTX");
    assemble_later(std::move(assembly));
    Ran wrong = *checked.ran;
    wrong.expected.arrays.back().front() ^= std::byte{1};
    checked.ran = std::make_shared<const Ran>(std::move(wrong));
    CudaBatch batch;
    batch.add(checked);
    compile_later(std::move(batch));
    return;
  }
  if (!corpus::Toolchain::find()) GTEST_SKIP() << "needs nvcc";
  const corpus::Outcome outcome =
      corpus::run({"/usr/bin/env", fmt::format("{}=1", kPlantWrong), "GTEST_TOTAL_SHARDS=1",
                   "GTEST_SHARD_INDEX=0", std::filesystem::read_symlink("/proc/self/exe").string(),
                   "--gtest_filter=Harness.NoticesWrongKernelsAtTheEndOfTheProcess"},
                  "/");
  EXPECT_EQ(outcome.status, 1) << outcome.output;
  const std::string test = "--- test\nHarness.NoticesWrongKernelsAtTheEndOfTheProcess\n";
  EXPECT_TRUE(outcome.output.contains("has other bits than in the tile program\n" + test))
      << outcome.output;
  EXPECT_TRUE(outcome.output.contains(test + "--- PTX\n")) << outcome.output;
}

// --- findings ------------------------------------------------------------------------------------

TEST(Harness, NoticesFindings) {
  const Checked racing = check_edited(false, "bar.sync\t0;\n\tmov", "mov");
  EXPECT_EQ(racing.stage, Stage::Device) << racing.explain() << racing.ptx;
}

TEST(Harness, NoticesBadPrograms) {
  CopyCase each = fragment_copy(true);
  each.src.region = "[0:8, 0:4, 0:2, 0:1]";
  EXPECT_EQ(check(program_of(each)).stage, Stage::Script);
  KernelText text(64, "float32");
  text.param("A", {64});
  text.param("B", {64});
  text.line("M = T.alloc_buffer((64,), \"float32\", scope=\"shared\")");
  text.line("M[tid] = A[tid]");
  text.line("B[tid] = M[63 - tid]");
  const Checked racing = check({.source = text.text()});
  EXPECT_EQ(racing.stage, Stage::Tile);
  EXPECT_EQ(racing.why.substr(0, 6), "race: ") << racing.why;
}

// --- random programs -----------------------------------------------------------------------------

Checked racing_at(std::size_t byte) {
  Checked out;
  out.stage = Stage::Device;
  out.why = fmt::format("race: byte {}", byte);
  return out;
}

// Rows of at least three choices "race", whatever their number.
TEST(Harness, ShrinksWhatGoesWrong) {
  const RandomRun run(1, {.step = 1, .most = 0}, {.step = 1, .most = 0});
  const std::string said = run.failure(7, racing_at(120), [](const Choices& row) {
    return Verdict::of(racing_at(row.size()), row.size() >= 3);
  });
  EXPECT_EQ(
      said.substr(0, said.find("\n---")),
      fmt::format("program 7 of WW_RANDOM_SEED={}, shrunk:\nvirtual GPU: race: byte 3", run.seed));
}

}  // namespace
}  // namespace ww::test::harness_test
