// SPDX-License-Identifier: Apache-2.0
// Kernels from a text to arrays: the whole library, on the virtual GPU and on devices that know
// less than it does.
#include "driver/run/device_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "driver/explain.h"
#include "driver/report_parts.h"
#include "runtime/sim_device.h"
#include "runtime/test_driver.h"

namespace ww::driver::run_device_run_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Build build(std::string_view text, BuildOptions options = {}) {
  Build out = build_kernel(SourceText("k.py", std::string(text)), options);
  EXPECT_TRUE(out.good()) << out.errors;
  return out;
}

constexpr std::string_view kRows = R"(
@T.prim_func
def rows(X_ptr: T.handle, Y_ptr: T.handle, step: T.int32):
    n = T.int32()
    X = T.match_buffer(X_ptr, (n, 4), "int32")
    Y = T.match_buffer(Y_ptr, (n, 4), "int32")
    T.device_entry()
    b = T.cta_id([n])
    tid = T.thread_id([32])
    if tid < 3:
        Y[b, tid] = X[b, tid] + step
)";

/// The virtual GPU without its knowledge of what was written, as a real one.
class Forgetful final : public runtime::Device {
 public:
  [[nodiscard]] std::string name() const override { return sim_.name(); }
  [[nodiscard]] std::optional<target::Target> native_target() const override { return {}; }
  Result<void> load(const runtime::Image& image) override { return sim_.load(image); }
  Result<runtime::Address> allocate(std::size_t bytes, std::string_view name) override {
    return sim_.allocate(bytes, name);
  }
  Result<void> upload(runtime::Address to, std::span<const std::byte> bytes) override {
    return sim_.upload(to, bytes);
  }
  Result<void> download(std::span<std::byte> to, runtime::Address from) override {
    return sim_.download(to, from);
  }
  Result<void> launch(const runtime::Launch& launch) override {
    ++launches;
    return sim_.launch(launch);
  }
  Result<runtime::Timing> time(const runtime::Launch&, int count) override {
    return runtime::Timing{.median = 1, .launches = count};
  }
  int launches = 0;

 private:
  runtime::SimDevice sim_;
};

// Extents come from the arrays, the grid from the extents.
void check_rows(runtime::Device& device, const Build& rows) {
  std::vector<std::int32_t> x(20);
  std::iota(x.begin(), x.end(), 0);
  std::vector<std::int32_t> y(20);
  std::int32_t step = 100;
  const KernelArg args[] = {input(x, {5, 4}), output(y, {5, 4}), scalar(step)};
  const auto run = run_on(device, rows, args, {});
  ASSERT_TRUE(run) << run.error().text;
  EXPECT_THAT(run->launch.grid, ElementsAre(5, 1, 1));
  EXPECT_EQ(y[0], 100);
  EXPECT_EQ(y[18], 118);
  ASSERT_EQ(run->written[1].size(), 20U);
  EXPECT_TRUE(run->written[1][18]);
  EXPECT_FALSE(run->written[1][19]);
  EXPECT_TRUE(run->written[0].empty());
}

// PTX has neither letters beyond ASCII nor kernels that are called like instructions.
TEST(DeviceRun, RunsKernelsOfAnyName) {
  for (const char* name : {"add", "gr\u00f6\u00dfe", "ret", "rows"}) {
    std::string text(kRows);
    text.replace(text.find("rows"), 4, name);
    SCOPED_TRACE(name);
    runtime::SimDevice device;
    check_rows(device, build(text));
  }
}

TEST(DeviceRun, BindsExtentsAndKnowsWhatWasWritten) {
  const Build rows = build(kRows);
  runtime::SimDevice device;
  check_rows(device, rows);
  EXPECT_TRUE(device.report()->ok());
}

TEST(DeviceRun, RunsTwiceWhereWritesAreNotTracked) {
  const Build rows = build(kRows);
  Forgetful device;
  check_rows(device, rows);
  EXPECT_EQ(device.launches, 2);
}

TEST(DeviceRun, TakesTheTimeWhenAsked) {
  const Build rows = build(kRows);
  Forgetful device;
  std::vector<std::int32_t> x(4), y(4);
  std::int32_t step = 1;
  const KernelArg args[] = {input(x, {1, 4}), output(y, {1, 4}), scalar(step)};
  const auto run = run_on(device, rows, args, {.timed_launches = 7});
  ASSERT_TRUE(run) << run.error().text;
  EXPECT_EQ(run->timing->launches, 7);
}

// Elements go where the parameter's layout wants them, and come back: column-major with a gap.
TEST(DeviceRun, PutsElementsWhereTheLayoutSays) {
  const Build kernel = build(R"(
from tvm.tirx.layout import S, TileLayout
columns = TileLayout(S[(4, 8) : (1, 5)])
@T.prim_func
def k(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (4, 8), "float16", layout=columns)
    B = T.match_buffer(B_ptr, (40,), "float16")
    T.device_entry()
    tid = T.thread_id([32])
    A[tid // 8, tid % 8] = A[tid // 8, tid % 8] + T.float16(1)
    B[tid] = A[tid // 8, tid % 8]
)");
  std::vector<std::uint16_t> a(32, 0x3C00);  // ones
  std::vector<std::uint16_t> b(40);
  a[9] = 0x4000;  // [1,1] is 2
  runtime::SimDevice device;
  const KernelArg args[] = {inout(a), output(b)};
  const auto side = host_side(kernel, args);
  ASSERT_TRUE(side) << side.error().text;
  std::uint16_t at_6 = 0;
  std::memcpy(&at_6, side->memory[0].data() + 12, 2);
  EXPECT_EQ(at_6, 0x4000);
  EXPECT_EQ(side->memory[0].size(), 78U);
  const auto run = run_on(device, kernel, args);
  ASSERT_TRUE(run) << run.error().text;
  EXPECT_EQ(a[9], 0x4200);  // 3
  EXPECT_EQ(a[8], 0x4000);
  EXPECT_EQ(b[9], 0x4200);
}

TEST(DeviceRun, RefusesWhatDoesNotFit) {
  const Build rows = build(kRows);
  runtime::SimDevice device;
  std::vector<std::int32_t> x(20), y(16);
  std::int32_t step = 1;
  const KernelArg few[] = {input(x, {5, 4})};
  EXPECT_THAT(run_on(device, rows, few).error().text, HasSubstr("1 arguments"));
  const KernelArg differ[] = {input(x, {5, 4}), output(y, {4, 4}), scalar(step)};
  EXPECT_EQ(run_on(device, rows, differ).error().kind, DiagKind::BadArgument);
  const KernelArg open[] = {input(x), output(x), scalar(step)};
  EXPECT_EQ(run_on(device, rows, open).error().kind, DiagKind::BadArgument);
}

TEST(DeviceRun, TakesConstantsAndNumbers) {
  const Build rows = build(kRows);
  runtime::SimDevice device;
  const std::vector<std::int32_t> x(4, 7);
  std::vector<std::int32_t> y(4);
  const KernelArg args[] = {input(x, {1, 4}), output(y, {1, 4}), scalar(1000)};
  const auto run = run_on(device, rows, args);
  ASSERT_TRUE(run) << run.error().text;
  EXPECT_EQ(y[0], 1007);
  const KernelArg real[] = {input(x, {1, 4}), output(y, {1, 4}), scalar(1.5F)};
  EXPECT_EQ(run_on(device, rows, real).error().text,
            "`step` is int32, and was given a float of 4 bytes");
  const KernelArg wide[] = {input(x, {1, 4}), output(y, {1, 4}), scalar(std::int64_t{1})};
  EXPECT_EQ(run_on(device, rows, wide).error().text,
            "`step` is int32, and was given an integer of 8 bytes");
  const KernelArg number[] = {scalar(1), output(y, {1, 4}), scalar(1)};
  EXPECT_THAT(run_on(device, rows, number).error().text,
              HasSubstr("is an array, and was given a scalar"));
  const KernelArg kept[] = {input(x, {1, 4}), input(y, {1, 4}), scalar(1)};
  EXPECT_THAT(run_on(device, rows, kept).error().text, HasSubstr("which is an `input`"));
}

// --- the target and the device ---

TEST(KernelBuild, ChoosesATarget) {
  EXPECT_EQ(build(kRows).target->arch, target::Arch::Sm90a);
  EXPECT_EQ(build(kRows, {.target = "sm_80"}).target->arch, target::Arch::Sm80);
  EXPECT_THAT(build_kernel(SourceText("k.py", std::string(kRows)), {.target = "sm_81"}).errors,
              HasSubstr("[UnknownName]"));
}

TEST(KernelBuild, StopsAtThePhaseAskedFor) {
  Build tile = build(kRows, {.until = Phase::Tile});
  EXPECT_EQ(tile.phase, Phase::Tile);
  EXPECT_FALSE(tile.lowered.has_value());
  advance(tile, Phase::Ptx);
  EXPECT_EQ(tile.phase, Phase::Ptx) << tile.errors;
  EXPECT_THAT(tile.ptx, HasSubstr(".entry rows"));
}

/// A driver that does not start, as in a container without its GPU.
runtime::CudaCalls broken_driver() {
  runtime::CudaCalls calls;
  calls.init = [](unsigned) { return 100; };
  calls.error_name = [](int, const char** name) {
    *name = "CUDA_ERROR_NO_DEVICE";
    return 0;
  };
  calls.error_string = [](int, const char**) { return 1; };
  return calls;
}

TEST(ChooseDevice, TakesTheVirtualGpuWhereThereIsNoOther) {
  const Build tile = build(kRows, {.until = Phase::Tile});
  const Result<runtime::CudaCalls> none =
      fail(diag(DiagKind::NoDevice, "there is no CUDA driver here"));
  const auto choice = choose_device(DeviceKind::Auto, tile.tile(), {}, {}, none);
  ASSERT_TRUE(choice);
  EXPECT_NE(choice->sim, nullptr);
  EXPECT_EQ(choice->target.arch, target::Arch::Sm90a);
  EXPECT_EQ(choice->remark, "");
  EXPECT_EQ(choose_device(DeviceKind::Cuda, tile.tile(), {}, {}, none).error().kind,
            DiagKind::NoDevice);
}

TEST(ChooseDevice, SaysWhyTheGpuWasNotTaken) {
  const Build tile = build(kRows, {.until = Phase::Tile});
  const Result<runtime::CudaCalls> broken = broken_driver();
  const auto choice = choose_device(DeviceKind::Auto, tile.tile(), {}, {}, broken);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->remark, "the CUDA driver does not start: CUDA_ERROR_NO_DEVICE");
  EXPECT_EQ(choose_device(DeviceKind::Cuda, tile.tile(), {}, {}, broken).error().text,
            choice->remark);
}

// Two floats at once, which sm_100 is the first to add.
constexpr std::string_view kPacked = R"(
@T.prim_func
def packed(A: T.Buffer((2,), "uint64")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([1])
    x: T.uint64 = A[0]
    T.ptx["add.rn.f32x2"](x, x, x)
    A[1] = x
)";

TEST(ChooseDevice, CompilesForTheSmallestTargetThatCan) {
  const Build tile = build(kPacked, {.until = Phase::Tile});
  ASSERT_TRUE(tile.good()) << tile.errors;
  EXPECT_EQ(usual_target(tile.tile()).arch, target::Arch::Sm90a);
  EXPECT_EQ(default_target(tile.tile()).arch, target::Arch::Sm100);
  const auto choice = choose_device(DeviceKind::Sim, tile.tile(), {}, {}, broken_driver());
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->target.arch, target::Arch::Sm100);
  EXPECT_THAT(choice->remark, HasSubstr("compiled for sm_100, the smallest target that can: "));
  // What is given counts, and fails where it cannot.
  const auto given =
      choose_device(DeviceKind::Sim, tile.tile(), usual_target(tile.tile()), {}, broken_driver());
  EXPECT_EQ(given->target.arch, target::Arch::Sm90a);
  EXPECT_EQ(given->remark, "");
  const Build named = build_kernel(SourceText("k.py", std::string(kPacked)), {.target = "sm_90a"});
  EXPECT_THAT(named.errors, HasSubstr("`add.rn.f32x2` needs sm_100 or later"));
}

TEST(ChooseDevice, NamesWhatTheKernelNeedsAndTheGpu) {
  runtime::FakeDriver driver;
  runtime::fake = &driver;
  const Build tile = build(kPacked, {.until = Phase::Tile});
  const Result<runtime::CudaCalls> calls = runtime::fake_calls();
  const auto refused = choose_device(DeviceKind::Cuda, tile.tile(), {}, {}, calls);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text,
            "the kernel needs sm_100, more than Fake H200 (sm_90), driver 13.0 has: "
            "`add.rn.f32x2` needs sm_100 or later");
  // The virtual GPU takes it then, and says why.
  const auto other = choose_device(DeviceKind::Auto, tile.tile(), {}, {}, calls);
  ASSERT_TRUE(other);
  EXPECT_NE(other->sim, nullptr);
  EXPECT_EQ(other->remark, refused.error().text);
  EXPECT_EQ(other->target.arch, target::Arch::Sm100);
  runtime::fake = nullptr;
}

// --- explaining ---

// A report as lowering could make it, so that all its parts are shown.
TEST(Explain, ShowsEveryPartOfAReport) {
  Build tile = build(kRows, {.until = Phase::Tile});
  set_target(tile, default_target(tile.tile()));
  lower::CallReport call;
  call.span = Span::at(1, 12);
  call.name = "Tx.wg.copy";
  call.op = "copy";
  call.scope = "warpgroup";
  call.threads = "all 128 threads";
  call.operands = {{"dst", "R[0:8]", "float16", "local", "S[8:1]"},
                   {"src", "A[0:8]", "float16", "shared", ""}};
  call.verdicts = {
      {"ldstmatrix", 10, lower::Verdict::Kind::Declined, "alignment", "rows of 6 bytes"},
      {"reg", 5, lower::Verdict::Kind::Chosen, "", ""},
      {"fallback", 0, lower::Verdict::Kind::NotAsked, "", ""}};
  call.chosen = "reg";
  call.plan.summary = "16-bit accesses";
  call.plan.instructions = {{"ld.shared.b16", 3, 2}};
  call.plan.elements = 8;
  call.plan.bytes = 16;
  call.plan.wavefronts = lower::Wavefronts{6, 4};
  call.plan.remedy = "S[8:2]";
  tile.report.calls = {call};
  tile.report.spilled = {{"R", Span::at(1, 2), "its index is known at run time only"}};
  const std::string text = explain_text(tile);
  for (const char* part :
       {"k.py:2:1: Tx.wg.copy by all 128 threads\n    @T.prim_func\n",
        "  dst  R[0:8]  float16  local   S[8:1]\n  src  A[0:8]  float16  shared  row-major\n",
        "  ldstmatrix  declined, alignment: rows of 6 bytes\n  reg         chosen: 16-bit "
        "accesses\n"
        "  fallback    not asked\n",
        "  executes    3 x ld.shared.b16, 2 bytes each\n", "  moves       8 elements, 16 bytes\n",
        "  wavefronts  6, 4 at best: 2 bank conflicts\n  remedy      S[8:2]\n",
        "k.py:2:1: `R`: its index is known at run time only\n"})
    EXPECT_THAT(text, HasSubstr(part)) << text;
  EXPECT_THAT(json_text(explain_json(tile)), HasSubstr("\"conflicts\": 2"));
  EXPECT_EQ(to_text(primitive_lines(tile)), "line 2  Tx.wg.copy  reg  3 x ld.shared.b16\n");
}

}  // namespace
}  // namespace ww::driver::run_device_run_test
