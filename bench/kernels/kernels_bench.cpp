// SPDX-License-Identifier: Apache-2.0
// The suite `kernels`: kernels on the real GPU against the driver's copy (kernel_rows.h). The rate
// counts the bytes that are read and those that are written; `of_copy` 1 is as fast as the driver.
// Without a GPU every row says why it is skipped.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "kernel_rows.h"
#include "runtime/cuda_calls.h"

namespace ww::bench::kernels_bench {
namespace {

void run_row(benchmark::State& state, const KernelRow& row) {
  // Never ends: a failure in a product takes its context away (gpu.h).
  static Result<KernelBench>& bench = *new Result<KernelBench>(KernelBench::open());
  if (!bench) return state.SkipWithError(("skipped: " + bench.error().text).c_str());
  std::size_t bytes = 0;
  for ([[maybe_unused]] auto _ : state) {
    const auto measured = bench->measure(row);
    if (!measured) return state.SkipWithError(measured.error().text.c_str());
    state.SetIterationTime(measured->seconds);
    state.counters["of_copy"] = measured->of_copy();
    bytes = measured->bytes;
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["launches"] = kLaunches;
}

bool add_rows() {
  const bool has_driver = runtime::load_cuda_calls().has_value();
  for (const KernelRow& row : kernel_rows()) {
    auto* const made =
        benchmark::RegisterBenchmark(fmt::format("kernels/{}", row.name).c_str(), run_row, row);
    made->Unit(benchmark::kMicrosecond)->Iterations(1)->UseManualTime();
    if (!has_driver) made->Repetitions(1);  // it is enough to say it once
  }
  return true;
}
[[maybe_unused]] const bool kAdded = add_rows();

}  // namespace
}  // namespace ww::bench::kernels_bench
