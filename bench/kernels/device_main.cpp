// SPDX-License-Identifier: Apache-2.0
// The suite `kernels` as a program of its own, for machines with a GPU and little else: no Google
// Benchmark is needed (scripts/device_benchmarks.sh builds it). Writes what that would write as
// JSON, medians and spreads, for scripts/make_benchmarks.py; progress goes to stderr. Usage:
// device_main [REPETITIONS [TEXT]], where TEXT is part of the names of the rows to measure. Exits 1
// when a row fails and 2 when there is no GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_rows.h"

namespace ww::bench {
namespace {

struct Spread {
  double median = 0;
  double cv = 0;  // standard deviation over mean
};

Spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const std::size_t middle = values.size() / 2;
  return {values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2,
          std::sqrt(squares / std::max(1.0, count - 1)) / mean};
}

std::string aggregate_text(const KernelRow& row, std::string_view what, std::size_t repetitions,
                           std::string_view rest) {
  return fmt::format(
      R"(    {{"run_name": {:?}, "aggregate_name": "{}", "repetitions": {}, "time_unit": "us", {}}})",
      "kernels/" + row.name + "/manual_time", what, repetitions, rest);
}

std::string error_text(const KernelRow& row, const Diag& error) {
  return fmt::format(R"(    {{"run_name": {:?}, "error_occurred": true, "error_message": {:?}}})",
                     "kernels/" + row.name + "/manual_time", error.text);
}

Result<std::string> row_text(KernelBench& bench, const KernelRow& row, std::size_t repetitions) {
  std::vector<double> seconds;
  std::vector<double> of_copy;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < repetitions; ++i) {
    const Measured measured = WW_TRY(bench.measure(row));
    seconds.push_back(measured.seconds);
    of_copy.push_back(measured.of_copy());
    bytes = measured.bytes;
  }
  const Spread time = spread_of(seconds);
  const Spread ratio = spread_of(of_copy);
  const double rate = static_cast<double>(bytes) / time.median;
  fmt::print(stderr, "{:40} {:9.1f} us {:6.3f} TB/s {:6.1f} % of the driver's copy\n", row.name,
             time.median * 1e6, rate / 1e12, ratio.median * 100);
  const std::string median = fmt::format(
      R"("real_time": {:.3f}, "bytes_per_second": {:.0f}, "of_copy": {:.4f}, "bytes": {}, "launches": {})",
      time.median * 1e6, rate, ratio.median, bytes, kLaunches);
  const std::string cv =
      fmt::format(R"("real_time": {:.5f}, "of_copy": {:.5f})", time.cv, ratio.cv);
  return aggregate_text(row, "median", repetitions, median) + ",\n" +
         aggregate_text(row, "cv", repetitions, cv);
}

int run(std::size_t repetitions, std::string_view part) {
  auto bench = KernelBench::open();
  if (!bench) {
    fmt::print(stderr, "{}\n", bench.error().text);
    return 2;
  }
  std::vector<std::string> texts;
  bool is_good = true;
  for (const KernelRow& row : kernel_rows()) {
    if (!row.name.contains(part)) continue;
    const auto text = row_text(*bench, row, repetitions);
    if (!text) fmt::print(stderr, "{:40} {}\n", row.name, text.error().text);
    is_good = is_good && text.has_value();
    texts.push_back(text ? *text : error_text(row, text.error()));
  }
  fmt::print("{{\n  \"context\": {{\"gpu\": {:?}}},\n  \"benchmarks\": [\n{}\n  ]\n}}\n",
             bench->gpu(), fmt::join(texts, ",\n"));
  return is_good ? 0 : 1;
}

}  // namespace
}  // namespace ww::bench

int main(int argc, char** argv) {
  const long repetitions = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 5;
  return ww::bench::run(static_cast<std::size_t>(std::max(2L, repetitions)),
                        argc > 2 ? argv[2] : "");
}
