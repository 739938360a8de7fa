// SPDX-License-Identifier: Apache-2.0
#include "row_problems.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace ww::bench::rows::row_problems_test {
namespace {

using num::DType;

TEST(RowProblems, HaveNamesOfTheirOwnAndAsManyBytes) {
  std::set<std::string> names;
  std::map<Job, int> jobs;
  for (const BenchRow& row : bench_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.name.starts_with("kernels/rows/")) << row.name;
    ++jobs[row.problem.job];
    if (!row.problem.is_attention()) {
      EXPECT_EQ(arrays_of(row.problem).at(0).bytes(), std::size_t{1} << 29U) << row.name;
    }
  }
  EXPECT_EQ(jobs.size(), 11U);
  EXPECT_EQ(jobs[Job::LayerNorm], 12);
  EXPECT_EQ(jobs[Job::Rope], 2);
  EXPECT_EQ(jobs[Job::Attention], 2);
}

TEST(RowProblems, AreChosenByExpression) {
  EXPECT_EQ(bench_rows("").size(), bench_rows().size());
  EXPECT_EQ(bench_rows("^kernels/.*(rows)").size(), bench_rows().size());
  EXPECT_EQ(bench_rows("^kernels/.*(softmax/float32)").size(), 6U);
  EXPECT_TRUE(bench_rows("^kernels/.*(gemm|copy|transpose)").empty());
  EXPECT_TRUE(bench_rows("(").empty());
}

TEST(RowProblems, NameTheirKernels) {
  EXPECT_EQ(expression_of(bench_rows("softmax/float32/1024").at(0)),
            "build(m=131072, n=1024, dtype=\"float32\")");
  EXPECT_EQ(expression_of(bench_rows("layer_norm/bfloat16/4096").at(0)),
            "build(m=65536, n=4096, dtype=\"bfloat16\", lanes=128, rows=2)");
  EXPECT_EQ(expression_of(bench_rows("rope/bfloat16/4096").at(0)),
            "build(positions=65536, heads=32, dim=128, dtype=\"bfloat16\")");
  EXPECT_EQ(expression_of(bench_rows("flash_attention/bfloat16/8192_causal").at(0)),
            "build(batch=2, seq=8192, heads=16, kv_heads=16, dim=128, causal=True, "
            "dtype=\"bfloat16\")");
  EXPECT_EQ(bench_rows("rope/bfloat16/4096").at(0).file, "rows/rope.py");
}

TEST(RowProblems, CountWhatMustBeDone) {
  EXPECT_EQ(bytes_of({.job = Job::Softmax, .m = 10, .n = 100}), 4000);
  EXPECT_EQ(bytes_of({.job = Job::LayerNorm, .dtype = DType::Float32, .m = 10, .n = 100}),
            8000 + 800);
  EXPECT_EQ(bytes_of({.job = Job::CrossEntropy, .m = 10, .n = 100}), 2000 + 80);
  EXPECT_EQ(bytes_of({.job = Job::ColumnSum, .m = 10, .n = 100}), 2000 + 400);
  EXPECT_EQ(bytes_of({.job = Job::QuantizeFp8, .m = 10, .n = 100}), 3000 + 40);
  EXPECT_EQ(bytes_of({.job = Job::Rope, .m = 10, .n = 256, .dim = 128}), 2 * 5120 + 2 * 2560);
  const RowProblem whole{.job = Job::Attention, .m = 8192, .n = 2048, .dim = 128, .batch = 2};
  EXPECT_EQ(operations_of(whole), 4.0 * 8192 * 8192 * 128 * 16 * 2);
  RowProblem causal = whole;
  causal.causal = true;
  EXPECT_EQ(operations_of(causal), operations_of(whole) / 2);
  EXPECT_EQ(operations_of({.job = Job::Softmax, .m = 10, .n = 100}), 0);
  EXPECT_EQ(size_text(causal), "2x8192x16x128 causal");
}

}  // namespace
}  // namespace ww::bench::rows::row_problems_test
