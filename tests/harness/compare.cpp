// SPDX-License-Identifier: Apache-2.0
// Results of two engines, compared.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "eval/value/arithmetic.h"
#include "harness/engines.h"

namespace ww::test {

double number_at(const Arg& arg, const Bytes& bytes, std::size_t unit) {
  eval::Word bits = 0;
  std::memcpy(&bits, bytes.data() + unit * arg.element_bytes, arg.element_bytes);
  return eval::as_real(arg.dtype, bits);
}

namespace {

std::string place_of(const Arg& arg, std::size_t unit) {
  std::string out;
  auto rest = static_cast<std::int64_t>(unit * arg.packed);
  for (std::size_t d = arg.shape.size(); d-- > 0; rest /= arg.shape[d])
    out = fmt::format("{}{}{}", rest % arg.shape[d], out.empty() ? "" : ", ", out);
  return fmt::format("{}[{}]", arg.name, out);
}

bool is_near(double expected, double seen, double tolerance) {
  if (std::isnan(expected) || std::isnan(seen)) return std::isnan(expected) && std::isnan(seen);
  return expected == seen ||
         std::abs(expected - seen) <= tolerance * std::max(1., std::abs(expected));
}

std::optional<std::string> difference_of(const Arg& arg, const Bytes& expected, const Bytes& seen,
                                         const std::vector<bool>& expected_written,
                                         const std::vector<bool>& seen_written, double tolerance) {
  const std::size_t size = arg.element_bytes;
  for (std::size_t i = 0; i * size < expected.size(); ++i) {
    if (arg.is_output && expected_written[i] != seen_written[i])
      return fmt::format("`{}` is {}written, expected that it is{}", place_of(arg, i),
                         seen_written[i] ? "" : "not ", expected_written[i] ? "" : " not");
    if (arg.is_output && !expected_written[i]) continue;
    const auto at = static_cast<std::ptrdiff_t>(i * size);
    const auto end = at + static_cast<std::ptrdiff_t>(size);
    if (std::equal(expected.begin() + at, expected.begin() + end, seen.begin() + at)) continue;
    if (arg.has_any_nan && std::isnan(number_at(arg, expected, i)) &&
        std::isnan(number_at(arg, seen, i)))
      continue;
    if (arg.has_any_zero && number_at(arg, expected, i) == 0 && number_at(arg, seen, i) == 0)
      continue;
    if (tolerance == 0)
      return fmt::format("`{}` has other bits than in the tile program", place_of(arg, i));
    const double wanted = number_at(arg, expected, i), got = number_at(arg, seen, i);
    if (!is_near(wanted, got, tolerance))
      return fmt::format("`{}` is {}, and {} in the tile program, which is more than {} apart",
                         place_of(arg, i), got, wanted, tolerance);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> distance_of(const std::vector<Arg>& args, const Results& expected,
                                       const Results& seen, double tolerance) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!args[i].is_array) continue;
    if (auto found = difference_of(args[i], expected.arrays[i], seen.arrays[i], expected.written[i],
                                   seen.written[i], tolerance))
      return found;
  }
  return std::nullopt;
}

std::vector<Arg> with_any_nan(std::vector<Arg> args) {
  for (Arg& each : args) each.has_any_nan = each.has_any_nan || num::is_float(each.dtype);
  return args;
}

std::optional<std::string> difference_of(const std::vector<Arg>& args, const Results& expected,
                                         const Results& seen) {
  return distance_of(args, expected, seen, 0);
}

}  // namespace ww::test
