// SPDX-License-Identifier: Apache-2.0
#include "row_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>

#include "../kernels/gpu.h"
#include "base/file_io.h"
#include "row_measure.h"
#include "runtime/sim_device.h"
#include "test_results.h"

namespace ww::bench::rows::row_reference_test {
namespace {

using testing::HasSubstr;

using Memory = std::vector<std::vector<std::byte>>;

Result<std::size_t> check(const RowProblem& problem, const Inputs& inputs, const Memory& memory) {
  const std::vector<Array> arrays = arrays_of(problem);
  return check_result(problem, inputs,
                      [&](std::span<std::byte> to, std::size_t array, std::int64_t first) {
                        const std::size_t bytes = arrays[array].bytes() / arrays[array].elements();
                        const auto from = static_cast<std::size_t>(first) * bytes;
                        std::memcpy(to.data(), memory[array].data() + from, to.size());
                        return Result<void>();
                      });
}

// An element that is off by a step more than rounding, at the end of the last line.
TEST(RowReference, FindsAWrongElementOfEachJob) {
  for (const BenchRow& row : small_rows()) {
    const RowProblem& problem = row.problem;
    const Inputs inputs(problem);
    Memory memory = right_result(problem, inputs);
    const auto compared = check(problem, inputs, memory);
    ASSERT_TRUE(compared) << row.name << compared.error().text;
    EXPECT_GT(*compared, 0U) << row.name;
    for (const Part& part : wanted_line(problem, inputs, lines_of(problem) - 1)) {
      const Array array = arrays_of(problem)[part.array];
      const Wanted& last = part.wanted.back();
      const std::int64_t at = part.first + std::ssize(part.wanted) - 1;
      for (const double wrong : {last.value + 3 * allowed(array.dtype, last),
                                 last.value - 3 * allowed(array.dtype, last),
                                 std::numeric_limits<double>::quiet_NaN()}) {
        put_element(array, memory[part.array].data(), at, wrong);
        const auto found = check(problem, inputs, memory);
        ASSERT_FALSE(found) << row.name << " " << array.name << " " << wrong;
        EXPECT_THAT(found.error().text, HasSubstr(fmt::format("of `{}` is ", array.name)));
      }
      put_element(array, memory[part.array].data(), at, last.value);
    }
  }
}

TEST(RowReference, NamesTheElement) {
  const RowProblem problem{.job = Job::RowSum, .m = 4, .n = 64};
  const Inputs inputs(problem);
  Memory memory = right_result(problem, inputs);
  put_element(arrays_of(problem)[1], memory[1].data(), 2, 1000);
  EXPECT_THAT(check(problem, inputs, memory).error().text,
              testing::MatchesRegex("wrong result: element \\(2, 0\\) of `Sum` is 1000 in place of "
                                    ".*, tolerance 0\\.00012.*"));
}

// What random numbers are off by is far below what one element more or less is.
TEST(RowReference, AllowsLittle) {
  EXPECT_LT(allowed(num::DType::Float32, {.value = 1, .slack = 0}), 1e-7);
  const RowProblem problem{.job = Job::ColumnSum, .m = 65536, .n = 4096};
  const Inputs inputs(problem);
  EXPECT_LT(wanted_line(problem, inputs, 5).at(0).wanted.at(0).slack, 0.004);
}

TEST(RowReference, ChecksTheEndsAndSomeBetween) {
  const RowProblem problem{.job = Job::Softmax, .m = 65536, .n = 4096};
  const auto lines = lines_to_check(problem);
  EXPECT_EQ(lines.size(), 1024U);
  EXPECT_EQ(lines[0], 0);
  EXPECT_EQ(lines[1], 65535);
  EXPECT_EQ(lines_to_check({.job = Job::Softmax, .m = 3, .n = 4096}).size(), 3U);
  const RowProblem attention{.job = Job::Attention, .m = 8192, .n = 2048, .dim = 128, .batch = 2};
  EXPECT_EQ(lines_to_check(attention).size(), 16U);
}

TEST(RowReference, LabelsAreInRangeAndAnglesBelongTogether) {
  const Inputs labels({.job = Job::CrossEntropy, .m = 1000, .n = 50});
  const Inputs angles({.job = Job::Rope, .m = 1000, .n = 128, .dim = 128});
  for (std::int64_t i = 0; i < 1000; ++i) {
    EXPECT_TRUE(labels[1].at(i) >= 0 && labels[1].at(i) < 50) << labels[1].at(i);
    EXPECT_NEAR(std::hypot(angles[1].at(i), angles[2].at(i)), 1, 1e-6);
  }
}

// The kernels themselves on the virtual GPU: the table fits the examples, and the reference says
// what they compute.
Result<std::size_t> run(const BenchRow& row) {
  const RowProblem& problem = row.problem;
  const std::string text =
      WW_TRY(read_file(fmt::format("{}/examples/{}", WW_SOURCE_DIR, row.file), 1U << 20U));
  const target::Target target{.arch = target::Arch::Sm90a, .ptx = 86};
  const driver::Build built =
      WW_TRY(build_for(target, SourceText(row.file, text), expression_of(row)));
  runtime::SimDevice device;
  WW_TRY_VOID(device.load({.bytes = built.ptx, .kernel = built.entry}));
  const Inputs inputs(problem);
  const std::vector<Array> arrays = arrays_of(problem);
  std::vector<runtime::Address> memory;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::vector<std::byte> contents(arrays[i].bytes());
    if (arrays[i].fill == Fill::Nothing) std::ranges::fill(contents, std::byte{0xFF});
    if (const auto block = inputs[i].bytes(); !block.empty())
      for (std::size_t at = 0; at < contents.size(); ++at) contents[at] = block[at % block.size()];
    memory.push_back(WW_TRY(device.allocate(contents.size(), arrays[i].name)));
    WW_TRY_VOID(device.upload(memory.back(), contents));
  }
  std::vector<runtime::Value> arguments;
  for (const std::size_t array : WW_TRY(arrays_of_params(built.tile(), problem)))
    arguments.push_back({memory[array]});
  WW_TRY_VOID(device.launch(WW_TRY(launch_of(*built.lowered, std::move(arguments)))));
  return check_result(
      problem, inputs, [&](std::span<std::byte> to, std::size_t array, std::int64_t first) {
        const std::size_t bytes = arrays[array].bytes() / arrays[array].elements();
        return device.download(to, memory[array] + static_cast<std::size_t>(first) * bytes);
      });
}

TEST(RowReference, IsWhatTheKernelsCompute) {
  EXPECT_EQ(small_rows().size(), 11U);
  for (const BenchRow& row : small_rows()) {
    const auto compared = run(row);
    EXPECT_TRUE(compared) << row.name << ": " << compared.error().text;
  }
}

// float32, and the parameters that the table gives.
TEST(RowReference, IsWhatOtherKernelsCompute) {
  for (const std::string_view name : {"softmax/float32/4096", "layer_norm/bfloat16/16384"}) {
    BenchRow row = bench_rows(std::string(name)).at(0);
    row.problem.m = 1;
    const auto compared = run(row);
    EXPECT_TRUE(compared) << row.name << ": " << compared.error().text;
  }
}

}  // namespace
}  // namespace ww::bench::rows::row_reference_test
