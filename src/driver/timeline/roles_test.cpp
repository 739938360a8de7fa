// SPDX-License-Identifier: Apache-2.0
#include "driver/timeline/names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace ww::driver::timeline_roles_test {
namespace {

// A kernel of six warps with a buffer in global and one in shared memory, and `body` in it, which is
// indented by four; the line of its first statement is 15.
std::string roles_of(const std::string& body) {
  const std::string text = R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "float32")
    T.device_entry()
    T.cta_id([2])
    warp = T.warp_id([6])
    lane = T.lane_id([32])
    tile = T.alloc_shared((64,), "float32")
    bars = T.alloc_shared((2,), "uint64")
    n: T.let = A[0]
)" + body;
  const Build build =
      build_kernel(SourceText("dir/k.py", text), {.target = "sm_90a", .until = Phase::Tile});
  EXPECT_EQ(build.errors, "");
  if (!build.good()) return "";
  std::string out;
  for (const WarpRole& role : warp_roles(build)) {
    std::string warps;
    for (const std::uint32_t warp : role.warps) warps += fmt::format(" {}", warp);
    out += fmt::format("{}{}: {} at {}, warps{}", out.empty() ? "" : "; ", role.name,
                       role.condition, role.source, warps);
  }
  return out;
}

const char* const kFill = "        for i in range(4):\n            tile[lane] = A[lane + i]\n";
const char* const kUse = "        for i in range(4):\n            A[lane + i] = tile[lane]\n";

TEST(Roles, BranchesForWarpsAreNamedByWhatTheyDo) {
  EXPECT_EQ(roles_of(std::string("    if warp == 4:\n") + kFill + "    else:\n" + kUse),
            "consumer: not (warp == 4) at k.py:15, warps 0 1 2 3 5; "
            "producer: warp == 4 at k.py:15, warps 4");
}

TEST(Roles, RolesOfTheLanguageAndTheirNames) {
  EXPECT_EQ(roles_of(std::string("    loader = T.WarpRole(warp, 1)\n    with loader:\n") + kFill +
                     "    with T.WarpRole(warp, 0):\n" + kUse),
            "consumer: warp == 0 at k.py:19, warps 0; loader: warp == 1 at k.py:16, warps 1");
}

TEST(Roles, WhatOnlyComputesHasNoNameButItsCondition) {
  EXPECT_EQ(roles_of("    if warp < 2:\n        for i in range(4):\n            A[lane] = 1.0\n"),
            ": warp < 2 at k.py:15, warps 0 1");
}

// Parts of warps, all warps, branches inside of loops and branches in which little happens.
TEST(Roles, WhatIsNoRole) {
  EXPECT_EQ(roles_of(std::string("    if lane < 16:\n") + kFill), "");
  EXPECT_EQ(roles_of(std::string("    if warp < 6:\n") + kFill), "");
  EXPECT_EQ(roles_of("    if warp == 0:\n        A[lane] = 1.0\n"), "");
  EXPECT_EQ(
      roles_of("    for k in range(3):\n        if warp == 0:\n            for i in range(4):\n"
               "                A[lane] = 1.0\n"),
      "");
  EXPECT_EQ(roles_of(std::string("    if n > 1.0:\n") + kFill), "");
}

// One branch inside of another narrows nothing down; several are roles of their own.
TEST(Roles, ABranchThatSetsWarpsApartGivesThese) {
  const std::string fill =
      "            for i in range(4):\n                tile[lane] = A[lane + i]\n";
  const std::string use =
      "            for i in range(4):\n                A[lane + i] = tile[lane]\n";
  EXPECT_EQ(roles_of("    if warp < 4:\n        if warp == 0:\n" + fill),
            "producer: warp < 4 at k.py:15, warps 0 1 2 3");
  EXPECT_EQ(roles_of("    if warp < 4:\n        if warp == 0:\n" + fill +
                     "        if warp == 1:\n" + use),
            "producer: warp == 0 at k.py:16, warps 0; consumer: warp == 1 at k.py:19, warps 1");
}

// A warp has the narrowest role that fits.
TEST(Roles, NoWarpHasTwo) {
  EXPECT_EQ(roles_of(std::string("    if warp < 3:\n") + kUse + "    if warp == 1:\n" + kFill),
            "consumer: warp < 3 at k.py:15, warps 0 2; producer: warp == 1 at k.py:18, warps 1");
}

}  // namespace
}  // namespace ww::driver::timeline_roles_test
