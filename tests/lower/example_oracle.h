// SPDX-License-Identifier: Apache-2.0
// Whole examples against loops over their inputs in doubles: what the last array must hold.
#pragma once

#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_io.h"
#include "eval/value/arithmetic.h"
#include "lower/family.h"

namespace ww::test {

using Values = std::vector<std::int64_t>;

inline Program program_of(const std::string& file, const std::string& kernel,
                          std::map<std::string, Values> arrays = {}) {
  const std::filesystem::path path = std::filesystem::path(WW_SOURCE_DIR) / "examples" / file;
  return {.source = read_file(path, std::size_t{1} << 20U).value(),
          .arrays = std::move(arrays),
          .kernel = kernel,
          .inputs = Inputs::Whole};
}

/// An input as numbers, in C order.
class Numbers {
 public:
  Numbers(const Ran& ran, std::string_view name) : arg_(find(ran, name)) {
    for (std::size_t i = 0; i * arg_.element_bytes < arg_.bytes.size(); ++i)
      values_.push_back(number_at(arg_, arg_.bytes, i));
  }
  [[nodiscard]] double operator()(std::size_t i, std::size_t j = 0, std::size_t k = 0,
                                  std::size_t l = 0) const {
    const std::array<std::size_t, 4> at = {i, j, k, l};
    std::size_t place = 0;
    for (std::size_t d = 0; d < arg_.shape.size(); ++d) place = place * extent(d) + at[d];
    return values_.at(place);
  }
  [[nodiscard]] std::size_t whole(std::size_t i, std::size_t j = 0) const {
    return static_cast<std::size_t>((*this)(i, j));
  }
  [[nodiscard]] std::size_t extent(std::size_t d) const {
    return static_cast<std::size_t>(arg_.shape.at(d));
  }

 private:
  static const Arg& find(const Ran& ran, std::string_view name) {
    for (const Arg& arg : ran.args)
      if (arg.name == name) return arg;
    throw std::invalid_argument(std::string(name));
  }
  const Arg& arg_;
  std::vector<double> values_;
};

/// The element of the result at a place, or nothing where none may be written.
using Wanted = std::function<std::optional<double>(std::size_t i)>;

/// The first element of the last array that is not as wanted, or nothing.
inline std::string wrong_element(const Ran& ran, const Wanted& wanted, double tolerance = 0) {
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

/// The weights of a query, in doubles, from the first key of its sequence on.
inline std::vector<double> weights(const Numbers& q, const Numbers& k, std::size_t row,
                                   std::size_t head, std::size_t begin, std::size_t end) {
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

/// The program with a mistake in it.
inline Program edited(Program program, const std::string& what, const std::string& with) {
  const std::size_t at = program.source.find(what);
  EXPECT_NE(at, std::string::npos) << "`" << what << "` is not there";
  if (at != std::string::npos) program.source.replace(at, what.size(), with);
  return program;
}

}  // namespace ww::test
