// SPDX-License-Identifier: Apache-2.0
#include "harness/edges.h"

#include <cmath>
#include <limits>
#include <map>

#include "eval/value/arithmetic.h"

namespace ww::test {
namespace {

using num::DType;
using num::DTypeKind;

std::vector<std::uint64_t> integer_edges(DType type) {
  const int bits = num::bits_of(type);
  const std::uint64_t mask = eval::low_mask(bits);
  const std::uint64_t top = std::uint64_t{1} << (bits - 1);
  std::vector<std::uint64_t> out = {0, 1, 2, 3, mask, top, top - 1, top + 1, mask - 1};
  for (int k = 2; k < bits; k += 3) {
    const std::uint64_t power = std::uint64_t{1} << k;
    out.insert(out.end(), {power, power - 1, (0 - power) & mask});
  }
  return out;
}

std::vector<std::uint64_t> float_edges(DType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<std::uint64_t> out;
  for (const double value : {0., 1., 2., -1., 0.5, -1.5, 2.5, kInfinity, -0., -kInfinity})
    out.push_back(eval::from_real(type, value));
  out.push_back(eval::from_real(type, std::numeric_limits<double>::quiet_NaN()));
  // Neighbours of 0, of 1 and of infinity, the least normal number and the greatest denormal.
  const std::uint64_t one = out[1], infinity = out[7];
  const std::uint64_t least_normal = infinity & (0 - infinity);
  out.insert(out.end(), {1, least_normal, least_normal - 1, one + 1, one - 1, infinity - 1});
  // Where integers end, as near as the type comes to it.
  for (const int k : {7, 8, 15, 16, 23, 24, 31, 32, 53, 63, 64})
    for (const double sign : {1., -1.}) {
      const std::uint64_t power = eval::from_real(type, std::ldexp(sign, k));
      out.insert(out.end(), {power, power - 1});
    }
  return out;
}

std::vector<std::uint64_t> make_edges(DType type) {
  if (type == DType::Bool) return {0, 1};
  return num::is_float(type) ? float_edges(type) : integer_edges(type);
}

}  // namespace

const std::vector<std::uint64_t>& edges_of(DType type) {
  static const std::map<DType, std::vector<std::uint64_t>> kEdges = [] {
    std::map<DType, std::vector<std::uint64_t>> out;
    for (const DType each : num::all_dtypes()) out[each] = make_edges(each);
    return out;
  }();
  return kEdges.at(type);
}

std::uint64_t edgy_bits(DType type, std::mt19937_64& engine) {
  const std::uint64_t drawn = engine();
  if (type == DType::Bool) return drawn & 1U;
  const std::vector<std::uint64_t>& edges = edges_of(type);
  switch (drawn >> 62U) {
    case 0:
      return edges[(drawn >> 8U) % edges.size()];
    case 1: {
      // Of floats also with a fraction.
      const auto small = static_cast<std::int64_t>(drawn % 64U) - 32;
      return num::is_float(type) ? eval::from_real(type, static_cast<double>(small) / 8)
                                 : eval::from_int(type, small);
    }
    default:
      return drawn & eval::low_mask(num::bits_of(type));
  }
}

}  // namespace ww::test
