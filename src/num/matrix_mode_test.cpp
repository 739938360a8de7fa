// SPDX-License-Identifier: Apache-2.0
#include "num/matrix_mode.h"

#include <gtest/gtest.h>

#include <string_view>

#include "base/check.h"

namespace ww::num::matrix_mode_test {
namespace {

TEST(MatrixMode, FollowsTheGenerations) {
  struct Row {
    int sm;
    std::string_view name;
  };
  for (const Row row : {Row{75, "Turing"}, Row{80, "Ampere"}, Row{87, "Ampere"}, Row{89, "Ada"},
                        Row{90, "Hopper"}, Row{100, "Blackwell"}, Row{103, "Blackwell"},
                        Row{120, "RTX Blackwell"}, Row{121, "RTX Blackwell"}}) {
    EXPECT_EQ(mode_of(row.sm).name, row.name);
  }
  EXPECT_THROW(mode_of(70), BugError);
  for (const MatrixMode& mode : all_matrix_modes())
    EXPECT_EQ(mode.is_measured, mode.name == "Hopper");
}

}  // namespace
}  // namespace ww::num::matrix_mode_test
