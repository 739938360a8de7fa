// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <gtest/gtest.h>

namespace ww::bench::machine_test {
namespace {

TEST(BenchMachine, NamesTheProcessor) {
  EXPECT_EQ(
      cpu_in("processor\t: 0\nmodel\t\t: 143\nmodel name\t: Some Xeon\nmodel name\t: Other\n"),
      "Some Xeon");
  EXPECT_EQ(cpu_in("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"), "Neoverse-N1");
  EXPECT_EQ(cpu_in("CPU part\t: 0xfff\n"), "unknown processor");
  EXPECT_EQ(cpu_in(""), "unknown processor");
}

TEST(BenchMachine, FindsTheReleaseOfCuda) {
  EXPECT_EQ(release_in("Cuda compilation tools, release 13.0, V13.0.88\nBuild"), "13.0");
  EXPECT_EQ(release_in("release 12.9"), "12.9");
  EXPECT_EQ(release_in("no such program"), "");
}

}  // namespace
}  // namespace ww::bench::machine_test
