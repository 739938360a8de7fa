// SPDX-License-Identifier: Apache-2.0
// Calls with the caller's own arrays: what fits runs in place, what does not is refused by name.
#include "driver/call/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <deque>
#include <numeric>
#include <string>
#include <vector>

#include "driver/call/ptx_call.h"
#include "driver/run/device_run.h"
#include "runtime/test_driver.h"

namespace ww::driver::call_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kScale = R"(
@T.prim_func
def scale(X_ptr: T.handle, Y_ptr: T.handle, by: T.int32):
    n = T.int32()
    X = T.match_buffer(X_ptr, (n, 4), "int32")
    Y = T.match_buffer(Y_ptr, (n, 4), "int32")
    T.device_entry()
    b = T.cta_id([n])
    tid = T.thread_id([32])
    if tid < 3:
        Y[b, tid] = X[b, tid] * by
)";

Build build_of(std::string_view text) {
  Build out = build_kernel(SourceText("scale.py", std::string(text)));
  EXPECT_TRUE(out.good()) << out.errors;
  return out;
}

using Args = std::vector<CallArg>;

// Shapes and strides, which arguments refer to.
std::span<const std::int64_t> kept(std::vector<std::int64_t> numbers) {
  static std::deque<std::vector<std::int64_t>> all;
  return all.emplace_back(std::move(numbers));
}

template <typename T>
CallArg view(std::vector<T>& values, num::DType dtype, std::vector<std::int64_t> shape) {
  return {.dtype = dtype,
          .bits = std::bit_cast<std::uintptr_t>(values.data()),
          .shape = kept(std::move(shape))};
}

struct Arrays {
  std::vector<std::int32_t> x = std::vector<std::int32_t>(20);
  std::vector<std::int32_t> y = std::vector<std::int32_t>(20, -1);
  CallArg in = view(x, num::DType::Int32, {5, 4});
  CallArg out = view(y, num::DType::Int32, {5, 4});
};

std::string refusal(const std::vector<CallArg>& args, std::string_view text = kScale) {
  const auto checked = bind_call(build_of(text).tile(), args);
  return checked ? "" : checked.error().text;
}

TEST(CallParams, SayWhatACallerNeeds) {
  const std::vector<CallParam> params = call_params(build_of(kScale).tile());
  ASSERT_EQ(params.size(), 3U);
  EXPECT_EQ(params[0].name, "X");
  EXPECT_EQ(params[0].variable, "X_ptr");
  EXPECT_THAT(params[0].shape, ElementsAre("n", "4"));
  EXPECT_FALSE(params[0].writes);
  EXPECT_TRUE(params[1].writes);
  EXPECT_FALSE(params[2].is_array);
  EXPECT_EQ(params[2].dtype, num::DType::Int32);
}

TEST(CallKernel, WritesInPlaceAndKeepsWhatTheKernelDoesNotWrite) {
  Arrays arrays;
  std::iota(arrays.x.begin(), arrays.x.end(), 0);
  arrays.in.is_read_only = true;  // the kernel reads it only
  const auto report = call_kernel(build_of(kScale), Args{arrays.in, arrays.out, number_arg(10)});
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_TRUE(report->good());
  EXPECT_EQ(report->grid[0], 5);
  EXPECT_EQ(arrays.y[4], 40);
  EXPECT_EQ(arrays.y[3], -1);
}

TEST(CallKernel, CountsItsWorkWhereThatIsAskedFor) {
  Arrays arrays;
  const Build build = build_of(kScale);
  const Args args{arrays.in, arrays.out, number_arg(3)};
  EXPECT_FALSE(call_kernel(build, args)->work.has_value());
  const Result<RunReport> report = call_kernel(build, args, {.counts_work = true});
  ASSERT_TRUE(report && report->work);
  EXPECT_EQ(report->work->blocks, 5U);
  EXPECT_EQ(report->work->instructions, report->steps);
  EXPECT_EQ(report->work->sectors, 10U);  // a row of 16 bytes is read, another is written
}

TEST(CallKernel, ReportsFindingsWithTheirLines) {
  std::string racy(kScale);
  racy.replace(racy.find("tid < 3"), 7, "tid < 9");  // beyond the row, into that of another block
  Arrays arrays;
  const auto report = call_kernel(build_of(racy), Args{arrays.in, arrays.out, number_arg(1)});
  ASSERT_TRUE(report) << report.error().text;
  ASSERT_FALSE(report->findings.empty());
  EXPECT_EQ(report->findings[0].at.line, 11U);
}

TEST(CallKernel, RefusesOptionsThatCannotBeRead) {
  Arrays arrays;
  const std::vector<CallArg> args = {arrays.in, arrays.out, number_arg(1)};
  EXPECT_FALSE(call_kernel(build_of(kScale), args, {.checks = "rice"}));
  EXPECT_FALSE(call_kernel(build_of(kScale), args, {.schedule = "never"}));
  EXPECT_FALSE(call_kernel(build_of(kScale), args, {.limits = "patience=3"}));
}

TEST(CheckCall, NamesTheParameterWithWhatCameAndWhatWasExpected) {
  Arrays a;
  const CallArg by = number_arg(1);
  std::vector<float> floats(20);
  const CallArg wrong_type = view(floats, num::DType::Float32, {5, 4});
  CallArg wrong_rank = a.out;
  wrong_rank.shape = kept({20});
  CallArg wrong_shape = a.out;
  wrong_shape.shape = kept({4, 5});
  CallArg turned = a.out;
  turned.strides = kept({4, 20});
  CallArg constant = a.out;
  constant.is_read_only = true;
  EXPECT_EQ(refusal({a.in, a.out, by}), "");
  EXPECT_EQ(refusal({a.in, a.out}), "`scale` was given 2 arguments: expected 3");
  EXPECT_EQ(refusal({a.in, wrong_type, by}), "`Y` was given an array of float32: expected int32");
  EXPECT_EQ(refusal({a.in, wrong_rank, by}),
            "`Y` was given an array of 1 dimensions, [20]: expected 2, [n,4]");
  EXPECT_EQ(refusal({a.in, wrong_shape, by}),
            "`Y` was given an array of shape [4,5]: expected [n,4]");
  EXPECT_EQ(refusal({a.in, turned, by}),
            "`Y` was given an array of shape [5,4] with strides of [4,20] bytes: expected C order");
  EXPECT_EQ(refusal({a.in, constant, by}), "`Y` was given a read-only array: the kernel writes it");
  EXPECT_EQ(refusal({a.in, by, by}), "`Y` was given 1: expected an array of int32[n,4]");
  EXPECT_EQ(refusal({a.in, a.out, a.in}),
            "`by` was given an array: expected a number of type int32");
  EXPECT_EQ(refusal({a.in, a.out, number_arg(0.5)}),
            "`by` was given 0.5, a float: expected a number of type int32");
  EXPECT_EQ(refusal({a.in, a.out, number_arg(std::int64_t{1} << 40)}),
            "`by` was given 1099511627776: expected a number of type int32");
}

TEST(CheckCall, TakesStridesOfExtentsThatAreOne) {
  Arrays a;
  a.out.shape = kept({1, 4});
  a.out.strides = kept({77, 4});
  a.in.shape = kept({1, 4});
  EXPECT_EQ(refusal({a.in, a.out, number_arg(1)}), "");
}

TEST(CheckCall, TakesBytesForElementsOfFourBits) {
  constexpr std::string_view kNibbles = R"(
@T.prim_func
def nibbles(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "uint4")
    B = T.match_buffer(B_ptr, (32,), "uint8")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.uint8(0)
)";
  std::vector<std::uint8_t> bytes(32);
  const CallArg packed = view(bytes, num::DType::Uint8, {32});
  EXPECT_EQ(refusal({packed, packed}, kNibbles), "");
  const CallArg short_one = view(bytes, num::DType::Uint8, {31});
  EXPECT_THAT(refusal({short_one, packed}, kNibbles), HasSubstr("shape [62]: expected [64]"));
}

TEST(SavedBuild, RunsAsTheBuildItWasSavedFrom) {
  const Build build = build_of(kScale);
  const auto loaded = load_build(save_build(build), build.compiled->source);
  ASSERT_TRUE(loaded) << loaded.error().text;
  EXPECT_EQ(loaded->ptx, build.ptx);
  EXPECT_EQ(loaded->entry, build.entry);
  Arrays first;
  Arrays second;
  std::iota(first.x.begin(), first.x.end(), 0);
  second.x = first.x;
  ASSERT_TRUE(call_kernel(build, Args{first.in, first.out, number_arg(7)}));
  const auto report = call_kernel(*loaded, Args{second.in, second.out, number_arg(7)});
  ASSERT_TRUE(report);
  EXPECT_EQ(first.y, second.y);
  EXPECT_EQ(report->grid[0], 5);
}

TEST(SavedBuild, RefusesOtherTexts) {
  const SourceText source("scale.py", "");
  const std::string saved = save_build(build_of(kScale));
  std::string older = saved;
  older.replace(older.find("saved/1"), 7, "saved/0");
  std::string broken = saved;
  broken.replace(broken.find("def scale"), 9, "der scale");
  EXPECT_FALSE(load_build("", source));
  EXPECT_FALSE(load_build("{}", source));
  EXPECT_FALSE(load_build(saved.substr(0, saved.size() / 2), source));
  EXPECT_FALSE(load_build(older, source));
  EXPECT_FALSE(load_build(broken, source));
}

class OnGpu : public testing::Test {
 protected:
  void SetUp() override { runtime::fake = &driver_; }
  void TearDown() override { runtime::fake = nullptr; }
  // Addresses of the GPU, which nothing here may touch.
  CallArg at(std::uint64_t address, std::int64_t rows, std::vector<std::int64_t> strides = {}) {
    return {.dtype = num::DType::Int32,
            .bits = address,
            .shape = kept({rows, 4}),
            .strides = kept(std::move(strides))};
  }
  static CallArg number(std::uint64_t bits) { return {.kind = CallArg::Kind::Int, .bits = bits}; }
  std::string refusal_of(GpuKernel& kernel, const std::vector<CallArg>& args, int number = 0) {
    const auto done = kernel.call(runtime::fake_calls(), number, nullptr, args);
    return done ? "" : done.error().text;
  }
  runtime::FakeDriver driver_;
};

TEST_F(OnGpu, LaunchesOnTheStreamWithTheAddressesOfEachCall) {
  const Build build = build_of(kScale);
  GpuKernel kernel(build);
  int stream = 0;
  const CallArg by = number(3);
  ASSERT_TRUE(kernel.call(runtime::fake_calls(), 0, &stream,
                          std::vector{at(0x1000, 5), at(0x2000, 5), by}));
  EXPECT_EQ(driver_.launched.grid[0], 5U);
  EXPECT_EQ(driver_.launched.block[0], 32U);
  EXPECT_EQ(driver_.launched.stream, &stream);
  EXPECT_THAT(driver_.arguments, ElementsAre(0x1000, 0x2000));
  ASSERT_TRUE(kernel.call(runtime::fake_calls(), 0, &stream,
                          std::vector{at(0x3000, 5), at(0x4000, 5), by}));
  EXPECT_THAT(driver_.arguments, ElementsAre(0x3000, 0x4000));
  EXPECT_EQ(kernel.plan_count(), 1U);
  ASSERT_TRUE(kernel.call(runtime::fake_calls(), 0, &stream,
                          std::vector{at(0x3000, 9), at(0x4000, 9), by}));
  EXPECT_EQ(driver_.launched.grid[0], 9U);
  EXPECT_EQ(kernel.plan_count(), 2U);
  EXPECT_EQ(driver_.launches, 3);
  EXPECT_EQ(driver_.context_changes, 1);  // it stays the current one
  driver_.context = nullptr;
  ASSERT_TRUE(kernel.call(runtime::fake_calls(), 0, &stream,
                          std::vector{at(0x3000, 9), at(0x4000, 9), by}));
  EXPECT_EQ(driver_.context_changes, 2);
}

TEST_F(OnGpu, TypesAndShapesMakeThePlanAndOtherNumbersAreFilledIn) {
  const Build build = build_of(kScale);
  GpuKernel kernel(build);
  const CallArg x = at(0x1000, 5);
  const CallArg y = at(0x2000, 5);
  driver_.argument_count = 3;
  ASSERT_TRUE(kernel.call(runtime::fake_calls(), 0, nullptr, std::vector{x, y, number(3)}));
  EXPECT_EQ(driver_.arguments[2], 3U);
  ASSERT_TRUE(kernel.call(runtime::fake_calls(), 0, nullptr, std::vector{x, y, number(4)}));
  EXPECT_EQ(driver_.arguments[2], 4U);
  EXPECT_EQ(kernel.plan_count(), 1U);
  EXPECT_THAT(refusal_of(kernel, {x, y, number(std::uint64_t{1} << 40)}), HasSubstr("`by`"));
  CallArg other = x;
  other.dtype = num::DType::Float32;
  EXPECT_THAT(refusal_of(kernel, {other, y, number(3)}), HasSubstr("array of float32"));
  EXPECT_THAT(refusal_of(kernel, {at(0x1000, 5, {32, 4}), y, number(3)}),
              HasSubstr("strides of [32,4] bytes"));
  CallArg half = number(0);
  half.kind = CallArg::Kind::Float;
  half.bits = std::bit_cast<std::uint64_t>(0.5);
  EXPECT_THAT(refusal_of(kernel, {x, y, half}), HasSubstr("`by` was given 0.5"));
}

TEST_F(OnGpu, ANumberThatTheGridDependsOnMakesAPlan) {
  constexpr std::string_view kBlocks = R"(
@T.prim_func
def blocks(A_ptr: T.handle, count: T.int32):
    A = T.match_buffer(A_ptr, (4, 4), "int32")
    T.device_entry()
    T.cta_id([T.ceildiv(count, 32)])
    t = T.thread_id([32])
    if t < 4:
        A[0, t] = count
)";
  const Build build = build_of(kBlocks);
  GpuKernel kernel(build);
  for (const std::uint64_t count : {320U, 640U, 320U}) {
    ASSERT_TRUE(
        kernel.call(runtime::fake_calls(), 0, nullptr, std::vector{at(0x1000, 4), number(count)}));
    EXPECT_EQ(driver_.launched.grid[0], count / 32);
    EXPECT_THAT(driver_.arguments, ElementsAre(0x1000, count));
  }
  EXPECT_EQ(kernel.plan_count(), 2U);
}

TEST_F(OnGpu, ABoundCallKeepsItsArguments) {
  const Build build = build_of(kScale);
  GpuKernel kernel(build);
  auto bound =
      kernel.bind(runtime::fake_calls(), 0, std::vector{at(0x1000, 5), at(0x2000, 5), number(3)});
  ASSERT_TRUE(bound) << bound.error().text;
  EXPECT_EQ(driver_.launches, 0);
  ASSERT_TRUE(kernel.call(runtime::fake_calls(), 0, nullptr,
                          std::vector{at(0x3000, 5), at(0x4000, 5), number(3)}));
  GpuKernel::Bound moved = *std::move(bound);
  ASSERT_TRUE(moved.launch(nullptr));
  EXPECT_THAT(driver_.arguments, ElementsAre(0x1000, 0x2000));
}

TEST_F(OnGpu, RefusesAsOtherCallsDo) {
  const Build build = build_of(kScale);
  GpuKernel kernel(build);
  const CallArg by = number(3);
  EXPECT_THAT(refusal_of(kernel, {at(0x1000, 5), by, by}), HasSubstr("`Y` was given 3"));
  EXPECT_THAT(refusal_of(kernel, {at(0x1000, 5), at(0x2000, 6), by}), HasSubstr("`n` is 5"));
  EXPECT_THAT(refusal_of(kernel, {at(0x1000, 5), at(0x2000, 5), by}, 1), HasSubstr("no GPU 1"));
  EXPECT_THAT(refusal_of(kernel, {at(0x1002, 5), at(0x2000, 5), by}), HasSubstr("0x1002"));
  EXPECT_EQ(driver_.launches, 0);
  driver_.status["launch"] = 700;
  EXPECT_THAT(refusal_of(kernel, {at(0x1000, 5), at(0x2000, 5), by}),
              HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  driver_.gpus = {{"Fake T4", 7, 5}};
  GpuKernel other(build);
  EXPECT_THAT(refusal_of(other, {at(0x1000, 5), at(0x2000, 5), by}),
              HasSubstr("does not run code for sm_90a"));
}

TEST_F(OnGpu, WaitsAndSaysThatAKernelTrapped) {
  const Build build = build_of(kScale);
  GpuKernel kernel(build);
  ASSERT_TRUE(kernel.call(runtime::fake_calls(), 0, nullptr,
                          std::vector{at(0x1000, 5), at(0x2000, 5), number(3)}));
  EXPECT_TRUE(kernel.wait(runtime::fake_calls(), 0));
  driver_.status["synchronize"] = 700;
  const auto trapped = kernel.wait(runtime::fake_calls(), 0);
  ASSERT_FALSE(trapped);
  EXPECT_EQ(trapped.error().kind, DiagKind::Trapped);
  EXPECT_THAT(trapped.error().text, HasSubstr("running `scale` failed"));
}

TEST_F(OnGpu, RefusesParametersThatAreNotInCOrder) {
  constexpr std::string_view kTurned = R"(
from tvm.tirx.layout import S, TileLayout
@T.prim_func
def turned(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (4, 32), "int32", layout=TileLayout(S[(4, 32) : (1, 4)]))
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[0, t] = t
)";
  const Build build = build_of(kTurned);
  GpuKernel kernel(build);
  CallArg array = at(0x1000, 4);
  array.shape = kept({4, 32});
  EXPECT_THAT(refusal_of(kernel, {array}), HasSubstr("`A` has a layout of its own in memory"));
}

constexpr std::string_view kPtx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 a, .param .u64 b, .param .f32 by)
{
  .reg .b64 %rd<6>;
  .reg .b32 %r<2>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.f32 %f2, [by];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  mul.f32 %f3, %f1, %f2;
  st.global.f32 [%rd5], %f3;
  ret;
}
)";

struct Floats {
  std::vector<float> a = std::vector<float>(32, 1.5F);
  std::vector<float> b = std::vector<float>(32);
  CallArg in = view(a, num::DType::Float32, {32});
  CallArg out = view(b, num::DType::Float32, {32});
};

std::string ptx_refusal(const PtxCallRequest& call, const std::vector<CallArg>& args) {
  const auto report = call_ptx(call, args);
  return report ? "" : report.error().text;
}

TEST(CallPtx, RunsTextOfAnyOrigin) {
  Floats f;
  const PtxCallRequest call{.text = std::string(kPtx), .block = {32, 1, 1}};
  const auto report = call_ptx(call, Args{f.in, f.out, number_arg(2.0)});
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_TRUE(report->run.good());
  EXPECT_THAT(f.b, Each(3.0F));
}

TEST(CallPtx, FindsWhatLeavesAnArray) {
  Floats f;
  const PtxCallRequest call{.text = std::string(kPtx), .block = {64, 1, 1}};
  const auto report = call_ptx(call, Args{f.in, f.out, number_arg(2.0)});
  ASSERT_TRUE(report) << report.error().text;
  ASSERT_FALSE(report->run.findings.empty());
  EXPECT_EQ(report->run.findings[0].check, "bounds");
}

// Stores eight words of shared memory, 7 each, through the map, to column 4 of row 1.
constexpr std::string_view kMapPtx = R"(.version 8.8
.target sm_90a
.address_size 64
.visible .entry put(.param .align 64 .b8 map[128])
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %rd;
  .shared .align 128 .b32 tile[8];
  mov.b64 %rd, map;
  cvta.param.u64 %rd, %rd;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %r0, 4, %r1;
  st.shared.b32 [%r2], 7;
  fence.proxy.async;
  bar.sync 0;
  setp.ne.u32 %p, %r0, 0;
  @%p ret;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd, {4, 1}], [%r1];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
)";

TEST(CallPtx, TakesTensorMapsOfArrays) {
  std::vector<std::int32_t> words(4 * 8);
  CallArg array = view(words, num::DType::Int32, {4, 8});
  TensorMapSettings map{.box = {2, 4}};
  array.map = &map;
  const PtxCallRequest call{.text = std::string(kMapPtx), .block = {8, 1, 1}};
  const auto report = call_ptx(call, Args{array});
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_TRUE(report->run.good());
  for (std::size_t i = 0; i < words.size(); ++i)
    EXPECT_EQ(words[i], i / 8 >= 1 && i / 8 <= 2 && i % 8 >= 4 ? 7 : 0) << i;
  map.box = {2, 3};
  EXPECT_THAT(ptx_refusal(call, {array}), HasSubstr("`box[0]` is 3, which makes rows of 12 bytes"));
  Floats f;
  EXPECT_THAT(ptx_refusal(call, {f.in}), HasSubstr("`map` was given an array: it is .b8[128]"));
  EXPECT_THAT(ptx_refusal({.text = std::string(kPtx), .block = {32, 1, 1}},
                          {array, f.out, number_arg(2.0)}),
              HasSubstr("`a` was given a tensor map: it is .u64"));
}

TEST(CallPtx, RefusesByNameOfTheParameter) {
  Floats f;
  const PtxCallRequest call{.text = std::string(kPtx), .block = {32, 1, 1}};
  EXPECT_THAT(ptx_refusal(call, {f.in, f.out}), HasSubstr("was given 2 arguments: expected 3"));
  EXPECT_THAT(ptx_refusal(call, {f.in, f.out, f.in}), HasSubstr("`by` was given an array"));
  EXPECT_THAT(ptx_refusal(call, {f.in, number_arg(0.5), number_arg(2.0)}),
              HasSubstr("`b` was given 0.5, a float"));
  f.out.is_read_only = true;
  EXPECT_THAT(ptx_refusal(call, {f.in, f.out, number_arg(2.0)}),
              HasSubstr("the kernel has written it"));
  EXPECT_THAT(ptx_refusal({.text = "nonsense"}, {}), HasSubstr("the PTX cannot be read"));
  PtxCallRequest other = call;
  other.kernel = "twise";
  EXPECT_THAT(ptx_refusal(other, {}), HasSubstr("no kernel `twise`; did you mean `twice`?"));
}

}  // namespace
}  // namespace ww::driver::call_test
