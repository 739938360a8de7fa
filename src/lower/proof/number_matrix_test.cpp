// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/number_matrix.h"

#include <gtest/gtest.h>

namespace ww::lower::number_matrix_test {
namespace {

ThreadNumbers numbers(std::size_t count, Number salt) {
  ThreadNumbers out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(mixed(salt, i));
  return out;
}

// Eight columns at a time, then the rest.
TEST(NumberMatrix, AddsProducts) {
  constexpr std::size_t kRows = 3, kDepth = 5;
  for (const std::size_t cols : {1U, 7U, 8U, 16U, 19U}) {
    const ThreadNumbers a = numbers(kRows * kDepth, 1), b = numbers(kDepth * cols, 2);
    const ThreadNumbers before = numbers(kRows * cols, 3);
    ThreadNumbers d = before;
    add_product(a, b, kDepth, cols, d);
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t j = 0; j < cols; ++j) {
        Number sum = before[i * cols + j];
        for (std::size_t k = 0; k < kDepth; ++k) sum += a[i * kDepth + k] * b[k * cols + j];
        EXPECT_EQ(d[i * cols + j], sum) << i << ", " << j << " of " << cols;
      }
  }
}

TEST(NumberMatrix, Turns) {
  EXPECT_EQ(turned({1, 2, 3, 4, 5, 6}, 3), (ThreadNumbers{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(turned({1, 2, 3}, 1), (ThreadNumbers{1, 2, 3}));
}

}  // namespace
}  // namespace ww::lower::number_matrix_test
