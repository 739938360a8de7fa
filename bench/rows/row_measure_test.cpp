// SPDX-License-Identifier: Apache-2.0
// The race on a GPU that is played by the host: a launch writes the right result, and everything
// takes the time it is told to take.
#include "row_measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "../kernels/test_played_gpu.h"
#include "base/file_io.h"
#include "base/process.h"
#include "row_table.h"
#include "runtime/test_driver.h"
#include "test_results.h"

namespace ww::bench::rows::row_measure_test {
namespace {

using runtime::CudaCalls;
using runtime::CudaLaunchConfig;
using testing::HasSubstr;

constexpr float kCopyMs = 2;

const Array* written = nullptr;  // by the kernel
char function;

CudaCalls played_calls() {
  CudaCalls calls = calls_of_played();
  calls.module_function = [](void** out, void*, const char*) { return *out = &function, 0; };
  calls.copy = [](std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) {
    submit('c', kCopyMs);
    return copy_memory(to, from, bytes, stream);
  };
  calls.launch = [](const CudaLaunchConfig*, void*, void** arguments, void**) {
    return launch_ours(arguments, 1);
  };
  return calls;
}

// What it does is of no importance, only that it has the parameters of a softmax.
constexpr std::string_view kSource = R"py(
def build(m, n, dtype, wide=1):
    @T.prim_func
    def softmax(X_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (m, n), dtype)
        Y = T.match_buffer(Y_ptr, (m, n * wide), dtype)
        T.device_entry()
        T.cta_id([4])
        thread = T.thread_id([32])
        Y[0, thread] = X[0, thread] if wide < 3 else missing

    return softmax
)py";

class RowRace : public testing::Test {
 protected:
  void SetUp() override {
    played = &played_;
    runtime::fake = &driver_;
    written = &arrays_[1];
    played_.right = right_result(row_.problem, Inputs(row_.problem))[1];
  }
  void TearDown() override {
    played = nullptr;
    written = nullptr;
    runtime::fake = nullptr;
  }

  RowResult measure(std::string parameters = "") {
    row_.parameters = std::move(parameters);
    RowOptions options{.rounds = 3, .source = [](std::string_view file) -> Result<SourceText> {
                         return SourceText(std::string(file), std::string(kSource));
                       }};
    return RowBench(played_calls(), options, *torch_).measure(row_);
  }

  // Triton takes 3 ms, PyTorch does not fit, torch.compile breaks down in its second turn.
  void start_torch() {
    const std::string path = folder_->file("script.sh");
    ASSERT_TRUE(write_file_atomically(
        path,
        "turns=0; while read command who rest; do case $command in hello) echo ok torch 9;;"
        " prepare) echo ok;; ready) [ $who = torch ] && echo no memory || echo ok 8 warps;;"
        " run) [ $who = compiled ] && turns=$((turns + 1));"
        " [ $turns -gt 1 ] && [ $who = compiled ] && echo no luck || echo ok 15.0;; esac; done\n"));
    torch_.emplace(TorchRows::start("/bin/sh", path));
    ASSERT_TRUE(*torch_);
  }

  BenchRow row_{.name = "kernels/rows/softmax/float32/64",
                .file = "rows/softmax.py",
                .parameters = "",
                .problem = {.job = Job::Softmax, .dtype = num::DType::Float32, .m = 8, .n = 64}};
  std::vector<Array> arrays_ = arrays_of(row_.problem);
  PlayedGpu played_{.registers = 40};
  runtime::FakeDriver driver_;
  Result<ScratchFolder> folder_ = ScratchFolder::make();
  std::optional<Result<TorchRows>> torch_{fail(DiagKind::Io, "no torch")};
};

TEST_F(RowRace, GivesEverybodyTurnsWithAsManyLaunches) {
  const RowResult result = measure();
  ASSERT_TRUE(result.good()) << table_line(result);
  EXPECT_EQ(result.left_out, "");
  EXPECT_EQ(result.launches, 5);  // 20 ms
  EXPECT_EQ(result.turns.seconds.size(), 3U);
  EXPECT_TRUE(played_.order.ends_with("ocococ")) << played_.order;
  const double bytes = 2.0 * 8 * 64 * 4;
  EXPECT_NEAR(*result.tera(), bytes / 0.004 / 1e12, 1e-12);
  EXPECT_NEAR(*result.copy.tera(), bytes / 0.002 / 1e12, 1e-12);
  EXPECT_NEAR(*result.of_copy(), 0.5, 1e-6);
  EXPECT_EQ(result.registers, 40U);
  EXPECT_EQ(result.checked, 8U * 64);
  ASSERT_EQ(result.rivals.size(), 3U);
  EXPECT_EQ(result.rivals[0].result.absent, "no torch");
}

TEST_F(RowRace, TakesRivalsAsTheyCome) {
  start_torch();
  const RowResult result = measure();
  ASSERT_TRUE(result.good());
  EXPECT_EQ(result.rivals[0].result.detail, "8 warps");
  EXPECT_NEAR(*result.of_copy(result.rivals[0]), 2.0 / 3, 1e-6);  // 15 ms for 5 launches
  EXPECT_EQ(result.rivals[1].result.absent, "memory");
  EXPECT_EQ(result.rivals[2].result.absent, "luck");
  EXPECT_FALSE(result.of_copy(result.rivals[2]));
  const std::string foot = table_foot({result, result});
  EXPECT_THAT(foot, HasSubstr("Medians of 3 rounds"));
  EXPECT_THAT(foot, HasSubstr("PyTorch is not measured: memory (2 rows)\n"));
  EXPECT_THAT(foot, HasSubstr("torch.compile is not measured: luck (2 rows)\n"));
}

TEST_F(RowRace, GivesAWrongKernelNoNumber) {
  played_.spoil = [](std::byte* y) { put_element(*written, y, 7, 12345); };
  const RowResult result = measure();
  EXPECT_FALSE(result.good());
  EXPECT_THAT(result.wrong, HasSubstr("element (0, 7) of `Y` is 12345 in place of"));
  EXPECT_FALSE(result.tera());
  EXPECT_THAT(table_line(result), HasSubstr("    WRONG: wrong result: element (0, 7)"));
}

TEST_F(RowRace, OutlivesAKernelThatFails) {
  played_.breaks_after = 8;  // in the first turns
  const RowResult result = measure();
  EXPECT_FALSE(result.good());
  EXPECT_EQ(result.wrong,
            "running `softmax` failed: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
            "encountered)");
  EXPECT_EQ(result.copy.absent, "the GPU failed in our kernel");
}

TEST_F(RowRace, LeavesOutWhatDoesNotCompileOrFit) {
  EXPECT_THAT(measure("wide=3").left_out, HasSubstr("missing"));
  const RowResult result = measure("wide=2");
  EXPECT_TRUE(result.good());
  EXPECT_EQ(result.left_out, "`Y` of `softmax` is 1024 x float32, expected 512 x float32");
  EXPECT_THAT(table_line(result), HasSubstr("    left out: `Y` of `softmax`"));
}

TEST_F(RowRace, WithoutAGpuSaysSo) {
  driver_.gpus.clear();
  const RowResult result = measure();
  EXPECT_TRUE(result.good());
  EXPECT_THAT(result.left_out, HasSubstr("GPU"));
  EXPECT_EQ(table_foot({result}), "");
}

TEST_F(RowRace, IsWrittenAsATableAndAsJson) {
  start_torch();
  RowResult result = measure();
  // Rates as they are on a GPU.
  result.launches *= 1000000;
  result.copy.operations *= 1000000;
  for (RowRival& rival : result.rivals) rival.result.operations *= 1000000;
  EXPECT_EQ(table_head(result.row.problem) + table_line(result),
            "kernel           type      row                         TB/s     best          copy  "
            "of copy        Triton       PyTorch torch.compile  regs\n"
            "softmax          float32   64                         1.024    1.024         2.048  "
            " 50.0 %        66.7 %             -             -    40\n");
  const auto json = rows_json({result});
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["name"], "kernels/rows/softmax/float32/64");
  EXPECT_EQ(json[0]["expression"], "build(m=8, n=64, dtype=\"float32\")");
  EXPECT_DOUBLE_EQ(json[0]["tbps"].get<double>(), *result.tera());
  EXPECT_DOUBLE_EQ(json[0]["of_copy"].get<double>(), *result.of_copy());
  EXPECT_DOUBLE_EQ(json[0]["copy"]["tbps"].get<double>(), *result.copy.tera());
  EXPECT_NEAR(json[0]["triton"]["of_copy"].get<double>(), 2.0 / 3, 1e-6);
  EXPECT_TRUE(json[0]["torch"]["tbps"].is_null());
  EXPECT_EQ(json[0]["torch"]["absent"], "memory");
  EXPECT_EQ(json[0]["seconds"].size(), 3U);
}

TEST(RowTable, OfAttentionHasOperations) {
  RowResult result{
      .row = {.problem = {.job = Job::Attention, .m = 8192, .n = 2048, .dim = 128, .batch = 2}},
      .launches = 1,
      .turns = {.seconds = {0.01}}};
  result.rivals = {{.who = {"flash", "PyTorch flash"}}, {.who = {"cudnn", "cuDNN"}}};
  result.rivals[1].result.operations = result.work();
  result.rivals[1].result.turns.seconds = {0.002};
  EXPECT_EQ(table_head(result.row.problem) + table_line(result),
            "kernel           type      batch, seq, heads, dim   TFLOP/s     best PyTorch flash    "
            "     cuDNN  regs\n"
            "flash_attention  bfloat16  2x8192x16x128              110.0    110.0             -    "
            "     549.8     -\n");
  EXPECT_FALSE(rows_json({result})[0].contains("copy"));
  EXPECT_TRUE(rows_json({result})[0].contains("tflops"));
}

}  // namespace
}  // namespace ww::bench::rows::row_measure_test
