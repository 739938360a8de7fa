// SPDX-License-Identifier: Apache-2.0
#include "row_problems.h"

#include <fmt/format.h>

#include <tuple>

#include "../kernels/name_filter.h"

namespace ww::bench::rows {
namespace {

using num::DType;

constexpr std::int64_t kBytes = std::int64_t{1} << 29;  // of X: far more than a cache holds
constexpr std::int64_t kDim = 128;

// Parameters that are faster than the kernel's own choice, as measured on an H200.
struct Tuned {
  Job job;
  DType dtype;
  std::int64_t n;
  std::string_view parameters;
};
constexpr Tuned kTuned[] = {{Job::Softmax, DType::Bfloat16, 4096, "lanes=64, rows=4"},
                            {Job::Softmax, DType::Bfloat16, 262144, "cluster=16, lanes=256"},
                            {Job::Softmax, DType::Float32, 65536, "cluster=8, lanes=512"},
                            {Job::Softmax, DType::Float32, 262144, "cluster=16, lanes=256"},
                            {Job::LayerNorm, DType::Bfloat16, 4096, "lanes=128, rows=2"},
                            {Job::LayerNorm, DType::Float32, 1024, "ahead=0"},
                            {Job::RmsNorm, DType::Bfloat16, 4096, "lanes=32, rows=4"},
                            {Job::RmsNorm, DType::Float32, 8192, "lanes=1024"},
                            {Job::RmsNorm, DType::Float32, 65536, "cluster=8, lanes=256"}};

constexpr std::int64_t kLengths[] = {1024, 4096, 8192, 16384, 65536, 262144};
constexpr std::int64_t kTwoLengths[] = {4096, 16384};

std::string_view tuned(const RowProblem& problem) {
  for (const Tuned& each : kTuned)
    if (each.job == problem.job && each.dtype == problem.dtype && each.n == problem.n)
      return each.parameters;
  return "";
}

// The tuned form where there is one.
std::string_view file_of(Job job) {
  switch (job) {
    case Job::Softmax:
      return "softmax_tuned";
    case Job::LayerNorm:
      return "layer_norm_tuned";
    case Job::RmsNorm:
      return "rms_norm_tuned";
    case Job::Attention:
      return "attention_tuned";
    default:
      return name_of(job);
  }
}

BenchRow row_of(const RowProblem& problem) {
  const std::string what = problem.is_attention()
                               ? fmt::format("{}{}", problem.m, problem.causal ? "_causal" : "")
                               : fmt::format("{}", problem.n);
  return {.name = fmt::format("kernels/rows/{}/{}/{}", name_of(problem.job),
                              num::name_of(problem.dtype), what),
          .file = fmt::format("rows/{}.py", file_of(problem.job)),
          .parameters = std::string(tuned(problem)),
          .problem = problem};
}

BenchRow row_of(Job job, DType dtype, std::int64_t n) {
  const std::int64_t row_bytes = n * num::bits_of(dtype) / 8;
  return row_of({.job = job,
                 .dtype = dtype,
                 .m = kBytes / row_bytes,
                 .n = n,
                 .dim = job == Job::Rope ? kDim : 0});
}

std::vector<Array> attention_arrays(const RowProblem& problem) {
  const auto array = [&](std::string_view name, Fill fill) {
    return Array{name, problem.dtype, problem.batch * problem.m, problem.n, fill};
  };
  return {array("Q", Fill::Normal), array("K", Fill::Normal), array("V", Fill::Normal),
          array("O", Fill::Nothing)};
}

}  // namespace

std::string_view name_of(Job job) {
  switch (job) {
    case Job::Softmax:
      return "softmax";
    case Job::LayerNorm:
      return "layer_norm";
    case Job::RmsNorm:
      return "rms_norm";
    case Job::BiasGelu:
      return "bias_gelu";
    case Job::CrossEntropy:
      return "cross_entropy";
    case Job::RowSum:
      return "row_sum";
    case Job::ColumnSum:
      return "column_sum";
    case Job::Cumsum:
      return "cumsum";
    case Job::QuantizeFp8:
      return "quantize_fp8";
    case Job::Rope:
      return "rope";
    case Job::Attention:
      return "flash_attention";
  }
  return "";
}

std::string size_text(const RowProblem& problem) {
  if (!problem.is_attention()) return fmt::format("{}", problem.n);
  return fmt::format("{}x{}x{}x{}{}", problem.batch, problem.m, problem.heads(), problem.dim,
                     problem.causal ? " causal" : "");
}

std::vector<Array> arrays_of(const RowProblem& problem) {
  const auto [type, m, n] = std::tuple(problem.dtype, problem.m, problem.n);
  const Array x{"X", type, m, n, Fill::Normal}, y{"Y", type, m, n, Fill::Nothing};
  const Array w{"W", type, 1, n, Fill::Normal}, b{"B", type, 1, n, Fill::Normal};
  switch (problem.job) {
    case Job::Softmax:
    case Job::Cumsum:
      return {x, y};
    case Job::LayerNorm:
      return {x, w, b, y};
    case Job::RmsNorm:
      return {x, w, y};
    case Job::BiasGelu:
      return {x, b, y};
    case Job::CrossEntropy:
      return {x,
              {"Label", DType::Int32, m, 1, Fill::Label},
              {"Loss", DType::Float32, m, 1, Fill::Nothing}};
    case Job::RowSum:
      return {x, {"Sum", DType::Float32, m, 1, Fill::Nothing}};
    case Job::ColumnSum:
      return {x, {"Sum", DType::Float32, 1, n, Fill::Zero}};
    case Job::QuantizeFp8:
      return {x,
              {"Q", DType::Float8E4M3fn, m, n, Fill::Nothing},
              {"Scale", DType::Float32, m, 1, Fill::Nothing}};
    case Job::Rope:
      return {x,
              {"Cos", DType::Float32, m, problem.dim / 2, Fill::Cosine},
              {"Sin", DType::Float32, m, problem.dim / 2, Fill::Sine},
              y};
    case Job::Attention:
      return attention_arrays(problem);
  }
  return {};
}

double bytes_of(const RowProblem& problem) {
  double out = 0;
  for (const Array& array : arrays_of(problem)) out += static_cast<double>(array.bytes());
  return out;
}

double operations_of(const RowProblem& problem) {
  if (!problem.is_attention()) return 0;
  const auto m = static_cast<double>(problem.m);
  const double whole = 4 * m * m * static_cast<double>(problem.n * problem.batch);
  return problem.causal ? whole / 2 : whole;
}

std::vector<BenchRow> bench_rows() {
  std::vector<BenchRow> out;
  for (const Job job : {Job::Softmax, Job::LayerNorm, Job::RmsNorm, Job::BiasGelu})
    for (const DType dtype : {DType::Bfloat16, DType::Float32})
      for (const std::int64_t n : kLengths) out.push_back(row_of(job, dtype, n));
  for (const Job job :
       {Job::CrossEntropy, Job::RowSum, Job::ColumnSum, Job::Cumsum, Job::QuantizeFp8, Job::Rope})
    for (const std::int64_t n : kTwoLengths) out.push_back(row_of(job, DType::Bfloat16, n));
  for (const bool causal : {false, true})
    out.push_back(row_of({.job = Job::Attention,
                          .m = 8192,
                          .n = 16 * kDim,
                          .dim = kDim,
                          .batch = 2,
                          .causal = causal}));
  return out;
}

std::vector<BenchRow> bench_rows(const std::string& filter) {
  std::vector<BenchRow> out = bench_rows();
  const NameFilter names(filter);
  std::erase_if(out, [&](const BenchRow& row) { return !names.takes(row.name); });
  return out;
}

std::string expression_of(const BenchRow& row) {
  const RowProblem& of = row.problem;
  std::string sizes = fmt::format("m={}, n={}", of.m, of.n);
  if (of.job == Job::Rope)
    sizes = fmt::format("positions={}, heads={}, dim={}", of.m, of.heads(), of.dim);
  if (of.is_attention())
    sizes = fmt::format("batch={}, seq={}, heads={}, kv_heads={}, dim={}, causal={}", of.batch,
                        of.m, of.heads(), of.heads(), of.dim, of.causal ? "True" : "False");
  return fmt::format("build({}, dtype=\"{}\"{}{})", sizes, num::name_of(of.dtype),
                     row.parameters.empty() ? "" : ", ", row.parameters);
}

}  // namespace ww::bench::rows
