// SPDX-License-Identifier: Apache-2.0
// Threads that write what is there already: no race with the write that put it there, whatever the
// instruction, unless the run asks for it.
#include <gtest/gtest.h>

#include <string>

#include "sim/test_run.h"

namespace ww::sim::rewrites_test {
namespace {

struct Store {
  std::string name;
  std::string text;      // of a whole warp, of %r1 and %f1 to 512 bytes at %r2 (%r3: of the lane)
  bool is_value = true;  // whether %r1 and %f1 are what it writes
};

const Store kStores[] = {
    {"st", "st.shared.b32 [%r3], %r1;"},
    {"st vector", "st.shared.v4.b32 [%r3], {%r1, %r1, %r1, %r1};"},
    {"st byte", "cvt.u16.u32 %h1, %r1; st.shared.b8 [%r3], %h1;"},
    {"st generic", "cvta.shared.u64 %d1, %d0; st.b32 [%d1], %r1;"},
    {"st bulk", "st.bulk.weak.shared::cta [%r2], 512, 0;", false},
    {"stmatrix", "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r3], {%r1, %r1, %r1, %r1};"},
    {"stmatrix transposed", "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r3], {%r1, %r1};"},
    {"wmma store", "wmma.store.d.sync.aligned.row.m8n8k32.shared.s32 [%r2], {%r1, %r1}, 8;"},
};

// Two warps; `value` computes %r1 from %r4, the number of the warp.
std::string findings_of(const Store& store, const std::string& value, bool allows_rewrites) {
  TestRun run(
      ".shared .align 128 .b8 s[512]; mov.u32 %r0, %tid.x; and.b32 %r5, %r0, 31;"
      "shr.u32 %r4, %r0, 5; mov.u32 %r2, s; shl.b32 %r6, %r5, 4; add.u32 %r3, %r2, %r6;"
      "cvt.u64.u32 %d0, %r3;" +
          value + store.text,
      0, "sm_100a");
  EXPECT_EQ(run.errors(), "") << store.name;
  run.launch.block = {64};
  run.options.allows_rewrites = allows_rewrites;
  run.run();
  return run.findings();
}

TEST(Rewrites, OfEqualValuesAreNoRace) {
  for (const Store& store : kStores) {
    EXPECT_EQ(findings_of(store, "mov.u32 %r1, 7;", true), "") << store.name;
    EXPECT_TRUE(findings_of(store, "mov.u32 %r1, 7;", false).starts_with("race")) << store.name;
    if (!store.is_value) continue;
    EXPECT_TRUE(findings_of(store, "add.u32 %r1, %r4, 7;", true).starts_with("race")) << store.name;
  }
}

}  // namespace
}  // namespace ww::sim::rewrites_test
