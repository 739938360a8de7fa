// SPDX-License-Identifier: Apache-2.0
// Every instruction that has values as results, a few times on the virtual GPU: it runs, no check
// finds anything, and the results do not depend on the order in which warps take turns. The same
// kernels run on a GPU by scripts/device_sweep.sh, and all bits are compared there.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "hardware/sweep/bounds.h"
#include "hardware/sweep/compare.h"
#include "hardware/sweep/forms.h"
#include "hardware/sweep/virtual_run.h"
#include "num/host_lanes.h"

namespace ww::sweep::values_test {
namespace {

constexpr std::size_t kCases = kBlockThreads;
constexpr std::size_t kStep = WW_VALUE_STEP;  // every so manieth kernel

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> all = all_kernels();
  return all;
}

class SimValues : public testing::TestWithParam<std::string> {};

TEST_P(SimValues, RunWithoutFindings) {
  std::size_t number = 0;
  for (const Kernel& kernel : kernels()) {
    if (kernel.family != GetParam() || number++ % kStep != 0) continue;
    const std::vector<std::byte> inputs = make_inputs(kernel, kCases);
    const VirtualResult first = run_virtual(kernel, inputs, kCases, {.checked = true});
    const VirtualResult second = run_virtual(kernel, inputs, kCases, {.checked = true, .seed = 7});
    EXPECT_EQ(first.problem, "") << kernel.title() << "\n  " << kernel.instruction;
    EXPECT_TRUE(first.outputs == second.outputs) << kernel.title() << " depends on the order";
  }
  EXPECT_GT(number, 0U);
}

// What is compiled twice gives the same bits both times.
TEST_P(SimValues, AreTheSameInWideAndPlainLanes) {
  constexpr std::size_t kManyCases = 4 * kBlockThreads;
  if (!num::use_wide_lanes(true) && !num::use_wide_lanes(true))
    GTEST_SKIP() << "needs a processor of x86-64-v3";
  std::size_t number = 0;
  for (const Kernel& kernel : kernels()) {
    if (kernel.family != GetParam() || number++ % kStep != 0) continue;
    const std::vector<std::byte> inputs = make_inputs(kernel, kManyCases);
    const VirtualResult wide = run_virtual(kernel, inputs, kManyCases, {});
    num::use_wide_lanes(false);
    const VirtualResult plain = run_virtual(kernel, inputs, kManyCases, {});
    num::use_wide_lanes(true);
    EXPECT_TRUE(wide.outputs == plain.outputs) << kernel.title() << "\n  " << kernel.instruction;
  }
  EXPECT_GT(number, 0U);
}

std::set<std::string> family_names() {
  std::set<std::string> names;
  for (const Kernel& kernel : kernels()) names.insert(kernel.family);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, SimValues, testing::ValuesIn(family_names()),
                         [](const auto& family) { return family.param; });

const Kernel& kernel_named(std::string_view title) {
  for (const Kernel& kernel : kernels())
    if (kernel.title() == title) return kernel;
  ADD_FAILURE() << "no kernel " << title;
  return kernels().front();
}

// --- the comparison itself -----------------------------------------------------------------------

struct Outputs {
  std::vector<std::byte> inputs, ours;
};

Outputs outputs_of(const Kernel& kernel) {
  Outputs made{make_inputs(kernel, kCases), {}};
  made.ours = run_virtual(kernel, made.inputs, kCases, {}).outputs;
  return made;
}

TEST(SweepCompare, FindsOneWrongBit) {
  const Kernel& kernel = kernel_named("add.u32");
  const Outputs made = outputs_of(kernel);
  std::vector<std::byte> wrong = made.ours;
  wrong[4 * 17] ^= std::byte{1};
  EXPECT_EQ(compare(kernel, made.inputs, made.ours, made.ours, kCases).mismatches, 0U);
  const Comparison found = compare(kernel, made.inputs, wrong, made.ours, kCases);
  EXPECT_EQ(found.mismatches, 1U);
  EXPECT_EQ(found.threads, std::vector<std::size_t>{17});
}

TEST(SweepCompare, AllowsWhatTheManualAllowsAndNoMore) {
  const Kernel& kernel = kernel_named("rcp.approx.f32");
  Outputs made = outputs_of(kernel);
  const float ours = 1.5F;
  std::vector<std::byte> device = made.ours;
  const auto put = [](std::vector<std::byte>& to, float value) {
    std::memcpy(to.data() + 4 * 5, &value, 4);
  };
  put(made.ours, ours);
  put(device, ours + 0x1p-23F);
  const Comparison near = compare(kernel, made.inputs, device, made.ours, kCases);
  EXPECT_EQ(near.mismatches, 0U);
  EXPECT_DOUBLE_EQ(near.max_ulps, 1.0);
  put(device, ours + 0x1p-22F);
  EXPECT_EQ(compare(kernel, made.inputs, device, made.ours, kCases).mismatches, 1U);
}

// --- operands ------------------------------------------------------------------------------------

TEST(SweepValues, AreTheSameEachTime) {
  const Kind kind = kind_of(isa::Type::F32);
  EXPECT_EQ(make_values(kind, 1, 512), make_values(kind, 1, 512));
  EXPECT_NE(make_values(kind, 0, 512), make_values(kind, 1, 512));
}

TEST(SweepValues, ReachTheEdges) {
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < 8192; ++i) seen.insert(value_at(kind_of(isa::Type::F32), 0, i));
  for (const std::uint64_t edge : {0x0ULL, 0x8000'0000ULL, 0x1ULL, 0x7F'FFFFULL, 0x80'0000ULL,
                                   0x7F7F'FFFFULL, 0x7F80'0000ULL, 0x7FC0'0000ULL, 0x3F80'0000ULL})
    EXPECT_TRUE(seen.contains(edge)) << std::hex << edge;
}

TEST(SweepValues, OneOperandOfSixteenBitsTakesAll) {
  const Kernel& kernel = kernel_named("neg.f16");
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < 65536; ++i) seen.insert(value_at(kernel.inputs[0].kind, 0, i));
  EXPECT_EQ(seen.size(), 65536U);
}

}  // namespace
}  // namespace ww::sweep::values_test
