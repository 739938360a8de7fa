// SPDX-License-Identifier: Apache-2.0
#include "operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <tuple>

#include "driver/args/array_spec.h"
#include "num/float_format.h"

namespace ww::bench {
namespace {

constexpr std::size_t kBlock = 190121;  // a prime far from powers of two and their multiples
constexpr std::size_t kSamples = 4096;
constexpr double kQuickly = 0x1p28;  // multiplications

// As little-endian hosts have them.
std::uint64_t code_at(num::DType type, std::span<const std::byte> memory, std::size_t element) {
  const std::size_t bytes = bytes_of(type, 1);
  std::uint64_t code = 0;
  std::memcpy(&code, memory.data() + element * bytes, bytes);
  return code;
}

double value_of(num::DType type, std::uint64_t code) {
  if (is_float(type)) return num::decode(type, code);
  const int unused = 64 - num::bits_of(type);
  return static_cast<double>(static_cast<std::int64_t>(code << unused) >> unused);
}

std::uint64_t random_code(num::DType type, driver::RandomStream& random) {
  if (is_float(type)) return num::encode(type, random.normal());
  return random.below(std::uint64_t{1} << static_cast<unsigned>(num::bits_of(type)));
}

Element element_at(const Problem& problem, std::size_t place) {
  const auto whole = static_cast<std::int64_t>(place);
  const std::int64_t row = whole / problem.n;
  return {row / problem.m, row % problem.m, whole % problem.n};
}

// Every `stride`-th element of a matrix from `first` on: a row or a column, whatever is stored.
class Walk {
 public:
  Walk(const Operand& operand, std::int64_t first, std::int64_t stride)
      : block_(operand.block()),
        at_(static_cast<std::size_t>(first) % block_.size()),
        step_(static_cast<std::size_t>(stride) % block_.size()) {}
  double next() {
    const double out = block_[at_];
    at_ += step_;
    if (at_ >= block_.size()) at_ -= block_.size();
    return out;
  }

 private:
  std::span<const double> block_;
  std::size_t at_, step_;
};

Result<void> compare(const Problem& problem, std::size_t place, double is, double want,
                     double allowed) {
  if (std::abs(is - want) <= allowed) return {};  // a NaN is not
  const Element at = element_at(problem, place);
  return fail(DiagKind::DeviceError,
              "wrong result: element ({}, {}){} is {} in place of {}, tolerance {:.3g}", at.row,
              at.col, problem.batch == 1 ? "" : fmt::format(" of product {}", at.batch),
              std::isnan(is) ? "not a number" : fmt::format("{}", is), want, allowed);
}

std::vector<std::size_t> places_to_check(const Problem& problem) {
  const std::size_t all = problem.d_elements();
  std::vector<std::size_t> out;
  if (problem.operations() / 2 <= kQuickly || all <= kSamples) {
    for (std::size_t place = 0; place < all; ++place) out.push_back(place);
    return out;
  }
  const auto row = static_cast<std::size_t>(problem.n);
  out = {0, row - 1, all - row, all - 1};
  driver::RandomStream random(4);
  for (std::size_t i = 0; i < kSamples; ++i) out.push_back(random.below(all));
  return out;
}

}  // namespace

double value_at(num::DType type, std::span<const std::byte> memory, std::size_t element) {
  return value_of(type, code_at(type, memory, element));
}

std::string size_text(const Problem& problem) {
  return fmt::format("{}{}x{}x{}{}{}", problem.batch == 1 ? "" : fmt::format("{}x", problem.batch),
                     problem.m, problem.n, problem.k, problem.trans_a ? " A'" : "",
                     problem.trans_b ? " B'" : "");
}

Operand::Operand(num::DType type, std::uint64_t seed) : bytes_(bytes_of(type, kBlock)) {
  driver::RandomStream random(seed);
  values_.reserve(kBlock);
  const std::size_t width = bytes_of(type, 1);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const std::uint64_t code = random_code(type, random);
    values_.push_back(value_of(type, code));
    std::memcpy(bytes_.data() + i * width, &code, width);
  }
}

double exact_element(const Problem& problem, const Operands& operands, const Element& at) {
  const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
  const std::int64_t a_first = at.batch * m * k + (problem.trans_a ? at.row : at.row * k);
  const std::int64_t b_first = at.batch * k * n + (problem.trans_b ? at.col * k : at.col);
  Walk a(operands.a, a_first, problem.trans_a ? m : 1);
  Walk b(operands.b, b_first, problem.trans_b ? 1 : n);
  double sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum += a.next() * b.next();
  if (problem.epilogue == Epilogue::None) return sum;
  const double with_bias = sum + operands.bias.at(static_cast<std::size_t>(at.col));
  if (problem.epilogue == Epilogue::BiasRelu) return std::max(with_bias, 0.0);
  return 0.5 * with_bias * (1 + std::erf(with_bias / std::numbers::sqrt2));
}

double tolerance(const Problem& problem, double exact) {
  if (!is_float(problem.out)) return 0;
  const int mantissa = num::format_of(problem.out).mantissa_bits;
  const double of_sum = is_8_bit_float(problem.dtype) && !problem.has_exact_sums ? 0x1p-4 : 0x1p-11;
  return std::ldexp(std::abs(exact), -mantissa) +
         of_sum * std::sqrt(static_cast<double>(problem.k));
}

Checked check_product(const Problem& problem, const Operands& operands,
                      std::span<const std::byte> d) {
  const std::vector<std::size_t> places = places_to_check(problem);
  for (const std::size_t place : places) {
    const double want = exact_element(problem, operands, element_at(problem, place));
    const double is = value_at(problem.out, d, place);
    WW_TRY_VOID(compare(problem, place, is, want, tolerance(problem, want)));
  }
  return places.size();
}

Checked check_same(const Problem& problem, std::span<const std::byte> d,
                   std::span<const std::byte> other, std::string_view name) {
  const num::DType type = problem.out;
  for (std::size_t place = 0; place < problem.d_elements(); ++place) {
    const std::uint64_t code = code_at(type, d, place);
    const std::uint64_t other_code = code_at(type, other, place);
    if (code == other_code) continue;  // as most are; a NaN is found by check_product
    const double want = value_of(type, other_code);
    // Each of the two may be wrong by the tolerance.
    auto same = compare(problem, place, value_of(type, code), want, 2 * tolerance(problem, want));
    if (!same)
      return fail(diag(DiagKind::DeviceError, "{}", same.error().text)
                      .with_note(fmt::format("that is what {} has there", name)));
  }
  return problem.d_elements();
}

}  // namespace ww::bench
