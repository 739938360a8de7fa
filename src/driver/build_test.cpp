// SPDX-License-Identifier: Apache-2.0
// Errors of a build as data; every phase of it ends when it is cancelled.
#include "driver/build.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/cancel.h"

namespace ww::driver {
namespace {

constexpr std::string_view kCopy = R"(
from tvm.tirx.layout import S, TileLayout, laneid

@T.prim_func
def copy(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (8, 8), "float16")
    B = T.match_buffer(B_ptr, (8, 8), "float16")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    R = T.alloc_local((8, 8), "float16", layout=TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]))
    Tx.warp.copy(R[:, :], A[:, :])
    Tx.warp.copy(B[:, :], R[:, :])
)";

Build built_until(Phase phase) {
  return build_kernel(SourceText("copy.py", std::string(kCopy)), {.until = phase});
}

TEST(BuildErrors, AreDataToo) {
  std::string text(kCopy);
  text.replace(text.find("alloc_local"), 11, "alloc_locl ");
  const Build build = build_kernel(SourceText("copy.py", text), {.kernel = "copy"});
  ASSERT_EQ(build.diags.size(), 1U);
  EXPECT_EQ(build.diags[0].kind, DiagKind::UnknownName);
  EXPECT_EQ(build.diags[0].span.begin, text.find("alloc_locl"));
  EXPECT_EQ(build.errors, build.compiled->render(build.diags[0]));
}

TEST(BuildErrors, OfTheKernelExpressionFollowTheSource) {
  const std::string text(kCopy);
  const Build build = build_kernel(SourceText("copy.py", text), {.kernel = "coppy"});
  ASSERT_EQ(build.diags.size(), 1U);
  EXPECT_EQ(build.diags[0].span.begin, text.size() + 1);
  // An unknown target is no error of either.
  EXPECT_TRUE(build_kernel(SourceText("copy.py", text), {.target = "sm_1"}).diags.empty());
}

TEST(BuildErrors, OfPtxLeaveTheBuildAlone) {
  const Build build = built_until(Phase::Lowered);
  EXPECT_FALSE(ptx_problem(build));
  EXPECT_EQ(build.phase, Phase::Lowered);
  EXPECT_TRUE(build.ptx.empty());
}

TEST(CancelledBuild, EndsInEveryPhase) {
  const std::atomic<bool> stop = true;
  for (const Phase before : {Phase::Tile, Phase::Lowered}) {
    Build build = built_until(before);
    ASSERT_TRUE(build.good()) << build.errors;
    const CancelScope scope(stop);
    EXPECT_THROW(advance(build, Phase::Ptx), Cancelled);
  }
  const CancelScope scope(stop);
  EXPECT_THROW(built_until(Phase::Tile), Cancelled);
}

TEST(CancelledBuild, LeavesTheNextOneAlone) {
  std::atomic<bool> stop = true;
  const CancelScope scope(stop);
  EXPECT_THROW(built_until(Phase::Ptx), Cancelled);
  stop = false;
  EXPECT_TRUE(built_until(Phase::Ptx).good());
}

}  // namespace
}  // namespace ww::driver
