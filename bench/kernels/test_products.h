// SPDX-License-Identifier: Apache-2.0
// Products made on the host, for tests.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "num/float_format.h"
#include "operands.h"

namespace ww::bench {

inline void put(num::DType type, std::byte* memory, std::size_t at, double value) {
  const bool is_float = num::kind_of(type) == num::DTypeKind::Float;
  const std::uint64_t code = is_float
                                 ? num::encode(type, value)
                                 : static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  const std::size_t bytes = bytes_of(type, 1);
  std::memcpy(memory + at * bytes, &code, bytes);
}

/// D as a right kernel makes it.
inline std::vector<std::byte> right_product(const Problem& problem, const Operands& operands) {
  std::vector<std::byte> out(bytes_of(problem.out, problem.d_elements()));
  std::size_t at = 0;
  for (std::int64_t batch = 0; batch < problem.batch; ++batch)
    for (std::int64_t row = 0; row < problem.m; ++row)
      for (std::int64_t col = 0; col < problem.n; ++col)
        put(problem.out, out.data(), at++, exact_element(problem, operands, {batch, row, col}));
  return out;
}

}  // namespace ww::bench
