// SPDX-License-Identifier: Apache-2.0
// Several launches over one memory: what a programmatic dependent touches too early, and clean twins.
#include "sim/checks/grid_history.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/launch.h"

namespace ww::sim::grid_history_test {
namespace {

struct Step {
  std::string kernel;
  bool is_programmatic = true;
};

// Kernels of 32 threads over %d0 = &x[tid] and %d1 = &y[tid].
std::string kernel(const std::string& name, const std::string& body) {
  return ".visible .entry " + name +
         "(.param .u64 x, .param .u64 y)\n{ .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
         ".shared .align 128 .b8 cells[128]; .shared .align 8 .b64 bar;\n"
         "ld.param.u64 %d2, [x]; ld.param.u64 %d3, [y]; mov.u32 %r0, %tid.x;\n"
         "setp.eq.u32 %p1, %r0, 0;\n"
         "mul.wide.u32 %d4, %r0, 4; add.u64 %d0, %d2, %d4; add.u64 %d1, %d3, %d4;\n" +
         body + "ret; }\n";
}

const std::string kWait = "griddepcontrol.wait;\n";
const std::string kSignal = "griddepcontrol.launch_dependents;\n";
const std::string kWriteX = "add.u32 %r1, %r0, 7; st.global.u32 [%d0], %r1;\n";
const std::string kXToY = "ld.global.u32 %r1, [%d0]; st.global.u32 [%d1], %r1;\n";
const std::string kCopyX =
    "@%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;\n"
    "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%d2], 128, "
    "[bar];\n"
    "again: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra again;\n";

const std::string kModule =
    ".version 8.3\n.target sm_90a\n.address_size 64\n.global .u32 count = 5;\n" +
    kernel("write", kSignal + kWriteX) + kernel("write_waiting", kWait + kWriteX) +
    kernel("idle", kSignal) + kernel("idle_waiting", kSignal + kWait) +
    kernel("early", kXToY + kWait) + kernel("late", kWait + kXToY) +
    kernel("only_y", "st.global.u32 [%d1], 3;\n" + kWait) +
    kernel("read", "ld.global.u32 %r1, [%d0];\n") +
    kernel("overwrite", "st.global.u32 [%d0], 1;\n") + kernel("copy_early", kCopyX + kWait) +
    kernel("copy_late", kWait + kCopyX) +
    kernel("one_waits", "@%p1 " + kWait + "bar.sync 0;\n" + kXToY) +
    kernel("counts", "@%p1 atom.global.add.u32 %r1, [count], 1; @%p1 st.global.u32 [%d2], %r1;\n");

class Sequence {
 public:
  Sequence() {
    loaded_ = load(kModule, "k.ptx");
    EXPECT_NE(loaded_.program, nullptr) << (loaded_.errors.empty() ? "" : loaded_.errors[0].text);
    device_.emplace(loaded_.program);
    const std::vector<std::uint32_t> zeros(32);
    for (std::size_t i = 0; i < 2; ++i) {
      regions_[i] = &device_->memory().allocate(128, 256, i == 0 ? "`x`" : "`y`");
      GlobalMemory::write(*regions_[i], std::as_bytes(std::span(zeros)));
    }
  }
  // The findings of the last launch; those before it have none.
  std::string run(const std::vector<Step>& steps) {
    GridHistory history(device_->memory());
    std::string found;
    for (const Step& step : steps) {
      EXPECT_EQ(found, "") << step.kernel;
      history.begin(step.kernel, step.is_programmatic);
      Launch launch{.kernel = loaded_.program->find_kernel(step.kernel), .block = {32}};
      launch.history = &history;
      launch.params.resize(16);
      for (std::size_t i = 0; i < 2; ++i)
        std::memcpy(launch.params.data() + 8 * i, &regions_[i]->base, 8);
      const Result<LaunchReport> report = device_->run(launch, {});
      EXPECT_TRUE(report) << report.error().text;
      EXPECT_EQ(report->reason, "");
      for (const Finding& finding : report->findings.list()) found += finding.text + "\n";
    }
    return found;
  }
  [[nodiscard]] std::uint32_t x(std::size_t i) const {
    std::uint32_t word = 0;
    std::memcpy(&word, regions_[0]->data + 4 * i, 4);
    return word;
  }

 private:
  LoadResult loaded_;
  std::optional<Device> device_;
  Region* regions_[2] = {};
};

std::string run(const std::vector<Step>& steps) { return Sequence().run(steps); }

TEST(GridHistory, ADependentSeesWritesBehindItsWait) {
  const std::string early = run({{"write"}, {"early"}});
  EXPECT_TRUE(early.contains("reads 4 bytes of `x` at 0x")) << early;
  EXPECT_TRUE(early.contains(
      "which launch 1 (`write`) may still write: no `griddepcontrol.wait` comes before this"))
      << early;
  EXPECT_EQ(run({{"write"}, {"late"}}), "");
  EXPECT_EQ(run({{"write"}, {"one_waits"}}), "");
  EXPECT_EQ(run({{"write"}, {"only_y"}}), "");  // bytes that the launch before does not touch
  EXPECT_EQ(run({{"early"}}), "");              // nothing is before it
}

TEST(GridHistory, OtherLaunchesWaitForAllBeforeThem) {
  EXPECT_EQ(run({{"write"}, {"early", false}}), "");
  EXPECT_EQ(run({{"write"}, {"idle"}, {"early", false}}), "");
  // What came before such a launch has ended for a dependent behind it, too.
  EXPECT_EQ(run({{"write"}, {"idle", false}, {"early"}}), "");
}

TEST(GridHistory, WritesMeetReadsAndWrites) {
  EXPECT_TRUE(run({{"read"}, {"overwrite"}}).contains("which launch 1 (`read`) may still read"));
  EXPECT_TRUE(run({{"write"}, {"overwrite"}}).contains("which launch 1 (`write`) may still write"));
  EXPECT_EQ(run({{"read"}, {"read"}}), "");
  EXPECT_EQ(run({{"read"}, {"overwrite", false}}), "");
}

TEST(GridHistory, CopiesCountWithAllTheirBytes) {
  EXPECT_TRUE(run({{"write"}, {"copy_early"}}).contains("(`write`) may still write"));
  EXPECT_EQ(run({{"write"}, {"copy_late"}}), "");
  EXPECT_TRUE(run({{"copy_late"}, {"overwrite"}}).contains("(`copy_late`) may still read"));
}

// A launch that ends without a wait says nothing of those before it.
TEST(GridHistory, AWaitIsForTheLaunchBefore) {
  const std::string found = run({{"write"}, {"idle"}, {"late"}});
  EXPECT_TRUE(
      found.contains("which launch 1 (`write`) may still write: the wait before this is for "
                     "launch 2 (`idle`), which may end sooner, as none of its threads "
                     "executes `griddepcontrol.wait`"))
      << found;
  EXPECT_EQ(run({{"write"}, {"idle_waiting"}, {"late"}}), "");
  // Even a launch in the middle that waits may itself be left early by its dependent.
  EXPECT_TRUE(run({{"write"}, {"idle_waiting"}, {"early"}}).contains("launch 1 (`write`)"));
  EXPECT_TRUE(
      run({{"write"}, {"idle"}, {"idle_waiting"}, {"late"}}).contains("launch 1 (`write`)"));
  EXPECT_EQ(run({{"write"}, {"idle_waiting"}, {"idle_waiting"}, {"late"}}), "");
}

TEST(GridHistory, VariablesKeepTheirValues) {
  Sequence sequence;
  EXPECT_EQ(sequence.run({{"counts", false}, {"counts", false}}), "");
  EXPECT_EQ(sequence.x(0), 6U);
  EXPECT_TRUE(run({{"counts"}, {"counts"}}).contains("of variable `count`"));
}

}  // namespace
}  // namespace ww::sim::grid_history_test
