// SPDX-License-Identifier: Apache-2.0
#include "sim/ops/register_matrix.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace ww::sim::register_matrix_test {
namespace {

// Every element is held, and equally often.
void check_matrix(const RegisterMatrix& matrix) {
  std::map<std::pair<unsigned, unsigned>, int> held;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned reg = 0; reg < matrix.regs; ++reg) {
      for (unsigned part = 0; part < matrix.parts; ++part) {
        const Cell cell = matrix.cell(lane, reg, part);
        ASSERT_LT(cell.line, matrix.lines);
        ASSERT_LT(cell.at, matrix.length);
        ++held[{cell.line, cell.at}];
      }
    }
  }
  EXPECT_EQ(held.size(), std::size_t{matrix.lines} * matrix.length);
  for (const auto& [cell, times] : held) EXPECT_EQ(times, held.begin()->second);
}

TEST(RegisterMatrix, HoldsEveryElementEquallyOften) {
  struct Case {
    unsigned lines, length, bits, block_lines;
    bool is_sum = false;
  };
  const Case cases[] = {
      {8, 4, 64, 8},          {16, 16, 64, 16},        {8, 8, 32, 8},
      {16, 8, 32, 16},        {16, 8, 32, 8},          {16, 16, 16, 16},
      {16, 16, 16, 8},        {32, 16, 16, 16},        {8, 16, 16, 8},
      {16, 32, 8, 16},        {32, 16, 8, 16},         {8, 64, 4, 8},
      {16, 64, 4, 16},        {8, 8, 64, 8, true},     {16, 8, 64, 16, true},
      {8, 8, 32, 8, true},    {16, 8, 32, 16, true},   {16, 8, 16, 16, true},
      {16, 16, 32, 16, true}, {16, 16, 16, 16, true},  {32, 8, 32, 16, true},
      {32, 8, 16, 16, true},  {16, 256, 32, 16, true}, {16, 256, 16, 16, true},
  };
  for (const Case& it : cases) {
    SCOPED_TRACE(std::to_string(it.lines) + "x" + std::to_string(it.length) + " of " +
                 std::to_string(it.bits) + " bits in blocks of " + std::to_string(it.block_lines));
    RegisterMatrix matrix = in_registers(it.lines, it.length, it.bits, it.block_lines, it.is_sum);
    check_matrix(matrix);
    matrix.regs *= 2;  // as halves of wmma
    if (!it.is_sum) check_matrix(matrix);
  }
}

}  // namespace
}  // namespace ww::sim::register_matrix_test
