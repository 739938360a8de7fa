// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/occupancy.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ir/test_programs.h"

namespace ww::ir::launch_occupancy_test {
namespace {

using Attributes = std::vector<std::pair<std::string, Setting>>;
using Number = std::int64_t;
constexpr const char* kMinCtas = "tirx.launch_bounds_min_blocks_per_sm";
constexpr const char* kMaxRegisters = "tirx.max_registers_per_thread";

Result<OccupancyWish> wish_of(Attributes of_function, const Attributes& in_body = {}) {
  test::Builder b;
  b.f.attrs = std::move(of_function);
  for (const auto& [key, setting] : in_body)
    b.stmt({.kind = StmtKind::Attr, .span = Span::at(7, 9), .attr = key, .setting = setting});
  return occupancy_wish(b.done(), {.grid = {}, .block = {256, 1, 1}});
}

std::string refusal(Attributes of_function, const Attributes& in_body = {}) {
  const auto wish = wish_of(std::move(of_function), in_body);
  return wish ? "none" : wish.error().text;
}

TEST(Occupancy, IsReadFromTheFunctionAndItsBody) {
  EXPECT_EQ(wish_of({})->min_ctas, 0);
  EXPECT_EQ(wish_of({{kMinCtas, Number{4}}})->min_ctas, 4);
  EXPECT_EQ(wish_of({}, {{kMinCtas, Number{8}}})->min_ctas, 8);
  EXPECT_EQ(wish_of({}, {{kMaxRegisters, Number{64}}})->max_registers, 64);
  EXPECT_EQ(wish_of({{kMinCtas, Number{4}}}, {{kMinCtas, Number{4}}})->min_ctas, 4);
}

TEST(Occupancy, RefusesWhatNoSmCanHold) {
  EXPECT_EQ(refusal({}, {{kMinCtas, Number{9}}}),
            "`tirx.launch_bounds_min_blocks_per_sm` is 9, expected 1 to 8");
  EXPECT_EQ(refusal({{kMaxRegisters, Number{256}}}),
            "`tirx.max_registers_per_thread` is 256, expected 16 to 255");
  EXPECT_EQ(refusal({{kMinCtas, std::string("two")}}),
            "`tirx.launch_bounds_min_blocks_per_sm` is not a constant integer");
  EXPECT_EQ(refusal({{kMinCtas, Number{2}}}, {{kMinCtas, Number{4}}}),
            "`tirx.launch_bounds_min_blocks_per_sm` is 4 here and 2 elsewhere");
  EXPECT_EQ(refusal({{kMinCtas, Number{2}}}, {{kMaxRegisters, Number{64}}}),
            "both `tirx.launch_bounds_min_blocks_per_sm` and `tirx.max_registers_per_thread`: a "
            "kernel takes one of them");
}

}  // namespace
}  // namespace ww::ir::launch_occupancy_test
