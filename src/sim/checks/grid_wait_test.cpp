// SPDX-License-Identifier: Apache-2.0
// What an earlier grid writes, touched before and behind `griddepcontrol.wait`.
#include "sim/checks/grid_wait.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/test_run.h"

namespace ww::sim::grid_wait_test {
namespace {

// %a0 is awaited, %a1 is not; %d1 and %d2 are the thread's words in them; %p1 is true in thread 0.
std::string run(const std::string& body, bool awaits = true) {
  TestRun run(
      ".shared .align 128 .b8 cells[128]; .shared .align 8 .b64 bar;\n"
      "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %a1, %d1;\n"
      "add.u64 %d1, %a0, %d1; setp.eq.u32 %p1, %r1, 0;\n" +
          body,
      2);
  run.input(std::vector<std::uint32_t>(64, 7));
  run.input(std::vector<std::uint32_t>(64, 9));
  run.launch.block = {64};
  if (awaits) run.launch.awaits = {run.buffer(0).base};
  EXPECT_EQ(run.run().outcome, Outcome::Finished) << run.errors() << run.report().reason;
  EXPECT_FALSE(run.buffer(0).is_awaited);
  return run.findings();
}

const std::string kWait = "griddepcontrol.wait;\n";
const std::string kRead = "ld.global.u32 %r2, [%d1];\n";
const std::string kEarly =
    "which an earlier grid may still write: no `griddepcontrol.wait` comes before this";

TEST(GridWait, ReadsComeBehindIt) {
  EXPECT_TRUE(run(kRead + kWait).contains("reads 4 bytes of parameter 0 at")) << run(kRead + kWait);
  EXPECT_TRUE(run(kRead + kWait).contains(kEarly));
  EXPECT_TRUE(run(kRead).contains(kEarly));
  EXPECT_EQ(run(kWait + kRead), "");
  EXPECT_EQ(run(kRead + kWait, false), "");                   // the grid before has ended
  EXPECT_EQ(run("ld.global.u32 %r2, [%d2];\n" + kWait), "");  // nobody else writes that
}

TEST(GridWait, AndSoDoWritesAndCopies) {
  EXPECT_TRUE(run("st.global.u32 [%d1], 1;\n" + kWait).contains("writes 4 bytes of parameter 0"));
  EXPECT_EQ(run(kWait + "st.global.u32 [%d1], 1;\n"), "");
  EXPECT_TRUE(run("red.global.add.u32 [%d1], 1;\n" + kWait).contains(kEarly));
  const std::string copy =
      "@%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;\n"
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%a0], 128, "
      "[bar];\n"
      "again: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra again;\n";
  EXPECT_TRUE(run(copy + kWait).contains(kEarly)) << run(copy + kWait);
  EXPECT_EQ(run(kWait + copy), "");
}

TEST(GridWait, OneThreadMayWaitForOthersBehindABarrier) {
  EXPECT_EQ(run("@%p1 " + kWait + "bar.sync 0;\n" + kRead), "");
  EXPECT_TRUE(run("@%p1 " + kWait + kRead).contains(kEarly));
  EXPECT_TRUE(run("bar.sync 0;\n@%p1 " + kWait + kRead).contains(kEarly));
  EXPECT_EQ(run("@%p1 griddepcontrol.launch_dependents;\n" + kWait + kRead), "");
  EXPECT_TRUE(run("griddepcontrol.launch_dependents;\n" + kRead).contains(kEarly));
}

}  // namespace
}  // namespace ww::sim::grid_wait_test
