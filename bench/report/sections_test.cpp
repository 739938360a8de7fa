// SPDX-License-Identifier: Apache-2.0
#include "sections.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string_view>

#include "rows.h"

namespace ww::bench::sections_test {
namespace {

// As Google Benchmark writes a benchmark that was repeated.
void add(Json& to, const std::string& name, double time, std::string_view unit = "ns",
         const std::map<std::string, double>& counters = {}) {
  for (const std::string_view kind : {"mean", "median", "stddev", "cv"}) {
    const double factor = kind == "cv" ? 0.02 / time : kind == "mean" ? 2 : 1;
    const double by_clock = name.ends_with("/process_time") ? 0.6 : 1;  // several threads
    Json entry = {{"name", fmt::format("{}_{}", name, kind)},
                  {"run_name", name},
                  {"repetitions", 3},
                  {"threads", 1},
                  {"aggregate_name", kind},
                  {"real_time", time * factor * by_clock},
                  {"cpu_time", time * factor},
                  {"time_unit", unit}};
    for (const auto& [key, value] : counters) entry[key] = value;
    to["benchmarks"].push_back(entry);
  }
}
void add_error(Json& to, const std::string& name, std::string_view message) {
  to["benchmarks"].push_back(
      {{"run_name", name}, {"error_occurred", true}, {"error_message", message}});
}

const Measurement kHow{.machine = {.cpu = "A CPU, x86_64, 2 cores",
                                   .compiler = "g++ 12.2",
                                   .cuda = "13.0",
                                   .gpu = "A GPU",
                                   .commit = "0123abc"},
                       .version = "0.1.0",
                       .date = "2026-11-16",
                       .load = 0.2};

// Of the only section, what comes after the words about it.
std::string numbers_of(const Json& result, const Measurement& how = kHow) {
  const auto sections = sections_of(result, how);
  EXPECT_EQ(sections.size(), 1U);
  const std::string& text = sections.at(0).text;
  return text.substr(text.find("\nMeasured on ") + 1);
}

TEST(BenchSections, Compile) {
  Json result;
  for (const auto& [phase, us] : {std::pair("source_to_ptx", 100000.0),
                                  {"source_to_tile", 4000.0},
                                  {"tile_to_lowered", 85000.0},
                                  {"tile_to_unproven", 15000.0},
                                  {"lowered_to_ptx", 9994.0}})
    add(result, fmt::format("compile/gemm/{}/min_time:0.100/process_time", phase), us, "us");
  add(result, "compile/gemm/nvcc_to_ptx/iterations:1/manual_time", 1234, "ms", {{"ratio", 12.34}});
  add_error(result, "compile/gemm/ptxas/iterations:1/manual_time",
            "skipped: `ptxas` is not on this machine");
  add(result, "compile/one_screen", 95, "us");
  EXPECT_EQ(
      numbers_of(result),
      R"(Measured on 2026-11-16 with version 0.1.0 (0123abc) on A CPU, x86_64, 2 cores, g++ 12.2, CUDA 13.0, load 0.2 before;
medians of 3 repetitions, spread 2 % in the middle and 2 % at most:

    warpwright bench compile --report

| example | source → PTX, ms | elapsed | read | lower | prove | emit | `nvcc -ptx`, ms | nvcc over ours | `ptxas`, ms |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
| `gemm` | 100 | 60.0 | 4.00 | 15.0 | 70.0 | 9.99 | 1234 | 12.3 × | not here |

| front end | ms |
|---|--:|
| `one_screen` | 0.10 |
)");
}

TEST(BenchSections, Layout) {
  Json result;
  add(result, "layout/parse/4", 851);
  add(result, "layout/parse/6", 836.4);
  add(result, "layout/slice_runtime", 1893);
  add(result, "layout/fit_128x256/registers", 915000, "ns", {{"items_per_second", 1e9 / 27.9}});
  EXPECT_EQ(
      numbers_of(result),
      R"(Measured on 2026-11-16 with version 0.1.0 (0123abc) on A CPU, x86_64, 2 cores, g++ 12.2, load 0.2 before;
medians of 3 repetitions, spread 2 % in the middle and 2 % at most:

    warpwright bench layout --report

| operation, ns | rank 4 | rank 5 | rank 6 |
|---|--:|--:|--:|
| `parse` | 851 | - | 836 |

| operation | whole | per element, ns |
|---|--:|--:|
| `slice_runtime` | 1893 ns | - |
| `fit_128x256/registers` | 915 µs | 27.9 |
)");
}

TEST(BenchSections, Sim) {
  Json result;
  const auto rate = [](double mega) {
    return std::map<std::string, double>{{"items_per_second", mega * 1e6}};
  };
  add(result, "sim/mixed/unchecked/process_time", 9, "ms", rate(30));
  add(result, "sim/mixed/checked/process_time", 36, "ms", rate(7.5));
  add(result, "sim/cores/unchecked/1/real_time", 9, "ms", rate(30));
  add(result, "sim/cores/unchecked/2/real_time", 5, "ms", rate(57));
  add(result, "sim/cores/checked/1/real_time", 9, "ms", rate(8));
  add(result, "sim/cores/checked/2/real_time", 9, "ms", rate(16));
  add(result, "sim/mma_f16/exact/process_time", 75, "ms", {{"FLOP", 1.78e9}});
  add(result, "sim/start_up", 0.298, "ms");
  Measurement how = kHow;
  how.options = " --filter 'm' --repetitions 5";
  how.is_filtered = true;
  how.machine.commit.clear();
  EXPECT_EQ(
      numbers_of(result, how),
      R"(Measured on 2026-11-16 with version 0.1.0 on A CPU, x86_64, 2 cores, g++ 12.2, load 0.2 before;
medians of 3 repetitions, spread 2 % in the middle and 2 % at most:

    warpwright bench sim --filter 'm' --repetitions 5 --report

| code, M/s | warp instructions, checks off | on | thread instructions, checks off | on | off over on |
|---|--:|--:|--:|--:|--:|
| mixed | 30.0 | 7.50 | 960 | 240 | 4.00 × |

| cores | warp instructions, M/s, checks off | over one core | checks on | over one core |
|---|--:|--:|--:|--:|
| 1 | 30.0 | 1.00 × | 8.00 | 1.00 × |
| 2 | 57.0 | 1.90 × | 16.0 | 2.00 × |

| matrix products, GFLOP/s | exact | plain | exact, checks on |
|---|--:|--:|--:|
| `mma_f16` | 1.78 | - | - |

Reading, checking and decoding a kernel of one screen: 0.30 ms.
)");
}

TEST(BenchSections, Kernels) {
  Json result;
  add(result, "kernels/copy_through/float16/1x128/iterations:1/manual_time", 2007, "us",
      {{"of_copy", 1.005}, {"bytes_per_second", 4.28e12}});
  EXPECT_EQ(
      numbers_of(result),
      R"(Measured on 2026-11-16 with version 0.1.0 (0123abc) on A GPU, A CPU, x86_64, 2 cores, g++ 12.2, load 0.2 before;
medians of 3 repetitions, spread 2 % in the middle and 2 % at most:

    warpwright bench kernels --filter 'copy|transpose' --report

| benchmark | median | rate |
|---|--:|--:|
| `copy_through/float16/1x128` | 2007 µs | 4.28 TB/s, 100.5 % |
)");
}

TEST(BenchSections, MatrixProducts) {
  Json result;
  result["products"] =
      Json::array({{{"name", "kernels/gemm_mma/float16/64"},
                    {"kernel", "gemm_mma"},
                    {"size", "64x8192x8192"},
                    {"dtype", "float16"},
                    {"tile_text", "64x64x64 64x16 s8 g16"},
                    {"tflops", 216.3},
                    {"best_tflops", 220.0},
                    {"of_ceiling", 0.354},
                    {"of_cublas", 0.905},
                    {"ceiling", {{"tflops", 611}}},
                    {"cublas", {{"tflops", 239}}},
                    {"triton", {{"tflops", nullptr}}},
                    {"registers", 110},
                    {"shared_bytes", 131072},
                    {"rounds", 15}},
                   {{"name", "kernels/gemm_mma/float16/4096"}, {"tflops", nullptr}}});
  EXPECT_EQ(
      numbers_of(result),
      R"(Measured on 2026-11-16 with version 0.1.0 (0123abc) on A GPU, A CPU, x86_64, 2 cores, g++ 12.2, load 0.2 before;
medians of 15 rounds:

    warpwright bench kernels --filter 'gemm_[^h]' --report

| product | type | size | tile | TFLOP/s | of ceiling | ceiling | cuBLAS | of cuBLAS | Triton | registers | shared bytes | best |
|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
| `gemm_mma` | float16 | 64×8192×8192 | 64×64×64 64×16 s8 g16 | 216 | 35.4 % | 611 | 239 | 0.905 | - | 110 | 131072 | 220 |
)");
}

TEST(BenchSections, RowKernels) {
  Json result;
  result["rows"] =
      Json::array({{{"name", "kernels/rows/softmax/bfloat16/4096"},
                    {"kernel", "softmax"},
                    {"dtype", "bfloat16"},
                    {"size", "4096"},
                    {"tbps", 4.123},
                    {"best_tbps", 4.2},
                    {"of_copy", 0.985},
                    {"copy", {{"tbps", 4.186}, {"of_copy", nullptr}}},
                    {"triton", {{"tbps", 4.0}, {"of_copy", 0.956}}},
                    {"torch", {{"tbps", nullptr}, {"of_copy", nullptr}, {"absent", "memory"}}},
                    {"registers", 40},
                    {"rounds", 15}},
                   {{"name", "kernels/rows/flash_attention/bfloat16/8192_causal"},
                    {"kernel", "flash_attention"},
                    {"dtype", "bfloat16"},
                    {"size", "2x8192x16x128 causal"},
                    {"tflops", 300.2},
                    {"best_tflops", 310.0},
                    {"flash", {{"tflops", 350.0}}},
                    {"cudnn", {{"tflops", 500.0}}},
                    {"registers", 255},
                    {"rounds", 15}},
                   {{"name", "kernels/rows/rope/bfloat16/4096"}, {"tbps", nullptr}}});
  EXPECT_EQ(
      numbers_of(result),
      R"(Measured on 2026-11-16 with version 0.1.0 (0123abc) on A GPU, A CPU, x86_64, 2 cores, g++ 12.2, load 0.2 before;
medians of 15 rounds:

    warpwright bench kernels --filter 'rows' --report

| kernel | type | row | TB/s | copy | of copy | Triton | PyTorch | `torch.compile` | registers | best |
|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|
| `softmax` | bfloat16 | 4096 | 4.12 | 4.19 | 98.5 % | 95.6 % | - | - | 40 | 4.20 |

| kernel | type | batch×seq×heads×dim | TFLOP/s | PyTorch, flash | cuDNN | registers | best |
|---|---|---|--:|--:|--:|--:|--:|
| `flash_attention` | bfloat16 | 2×8192×16×128 causal | 300 | 350 | 500 | 255 | 310 |
)");
}

TEST(BenchSections, NothingOfWhatWasSkipped) {
  Json result;
  add_error(result, "kernels/driver_copy/4GiB/manual_time", "skipped: no GPU");
  EXPECT_TRUE(sections_of(result, kHow).empty());
  EXPECT_TRUE(read_rows(result).failed.empty());
}

TEST(BenchRows, TellFailuresOnce) {
  Json result;
  add_error(result, "kernels/copy/manual_time", "byte 3 is wrong");
  add_error(result, "kernels/copy/manual_time", "byte 3 is wrong");
  result["products"] =
      Json::array({{{"name", "kernels/gemm"}, {"tile_text", "64x64"}, {"wrong", "element 5"}}});
  result["rows"] = Json::array({{{"name", "kernels/rows/rope"}, {"wrong", "element 6"}}});
  EXPECT_EQ(read_rows(result).failed, (std::vector<std::string>{"kernels/copy: byte 3 is wrong",
                                                                "kernels/gemm 64x64: element 5",
                                                                "kernels/rows/rope: element 6"}));
}

}  // namespace
}  // namespace ww::bench::sections_test
