// SPDX-License-Identifier: Apache-2.0
// The description of a launch against launches that were made.
#include "driver/call/launch_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "driver/call/call.h"
#include "runtime/test_driver.h"

namespace ww::driver::launch_description_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kRows = R"(
@T.prim_func
def rows(K: T.int32, X_ptr: T.handle, Y_ptr: T.handle):
    n = T.int32()
    cols: T.let = K * 4
    X = T.match_buffer(X_ptr, (n, cols), "int32")
    Y = T.match_buffer(Y_ptr, (n, K * 4), "int32")
    T.device_entry()
    bx, by = T.cta_id([n, T.ceildiv(cols, 32)])
    lane = T.thread_id([32])
    if by * 32 + lane < cols:
        Y[bx, by * 32 + lane] = X[bx, by * 32 + lane] + 1
)";

Build built() { return build_kernel(SourceText("rows.py", std::string(kRows)), {}); }

struct Arrays {
  std::vector<int> x = std::vector<int>(3 * 40, 7);
  std::vector<int> y = std::vector<int>(3 * 40);
  static CallArg view(std::vector<int>& of) {
    static constexpr std::int64_t kShape[] = {3, 40};
    return {.dtype = num::DType::Int32,
            .bits = std::bit_cast<std::uintptr_t>(of.data()),
            .shape = kShape};
  }
  std::vector<CallArg> args() { return {number_arg(10), view(x), view(y)}; }
};

TEST(LaunchDescription, NamesParametersInTheirOrder) {
  const Build build = built();
  ASSERT_TRUE(build.good()) << build.errors;
  const std::vector<LaunchParam> params = launch_params(build);
  ASSERT_EQ(params.size(), 4U);
  EXPECT_EQ(params[0].kind, LaunchParam::Kind::Number);
  EXPECT_EQ(params[0].bytes, 4U);
  EXPECT_EQ(params[1].kind, LaunchParam::Kind::Pointer);
  EXPECT_EQ(params[1].seen.name, "X");
  EXPECT_TRUE(params[2].seen.writes);
  EXPECT_EQ(params[3].kind, LaunchParam::Kind::Extent);
  EXPECT_EQ(params[3].seen.name, "n");
  ASSERT_EQ(params[3].from.size(), 2U);
  EXPECT_EQ(params[3].from[0].param, 1U);
  EXPECT_EQ(params[3].from[1].param, 2U);
  EXPECT_EQ(params[3].from[0].dim, 0U);
}

TEST(LaunchDescription, IsWhatRunsLaunch) {
  const Build build = built();
  const auto described = describe_launch(build);
  ASSERT_TRUE(described);
  EXPECT_THAT(described->shape.block, ElementsAre(32, 1, 1));
  EXPECT_FALSE(described->shape.grid[0].is_constant());
  EXPECT_EQ(described->shape.grid[2].value, 1);
  Arrays arrays;
  const auto report = call_kernel(build, arrays.args());
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_THAT(report->grid, ElementsAre(3, 2, 1));
  EXPECT_THAT(report->block, ElementsAre(32, 1, 1));
  const auto json = launch_json(build);
  ASSERT_TRUE(json);
  EXPECT_THAT(*json, HasSubstr("\"schema\": \"warpwright/launch/1\""));
}

TEST(CallOnEval, AgreesWithTheVirtualGpu) {
  const Build build = built();
  Arrays on_sim;
  Arrays on_eval;
  ASSERT_TRUE(call_kernel(build, on_sim.args()));
  const auto report = call_kernel(build, on_eval.args(), {.device = DeviceKind::Eval});
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_TRUE(report->good());
  EXPECT_EQ(report->device, DeviceKind::Eval);
  EXPECT_THAT(report->grid, ElementsAre(3, 2, 1));
  EXPECT_EQ(on_eval.y, on_sim.y);
  EXPECT_EQ(on_eval.y[0], 8);
}

TEST(CallOnEval, StopsWhenToldTo) {
  const Build build = build_kernel(SourceText("endless.py", R"(
@T.prim_func
def endless(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "int32")
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    while A[t] == 0:
        A[t] = 0
)"),
                                   {});
  ASSERT_TRUE(build.good()) << build.errors;
  std::vector<int> a(32);
  const std::int64_t shape[] = {32};
  const CallArg args[] = {{.dtype = num::DType::Int32,
                           .bits = std::bit_cast<std::uintptr_t>(a.data()),
                           .shape = shape}};
  const std::atomic<bool> stop = true;
  const auto evaluated = call_kernel(build, args, {.device = DeviceKind::Eval, .stop = &stop});
  ASSERT_FALSE(evaluated);
  EXPECT_EQ(evaluated.error().kind, DiagKind::RunLimit);
  const auto simulated = call_kernel(build, args, {.stop = &stop});
  ASSERT_TRUE(simulated) << simulated.error().text;
  EXPECT_EQ(simulated->outcome, sim::Outcome::Stopped);
}

TEST(CallOnCuda, CopiesToAndFro) {
  runtime::FakeDriver driver;
  runtime::fake = &driver;
  driver.argument_count = 4;
  const Build build = built();
  Arrays arrays;
  const runtime::CudaCalls calls = runtime::fake_calls();
  const CallOptions options{.device = DeviceKind::Cuda, .driver = &calls};
  const auto report = call_kernel(build, arrays.args(), options);
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_EQ(report->device, DeviceKind::Cuda);
  EXPECT_THAT(driver.launched.grid, ElementsAre(3, 2, 1));
  EXPECT_EQ(driver.arguments[0], 10U);
  EXPECT_EQ(driver.arguments[3], 3U);
  driver.status["event_query"] = 719;
  const auto trapped = call_kernel(build, arrays.args(), options);
  ASSERT_FALSE(trapped);
  EXPECT_EQ(trapped.error().kind, DiagKind::Trapped);
  runtime::fake = nullptr;
}

}  // namespace
}  // namespace ww::driver::launch_description_test
