// SPDX-License-Identifier: Apache-2.0
// Results of row kernels made on the host, and small problems, for tests.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "num/float_format.h"
#include "row_problems.h"
#include "row_reference.h"

namespace ww::bench::rows {

/// A row of the table for each job, with a few rows of X, or keys.
inline std::vector<BenchRow> small_rows() {
  std::vector<BenchRow> out;
  for (const BenchRow& row : bench_rows("/(1024|4096|8192_causal)$")) {
    if (row.problem.dtype != num::DType::Bfloat16) continue;
    if (!out.empty() && out.back().problem.job == row.problem.job) continue;
    BenchRow& small = out.emplace_back(row);
    small.problem.m = small.problem.job == Job::ColumnSum ? 64 : 2;
    if (small.problem.is_attention()) {
      small.problem.m = 96;
      small.problem.n = 2 * small.problem.dim;
    }
  }
  return out;
}

inline void put_element(const Array& array, std::byte* memory, std::int64_t at, double value) {
  const std::uint64_t code = num::encode(array.dtype, value);
  const std::size_t bytes = static_cast<std::size_t>(num::bits_of(array.dtype)) / 8;
  std::memcpy(memory + static_cast<std::size_t>(at) * bytes, &code, bytes);
}

/// The arrays as a right kernel leaves them; empty ones for those it only reads.
inline std::vector<std::vector<std::byte>> right_result(const RowProblem& problem,
                                                        const Inputs& inputs) {
  const std::vector<Array> arrays = arrays_of(problem);
  std::vector<std::vector<std::byte>> out(arrays.size());
  for (std::int64_t line = 0; line < lines_of(problem); ++line)
    for (const Part& part : wanted_line(problem, inputs, line)) {
      out[part.array].resize(arrays[part.array].bytes());
      for (std::size_t i = 0; i < part.wanted.size(); ++i)
        put_element(arrays[part.array], out[part.array].data(),
                    part.first + static_cast<std::int64_t>(i), part.wanted[i].value);
    }
  return out;
}

}  // namespace ww::bench::rows
