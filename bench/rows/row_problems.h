// SPDX-License-Identifier: Apache-2.0
// Which kernels of examples/rows/ the suite `kernels` measures, on which arrays and with which
// parameters: one table, in row_problems.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "num/dtype.h"

namespace ww::bench::rows {

enum class Job : std::uint8_t {
  Softmax,
  LayerNorm,
  RmsNorm,
  BiasGelu,
  CrossEntropy,
  RowSum,
  ColumnSum,
  Cumsum,
  QuantizeFp8,
  Rope,
  Attention,
};
/// As in the names of benchmarks: "softmax".
std::string_view name_of(Job job);

/// m rows of n elements. Of rope and attention a row is a position, with n = heads * dim elements.
struct RowProblem {
  Job job = Job::Softmax;
  num::DType dtype = num::DType::Bfloat16;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t dim = 0;    // of a head: rope and attention
  std::int64_t batch = 1;  // of m positions each: attention
  bool causal = false;     // attention

  [[nodiscard]] std::int64_t heads() const { return dim == 0 ? 0 : n / dim; }
  [[nodiscard]] bool is_attention() const { return job == Job::Attention; }
};
/// "4096"; of attention "2x8192x16x128 causal": batch, positions, heads, dim.
std::string size_text(const RowProblem& problem);

/// What an array holds before a kernel runs.
enum class Fill : std::uint8_t {
  Normal,   // numbers with mean 0 and deviation 1
  Label,    // whole numbers below n
  Cosine,   // of any angles
  Sine,     // of the same ones
  Nothing,  // NaNs: the kernel writes it
  Zero,     // the kernel adds to it
};

struct Array {
  std::string_view name;  // as the kernel has it
  num::DType dtype;
  std::int64_t rows, cols;
  Fill fill;

  [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(rows * cols); }
  [[nodiscard]] std::size_t bytes() const {
    return elements() * static_cast<std::size_t>(num::bits_of(dtype)) / 8;
  }
};
/// The arrays of the kernel; the first is X, of attention Q.
std::vector<Array> arrays_of(const RowProblem& problem);

/// Bytes that a launch must move: every array once, read or written.
double bytes_of(const RowProblem& problem);
/// Operations of the two products of attention; 0 for other jobs.
double operations_of(const RowProblem& problem);

struct BenchRow {
  std::string name = {};        // "kernels/rows/softmax/bfloat16/4096"
  std::string file = {};        // below examples/
  std::string parameters = {};  // of `build`, beyond the sizes: "lanes=256, parts=4"
  RowProblem problem = {};
};
std::vector<BenchRow> bench_rows();
/// The rows whose name the regular expression matches (kernels/name_filter.h).
std::vector<BenchRow> bench_rows(const std::string& filter);

/// "build(m=65536, n=4096, dtype=\"bfloat16\")".
std::string expression_of(const BenchRow& row);

}  // namespace ww::bench::rows
