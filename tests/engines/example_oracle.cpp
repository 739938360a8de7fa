// SPDX-License-Identifier: Apache-2.0
// The loops over whole inputs, apart from the tests: those are not optimised.
#include "engines/example_oracle.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "eval/value/arithmetic.h"

namespace ww::test {
namespace {

const Arg& find(const Ran& ran, std::string_view name) {
  for (const Arg& arg : ran.args)
    if (arg.name == name) return arg;
  throw std::invalid_argument(std::string(name));
}

}  // namespace

Numbers::Numbers(const Ran& ran, std::string_view name) : arg_(find(ran, name)) {
  for (std::size_t i = 0; i * arg_.element_bytes < arg_.bytes.size(); ++i)
    values_.push_back(number_at(arg_, arg_.bytes, i));
}

double Numbers::operator()(std::size_t i, std::size_t j, std::size_t k, std::size_t l) const {
  const std::array<std::size_t, 4> at = {i, j, k, l};
  std::size_t place = 0;
  for (std::size_t d = 0; d < arg_.shape.size(); ++d) place = place * extent(d) + at[d];
  return values_.at(place);
}

std::size_t Numbers::extent(std::size_t d) const {
  return static_cast<std::size_t>(arg_.shape.at(d));
}

std::string wrong_element(const Ran& ran, const Wanted& wanted, double tolerance) {
  const Arg& out = ran.args.back();
  const Bytes& seen = ran.expected.arrays.back();
  for (std::size_t i = 0; i * out.element_bytes < seen.size(); ++i) {
    const std::optional<double> exact = wanted(i);
    if (ran.expected.written.back().at(i) != exact.has_value())
      return fmt::format("element {} is {}written", i, exact ? "not " : "");
    if (!exact) continue;
    const double is = number_at(out, seen, i);
    const double rounded = eval::as_real(out.dtype, eval::from_real(out.dtype, *exact));
    if (!(std::fabs(is - rounded) <= tolerance * std::fmax(1, std::fabs(rounded))))
      return fmt::format("element {} is {}, expected {}", i, is, rounded);
  }
  return "";
}

std::vector<double> weights(const Numbers& q, const Numbers& k, std::size_t row, std::size_t head,
                            std::size_t begin, std::size_t end) {
  std::vector<double> out;
  double most = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::size_t key = begin; key < end; ++key) {
    double score = 0;
    for (std::size_t d = 0; d < q.extent(2); ++d) score += q(row, head, d) * k(key, head, d);
    out.push_back(score / std::sqrt(static_cast<double>(q.extent(2))));
    most = std::fmax(most, out.back());
  }
  for (double& each : out) total += each = std::exp(each - most);
  for (double& each : out) each /= total;
  return out;
}

}  // namespace ww::test
