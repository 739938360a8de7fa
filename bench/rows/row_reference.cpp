// SPDX-License-Identifier: Apache-2.0
#include "row_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "../kernels/operands.h"
#include "driver/args/array_spec.h"
#include "num/float_format.h"

namespace ww::bench::rows {
namespace {

constexpr std::size_t kBlockLength = 190121;  // a prime far from powers of two and their multiples
constexpr double kSlack = 0x1p-17;
constexpr double kEps = 1e-5;
constexpr double kMaxFp8 = 448;

double drawn(Fill fill, std::int64_t labels, driver::RandomStream& random) {
  switch (fill) {
    case Fill::Label:
      return static_cast<double>(random.below(static_cast<std::uint64_t>(labels)));
    case Fill::Cosine:
      return std::cos(2 * std::numbers::pi * random.unit());
    case Fill::Sine:
      return std::sin(2 * std::numbers::pi * random.unit());
    default:
      return random.normal();
  }
}

bool is_written(const Array& array) {
  return array.fill == Fill::Nothing || array.fill == Fill::Zero;
}

// The rounding of a type.
double unit_of(num::DType type) { return std::ldexp(1, -1 - num::format_of(type).mantissa_bits); }

Wanted relative(double value) { return {value, kSlack * std::abs(value)}; }

// --- jobs ----------------------------------------------------------------------------------------

using Line = std::span<const double>;

std::vector<Wanted> softmax_of(Line x) {
  const double most = std::ranges::max(x);
  double total = 0;
  for (const double each : x) total += std::exp(each - most);
  std::vector<Wanted> out;
  for (const double each : x) out.push_back(relative(std::exp(each - most) / total));
  return out;
}

std::vector<Wanted> layer_norm_of(Line x, const Block& w, const Block& b) {
  const auto n = static_cast<double>(x.size());
  double sum = 0, squares = 0;
  for (const double each : x) sum += each;
  const double mean = sum / n;
  for (const double each : x) squares += (each - mean) * (each - mean);
  const double scale = 1 / std::sqrt(squares / n + kEps);
  std::vector<Wanted> out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const double normal = (x[i] - mean) * scale;
    out.push_back({normal * w.at(at) + b.at(at),
                   kSlack * ((1 + std::abs(normal)) * std::abs(w.at(at)) + std::abs(b.at(at)))});
  }
  return out;
}

std::vector<Wanted> rms_norm_of(Line x, const Block& w) {
  double squares = 0;
  for (const double each : x) squares += each * each;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + kEps);
  std::vector<Wanted> out;
  for (std::size_t i = 0; i < x.size(); ++i)
    out.push_back(relative(x[i] * scale * w.at(static_cast<std::int64_t>(i))));
  return out;
}

std::vector<Wanted> bias_gelu_of(Line x, const Block& b) {
  std::vector<Wanted> out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double each = x[i] + b.at(static_cast<std::int64_t>(i));
    out.push_back({each / 2 * std::erfc(-each / std::numbers::sqrt2), kSlack * std::abs(each)});
  }
  return out;
}

Wanted cross_entropy_of(Line x, double label) {
  const double most = std::ranges::max(x);
  double total = 0;
  for (const double each : x) total += std::exp(each - most);
  const double all = std::log(total) + most, own = x[static_cast<std::size_t>(label)];
  return {all - own, kSlack * (std::abs(all) + std::abs(own))};
}

std::vector<Wanted> cumsum_of(Line x) {
  std::vector<Wanted> out;
  double sum = 0;
  for (const double each : x) {
    sum += each;
    out.push_back({sum, 2 * kSlack * std::sqrt(static_cast<double>(out.size() + 1))});
  }
  return out;
}

Wanted sum_of(Line x) {
  double sum = 0;
  for (const double each : x) sum += each;
  return {sum, 2 * kSlack * std::sqrt(static_cast<double>(x.size()))};
}

// Q, whose smallest steps are 2^-9, and the scale.
std::pair<std::vector<Wanted>, Wanted> quantized(Line x) {
  double most = 0;
  for (const double each : x) most = std::max(most, std::abs(each));
  most = std::max(most, 1e-30);
  std::vector<Wanted> out;
  for (const double each : x) {
    out.push_back(relative(each * (kMaxFp8 / most)));
    out.back().slack += 0x1p-10;
  }
  return {std::move(out), relative(most / kMaxFp8)};
}

std::vector<Wanted> turned(const RowProblem& problem, const Inputs& inputs, std::int64_t line,
                           Line x) {
  const std::int64_t half = problem.dim / 2;
  std::vector<Wanted> out(x.size());
  for (std::int64_t head = 0; head < problem.heads(); ++head)
    for (std::int64_t i = 0; i < half; ++i) {
      const auto at = static_cast<std::size_t>(head * problem.dim + i);
      const auto other = at + static_cast<std::size_t>(half);
      const double a = x[at], b = x[other];
      const double cos = inputs[1].at(line * half + i), sin = inputs[2].at(line * half + i);
      const double slack = kSlack * (std::abs(a) + std::abs(b));
      out[at] = {a * cos - b * sin, slack};
      out[other] = {b * cos + a * sin, slack};
    }
  return out;
}

// A line is one query of one head.
std::vector<Wanted> attention_of(const RowProblem& problem, const Inputs& inputs,
                                 std::int64_t line) {
  const std::int64_t heads = problem.heads(), dim = problem.dim;
  const std::int64_t head = line % heads, query = line / heads % problem.m;
  const std::int64_t keys_at = (line / heads / problem.m * problem.m * heads + head) * dim;
  const std::int64_t keys = problem.causal ? query + 1 : problem.m;
  std::vector<double> weights(static_cast<std::size_t>(keys));
  for (std::int64_t key = 0; key < keys; ++key) {
    double score = 0;
    for (std::int64_t i = 0; i < dim; ++i)
      score += inputs[0].at(line * dim + i) * inputs[1].at(keys_at + key * heads * dim + i);
    weights[static_cast<std::size_t>(key)] = score / std::sqrt(static_cast<double>(dim));
  }
  const double most = std::ranges::max(weights);
  double total = 0;
  for (double& weight : weights) {
    weight = std::exp(weight - most);
    total += weight;
  }
  std::vector<Wanted> out(static_cast<std::size_t>(dim));
  for (std::int64_t i = 0; i < dim; ++i) {
    double sum = 0, squares = 0;
    for (std::int64_t key = 0; key < keys; ++key) {
      const double term = weights[static_cast<std::size_t>(key)] / total *
                          inputs[2].at(keys_at + key * heads * dim + i);
      sum += term;
      squares += term * term;
    }
    out[static_cast<std::size_t>(i)] = {sum,
                                        2 * unit_of(problem.dtype) * std::sqrt(squares) + kSlack};
  }
  return out;
}

// Multiplications of a line, more or less.
std::int64_t cost_of(const RowProblem& problem) {
  if (problem.is_attention()) return 2 * problem.m * problem.dim;
  return problem.job == Job::ColumnSum ? problem.m : problem.n;
}

std::vector<double> line_of_x(const RowProblem& problem, const Inputs& inputs, std::int64_t line) {
  const bool is_column = problem.job == Job::ColumnSum;
  std::vector<double> out(static_cast<std::size_t>(is_column ? problem.m : problem.n));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    out[i] = inputs[0].at(is_column ? at * problem.n + line : line * problem.n + at);
  }
  return out;
}

Result<void> compare_part(const Array& array, const Part& part, std::span<const std::byte> memory) {
  for (std::size_t i = 0; i < part.wanted.size(); ++i) {
    const double is = value_at(array.dtype, memory, i);
    const Wanted& wanted = part.wanted[i];
    const double off = allowed(array.dtype, wanted);
    if (std::abs(is - wanted.value) <= off) continue;  // a NaN is not
    const std::int64_t at = part.first + static_cast<std::int64_t>(i);
    return fail(DiagKind::DeviceError,
                "wrong result: element ({}, {}) of `{}` is {} in place of {}, tolerance {:.3g}",
                at / array.cols, at % array.cols, array.name,
                std::isnan(is) ? "not a number" : fmt::format("{}", is), wanted.value, off);
  }
  return {};
}

}  // namespace

Block::Block(const Array& array, const RowProblem& problem, std::uint64_t seed) {
  if (is_written(array)) return;
  driver::RandomStream random(seed);
  const std::size_t width = bench::bytes_of(array.dtype, 1);
  bytes_.resize(kBlockLength * width);
  for (std::size_t i = 0; i < kBlockLength; ++i) {
    const double value = drawn(array.fill, problem.n, random);
    const std::uint64_t code = num::is_float(array.dtype) ? num::encode(array.dtype, value)
                                                          : static_cast<std::uint64_t>(value);
    std::memcpy(bytes_.data() + i * width, &code, width);
    values_.push_back(value_at(array.dtype, bytes_, i));
  }
}

// The cosines and sines are of the same angles.
Inputs::Inputs(const RowProblem& problem) {
  for (const Array& array : arrays_of(problem))
    blocks_.emplace_back(array, problem, blocks_.size() + (array.fill == Fill::Sine ? 0 : 1));
}

std::int64_t lines_of(const RowProblem& problem) {
  if (problem.is_attention()) return problem.batch * problem.m * problem.heads();
  return problem.job == Job::ColumnSum ? problem.n : problem.m;
}

std::vector<Part> wanted_line(const RowProblem& problem, const Inputs& inputs, std::int64_t line) {
  const std::int64_t n = problem.n;
  if (problem.is_attention()) return {{3, line * problem.dim, attention_of(problem, inputs, line)}};
  const std::vector<double> x = line_of_x(problem, inputs, line);
  switch (problem.job) {
    case Job::Softmax:
      return {{1, line * n, softmax_of(x)}};
    case Job::LayerNorm:
      return {{3, line * n, layer_norm_of(x, inputs[1], inputs[2])}};
    case Job::RmsNorm:
      return {{2, line * n, rms_norm_of(x, inputs[1])}};
    case Job::BiasGelu:
      return {{2, line * n, bias_gelu_of(x, inputs[1])}};
    case Job::CrossEntropy:
      return {{2, line, {cross_entropy_of(x, inputs[1].at(line))}}};
    case Job::RowSum:
    case Job::ColumnSum:
      return {{1, line, {sum_of(x)}}};
    case Job::Cumsum:
      return {{1, line * n, cumsum_of(x)}};
    case Job::QuantizeFp8: {
      auto [q, scale] = quantized(x);
      return {{1, line * n, std::move(q)}, {2, line, {scale}}};
    }
    case Job::Rope:
      return {{3, line * n, turned(problem, inputs, line, x)}};
    case Job::Attention:
      break;
  }
  return {};
}

std::vector<std::int64_t> lines_to_check(const RowProblem& problem) {
  constexpr std::int64_t kQuick = std::int64_t{1} << 22;  // multiplications
  constexpr std::int64_t kFew = 16, kMany = 1024;
  const std::int64_t lines = lines_of(problem);
  const std::int64_t count = std::clamp(kQuick / cost_of(problem), kFew, kMany);
  std::vector<std::int64_t> out;
  if (lines <= count) {
    for (std::int64_t line = 0; line < lines; ++line) out.push_back(line);
    return out;
  }
  out = {0, lines - 1};
  driver::RandomStream random(4);
  while (std::ssize(out) < count)
    out.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(lines))));
  return out;
}

double allowed(num::DType type, const Wanted& wanted) {
  return unit_of(type) * std::abs(wanted.value) + wanted.slack;
}

Result<std::size_t> check_result(const RowProblem& problem, const Inputs& inputs,
                                 const Read& read) {
  const std::vector<Array> arrays = arrays_of(problem);
  std::size_t compared = 0;
  std::vector<std::byte> memory;
  for (const std::int64_t line : lines_to_check(problem)) {
    for (const Part& part : wanted_line(problem, inputs, line)) {
      const Array& array = arrays[part.array];
      memory.resize(bench::bytes_of(array.dtype, part.wanted.size()));
      WW_TRY_VOID(read(memory, part.array, part.first));
      WW_TRY_VOID(compare_part(array, part, memory));
      compared += part.wanted.size();
    }
  }
  return compared;
}

}  // namespace ww::bench::rows
