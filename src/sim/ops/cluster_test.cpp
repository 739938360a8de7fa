// SPDX-License-Identifier: Apache-2.0
// Addresses in the shared memories of a cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/ops/test_cluster_addresses.h"
#include "sim/test_run.h"

namespace ww::sim::cluster_test {
namespace {

using testing::HasSubstr;

TEST(ClusterAddresses, AsOnHardware) {
  for (const unsigned ctas : {1U, 2U, 4U, 8U, 16U}) {
    TestRun test{std::string(kClusterAddresses)};
    test.launch.grid = {2 * ctas};
    if (ctas > 1) test.launch.cluster = Dim3{ctas};
    test.output<std::uint32_t>(std::size_t{2} * ctas * cluster_address_words(ctas));
    EXPECT_EQ(test.run().outcome, Outcome::Finished) << test.refusal();
    EXPECT_EQ(test.findings(), "") << ctas;
    EXPECT_EQ(test.read<std::uint32_t>(0), cluster_addresses(2 * ctas, ctas)) << ctas;
  }
}

// Addresses of shared variables have the rank in them wherever they are named, in functions, too.
TEST(ClusterAddresses, OfVariables) {
  const std::string head =
      ".shared .align 16 .b32 cells[64];\n"
      ".func (.reg .b32 %out) at() { .reg .b32 %r; mov.u32 %r, cells+8; add.u32 %out, %r, 0; ret; "
      "}";
  TestRun test(R"(
    mov.u32 %r0, cells+4; mov.u32 %r6, cells; sub.u32 %r0, %r0, %r6;
    call (%r1), at; { .reg .b32 %low, %high; mov.u64 %d0, cells; cvt.u32.u64 %low, %d0;
    sub.u32 %r1, %r1, %low; cvta.shared.u64 %d1, cells; sub.u64 %d1, %d1, %d0;
    shr.u64 %d1, %d1, 32; cvt.u32.u64 %r2, %d1; shr.u32 %r3, %low, 24; }
    st.shared.u32 [cells+12], %r3; ld.shared.u32 %r4, [cells+12];
    mov.u32 %r5, %ctaid.x; mul.wide.u32 %d2, %r5, 20; add.u64 %d2, %d2, %a0;
    st.global.u32 [%d2], %r0; st.global.u32 [%d2+4], %r1; st.global.u32 [%d2+8], %r2;
    st.global.u32 [%d2+12], %r3; st.global.u32 [%d2+16], %r4;)",
               1, "sm_90a", "8.8", head);
  ASSERT_EQ(test.errors(), "");
  test.launch.grid = {2};
  test.launch.cluster = Dim3{2};
  test.output<std::uint32_t>(10);
  test.run();
  EXPECT_EQ(test.findings(), "");
  EXPECT_THAT(test.read<std::uint32_t>(0), testing::ElementsAre(4, 8, 1, 0, 0, 4, 8, 1, 1, 1));
}

// What is found in a cluster of two.
std::string found_in_pair(std::string_view body) {
  TestRun test(std::string(".shared .align 16 .b32 cells[64]; mov.u32 %r0, cells;"
                           "mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r1, 1;") +
                   std::string(body),
               0);
  test.launch.grid = {2};
  test.launch.cluster = Dim3{2};
  test.run();
  return test.findings();
}

TEST(ClusterAddresses, FindingsSayWhoseMemoryItIs) {
  EXPECT_THAT(
      found_in_pair("and.b32 %r2, %r0, 0xFFFFFF; @%p0 st.shared.u32 [%r2+16], 0;"),
      HasSubstr("write at 0x10 of CTA 0 of the cluster in the `shared::cta` space, where CTA "
                "1 has only its own memory, from 0x1000000 on; `shared::cluster` reaches "
                "the others"));
  EXPECT_THAT(found_in_pair("@%p0 st.shared.u32 [cells+256], 0;"),
              HasSubstr("write of 4 bytes at 0x100 of CTA 1 of the cluster: just past the end of "
                        "shared memory (256 bytes)"));
  EXPECT_THAT(found_in_pair("@%p0 st.shared.u32 [%r0+-8], 0;"),
              HasSubstr("8 bytes before the start of shared memory (256 bytes)"));
  EXPECT_THAT(
      found_in_pair("@!%p0 st.shared.u32 [%r0+-8], 0;"),
      HasSubstr("write of 4 bytes at 0xfffffff8: 8 bytes before the start of shared memory"));
  EXPECT_THAT(found_in_pair("add.u32 %r2, %r0, 0x2000000; @%p0 st.shared::cluster.u32 [%r2], 0;"),
              HasSubstr("write of 4 bytes at 0x3000000: the cluster has 2 CTAs, and the shared "
                        "memory of CTA r begins at r << 24"));
}

}  // namespace
}  // namespace ww::sim::cluster_test
