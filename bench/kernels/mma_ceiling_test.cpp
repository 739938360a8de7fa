// SPDX-License-Identifier: Apache-2.0
#include "mma_ceiling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "driver/run/device_run.h"
#include "operands.h"
#include "runtime/assembler.h"
#include "runtime/sim_device.h"

namespace ww::bench::mma_ceiling_test {
namespace {

using num::DType;
using testing::HasSubstr;

struct Case {
  DType dtype, sum;
  std::string_view instruction;
};
class Ceiling : public testing::TestWithParam<Case> {
 protected:
  static driver::Build build(int ctas) {
    const target::Target target{.arch = target::Arch::Sm90a, .ptx = 80};
    auto out = build_for(target, ceiling_source(), *ceiling_kernel(GetParam().dtype, ctas));
    EXPECT_TRUE(out) << out.error().text;
    return *std::move(out);
  }
};

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t out = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1))
    ++out;
  return out;
}

TEST_P(Ceiling, IsThirtyTwoProductsOnRegisters) {
  const std::string ptx = build(132).ptx;
  EXPECT_EQ(count(ptx, GetParam().instruction), 32U);
  EXPECT_EQ(count(ptx, ".local"), 0U);
  EXPECT_EQ(count(ptx, "ld.global"), 32U);
}

// Nothing spills, so that nothing but the tensor cores is measured.
TEST_P(Ceiling, FitsIntoRegisters) {
  const char* const path = std::getenv("PATH");
  const auto ptxas = runtime::find_ptxas({.path = path == nullptr ? "" : path});
  if (!ptxas) GTEST_SKIP() << ptxas.error().text;
  const auto size = runtime::assembled_size(*ptxas, build(132).ptx, target::Arch::Sm90a);
  ASSERT_TRUE(size) << size.error().text;
  EXPECT_EQ(size->spills, 0U);
  EXPECT_LE(size->registers, 255U);
}

// On the virtual GPU two passes make twice the sums of one.
TEST_P(Ceiling, Computes) {
  const driver::Build built = build(1);
  const Operand operand(GetParam().dtype, 5);
  std::vector<std::byte> a(operand.bytes().begin(), operand.bytes().begin() + 32 * 256 * 4);
  std::vector<std::byte> sums[2];
  for (std::int32_t passes : {1, 2}) {
    std::vector<std::byte>& d = sums[passes - 1];
    d.resize(256 * 4);
    driver::KernelArg args[] = {driver::input(a), driver::output(d), driver::scalar(passes)};
    runtime::SimDevice device;
    const auto run = driver::run_on(device, built, args);
    ASSERT_TRUE(run) << run.error().text;
  }
  const auto computes = check_ceiling(GetParam().sum, sums[0], sums[1]);
  EXPECT_TRUE(computes) << computes.error().text;
  EXPECT_FALSE(check_ceiling(GetParam().sum, sums[0], sums[0]));
  EXPECT_FALSE(check_ceiling(GetParam().sum, std::vector<std::byte>(4), std::vector<std::byte>(4)));
}

INSTANTIATE_TEST_SUITE_P(Types, Ceiling,
                         testing::Values(Case{DType::Float16, DType::Float32,
                                              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
                                         Case{
                                             DType::Bfloat16, DType::Float32,
                                             "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"},
                                         Case{DType::Int8, DType::Int32,
                                              "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"}));

TEST(Ceilings, ExistForThreeTypes) {
  EXPECT_EQ(ceiling_kernel(DType::Float64, 132).error().text,
            "there is no ceiling for products of `float64`");
}

}  // namespace
}  // namespace ww::bench::mma_ceiling_test
