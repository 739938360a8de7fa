// SPDX-License-Identifier: Apache-2.0
#include "gpu.h"

#include <gtest/gtest.h>

namespace ww::bench::gpu_test {
namespace {

constexpr std::string_view kSource = R"py(
def build(ctas):
    @T.prim_func
    def number(A_ptr: T.handle):
        A = T.match_buffer(A_ptr, (64 * ctas,), "int32")
        T.device_entry()
        cluster = T.cluster_id([2])
        cta = T.cta_id_in_cluster([ctas])
        thread = T.thread_id([32])
        A[(cluster * ctas + cta) * 32 + thread] = cta

    return number
)py";

TEST(LaunchOf, HasTheClusters) {
  const target::Target target{.arch = target::Arch::Sm90a, .ptx = 80};
  const auto built = build_for(target, SourceText("a.py", std::string(kSource)), "build(ctas=16)");
  ASSERT_TRUE(built) << built.error().text;
  const auto launch = launch_of(*built->lowered, {{0x1000}});
  ASSERT_TRUE(launch) << launch.error().text;
  EXPECT_EQ(launch->grid, (runtime::Dims{32, 1, 1}));
  EXPECT_EQ(launch->block, (runtime::Dims{32, 1, 1}));
  EXPECT_EQ(launch->cluster, (runtime::Dims{16, 1, 1}));
}

}  // namespace
}  // namespace ww::bench::gpu_test
