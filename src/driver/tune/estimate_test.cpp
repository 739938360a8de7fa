// SPDX-License-Identifier: Apache-2.0
#include "driver/tune/estimate.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ww::driver::tune_estimate_test {
namespace {

TEST(TuneEstimate, ReadsMatrixInstructions) {
  const std::vector<std::pair<std::string, std::uint64_t>> rows = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 2048},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 2048},
      {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32", 2048},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 2048},
      {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 4096},
      {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 2048},
      {"ld.shared.f32", 0},
      {"tcgen05.mma.cta_group::1.kind::f16", 0}};
  for (const auto& [opcode, wanted] : rows) EXPECT_EQ(tensor_work(opcode), wanted) << opcode;
}

TEST(TuneEstimate, TheBusiestUnitOfTheBusiestSmCounts) {
  struct Row {
    SimWork work;
    double cycles;
    std::string bound;
  };
  const std::vector<Row> rows = {
      {{.blocks = 1, .instructions = 400, .wavefronts = 99}, 100, "issue"},
      {{.blocks = 1, .instructions = 400, .wavefronts = 101}, 101, "shared"},
      {{.blocks = 1, .instructions = 400, .wavefronts = 101, .sectors = 102}, 102, "global"},
      {{.blocks = 1, .instructions = 400, .tensor = 1024 * 200}, 200, "tensor"},
      {{.blocks = 132, .instructions = 400 * 132}, 100, "issue"},  // an SM has one
      {{.blocks = 133, .instructions = 400 * 133}, 200, "issue"},  // one has two
      {{.blocks = 1320, .sectors = 1320 * 7}, 70, "global"},
      {{}, 0, "issue"}};
  for (const Row& row : rows) {
    const Estimate seen = estimate(row.work, target::Arch::Sm90a);
    EXPECT_DOUBLE_EQ(seen.cycles, row.cycles) << row.bound;
    EXPECT_EQ(seen.bound, row.bound);
  }
}

TEST(TuneEstimate, EveryArchitectureHasRates) {
  for (const target::ArchInfo& arch : target::kArchs) EXPECT_GT(rates_of(arch.arch).sms, 1U);
  EXPECT_EQ(rates_of(target::Arch::Sm103a).sms, 148U);
  EXPECT_EQ(rates_of(target::Arch::Sm80).sms, 108U);
}

}  // namespace
}  // namespace ww::driver::tune_estimate_test
