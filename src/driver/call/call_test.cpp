// SPDX-License-Identifier: Apache-2.0
// Calls with the caller's own arrays: what fits runs in place, what does not is refused by name.
#include "driver/call/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "driver/call/ptx_call.h"
#include "driver/call/saved.h"
#include "driver/run/device_run.h"

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

template <typename T>
ArrayView view(std::vector<T>& values, num::DType dtype, std::vector<std::int64_t> shape) {
  return {.data = std::as_writable_bytes(std::span(values)).data(),
          .dtype = dtype,
          .shape = std::move(shape)};
}

struct Arrays {
  std::vector<std::int32_t> x = std::vector<std::int32_t>(20);
  std::vector<std::int32_t> y = std::vector<std::int32_t>(20, -1);
  ArrayView in = view(x, num::DType::Int32, {5, 4});
  ArrayView out = view(y, num::DType::Int32, {5, 4});
};

std::string refusal(const std::vector<CallArg>& args, std::string_view text = kScale) {
  const auto checked = check_call(build_of(text).tile(), args);
  return checked ? "" : checked.error().text;
}

TEST(CallParams, SayWhatACallerNeeds) {
  const std::vector<CallParam> params = call_params(build_of(kScale).tile());
  ASSERT_EQ(params.size(), 3U);
  EXPECT_EQ(params[0].name, "X");
  EXPECT_EQ(params[0].variable, "X_ptr");
  EXPECT_THAT(params[0].shape, ElementsAre("n", "4"));
  EXPECT_EQ(params[0].writing, Writing::No);
  EXPECT_EQ(params[1].writing, Writing::Yes);
  EXPECT_FALSE(params[2].is_array);
  EXPECT_EQ(params[2].dtype, num::DType::Int32);
}

TEST(CallOnSim, WritesInPlaceAndKeepsWhatTheKernelDoesNotWrite) {
  Arrays arrays;
  std::iota(arrays.x.begin(), arrays.x.end(), 0);
  arrays.in.is_read_only = true;  // the kernel reads it only
  const auto report = call_on_sim(build_of(kScale), {arrays.in, arrays.out, std::int64_t{10}});
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_TRUE(report->good());
  EXPECT_EQ(report->grid[0], 5);
  EXPECT_EQ(arrays.y[4], 40);
  EXPECT_EQ(arrays.y[3], -1);
}

TEST(CallOnSim, ReportsFindingsWithTheirLines) {
  std::string racy(kScale);
  racy.replace(racy.find("tid < 3"), 7, "tid < 9");  // beyond the row, into that of another block
  Arrays arrays;
  const auto report = call_on_sim(build_of(racy), {arrays.in, arrays.out, std::int64_t{1}});
  ASSERT_TRUE(report) << report.error().text;
  ASSERT_FALSE(report->findings.empty());
  EXPECT_EQ(report->findings[0].at.line, 11U);
}

TEST(CallOnSim, RefusesOptionsThatCannotBeRead) {
  Arrays arrays;
  const std::vector<CallArg> args = {arrays.in, arrays.out, std::int64_t{1}};
  EXPECT_FALSE(call_on_sim(build_of(kScale), args, {.checks = "rice"}));
  EXPECT_FALSE(call_on_sim(build_of(kScale), args, {.schedule = "never"}));
  EXPECT_FALSE(call_on_sim(build_of(kScale), args, {.limits = "patience=3"}));
}

TEST(CheckCall, NamesTheParameterWithWhatCameAndWhatWasExpected) {
  Arrays a;
  const std::int64_t by = 1;
  std::vector<float> floats(20);
  const ArrayView wrong_type = view(floats, num::DType::Float32, {5, 4});
  ArrayView wrong_rank = a.out;
  wrong_rank.shape = {20};
  ArrayView wrong_shape = a.out;
  wrong_shape.shape = {4, 5};
  ArrayView turned = a.out;
  turned.strides = {4, 20};
  ArrayView constant = a.out;
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
  EXPECT_EQ(refusal({a.in, a.out, 0.5}),
            "`by` was given 0.5, a float: expected a number of type int32");
  EXPECT_EQ(refusal({a.in, a.out, std::int64_t{1} << 40}),
            "`by` was given 1099511627776: expected a number of type int32");
}

TEST(CheckCall, TakesStridesOfExtentsThatAreOne) {
  Arrays a;
  a.out.shape = {1, 4};
  a.out.strides = {77, 4};
  a.in.shape = {1, 4};
  EXPECT_EQ(refusal({a.in, a.out, std::int64_t{1}}), "");
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
  const ArrayView packed = view(bytes, num::DType::Uint8, {32});
  EXPECT_EQ(refusal({packed, packed}, kNibbles), "");
  const ArrayView short_one = view(bytes, num::DType::Uint8, {31});
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
  ASSERT_TRUE(call_on_sim(build, {first.in, first.out, std::int64_t{7}}));
  const auto report = call_on_sim(*loaded, {second.in, second.out, std::int64_t{7}});
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
  ArrayView in = view(a, num::DType::Float32, {32});
  ArrayView out = view(b, num::DType::Float32, {32});
};

std::string ptx_refusal(const PtxCall& call, const std::vector<CallArg>& args) {
  const auto report = call_ptx_on_sim(call, args);
  return report ? "" : report.error().text;
}

TEST(CallPtxOnSim, RunsTextOfAnyOrigin) {
  Floats f;
  const PtxCall call{.text = std::string(kPtx), .block = {32, 1, 1}};
  const auto report = call_ptx_on_sim(call, {f.in, f.out, 2.0});
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_TRUE(report->good());
  EXPECT_THAT(f.b, Each(3.0F));
}

TEST(CallPtxOnSim, FindsWhatLeavesAnArray) {
  Floats f;
  const PtxCall call{.text = std::string(kPtx), .block = {64, 1, 1}};
  const auto report = call_ptx_on_sim(call, {f.in, f.out, 2.0});
  ASSERT_TRUE(report) << report.error().text;
  ASSERT_FALSE(report->findings.empty());
  EXPECT_EQ(report->findings[0].check, "bounds");
}

TEST(CallPtxOnSim, RefusesByNameOfTheParameter) {
  Floats f;
  const PtxCall call{.text = std::string(kPtx), .block = {32, 1, 1}};
  EXPECT_THAT(ptx_refusal(call, {f.in, f.out}), HasSubstr("was given 2 arguments: expected 3"));
  EXPECT_THAT(ptx_refusal(call, {f.in, f.out, f.in}), HasSubstr("`by` was given an array"));
  EXPECT_THAT(ptx_refusal(call, {f.in, 0.5, 2.0}), HasSubstr("`b` was given 0.5, a float"));
  f.out.is_read_only = true;
  EXPECT_THAT(ptx_refusal(call, {f.in, f.out, 2.0}), HasSubstr("the kernel has written it"));
  EXPECT_THAT(ptx_refusal({.text = "nonsense"}, {}), HasSubstr("the PTX cannot be read"));
  PtxCall other = call;
  other.kernel = "twise";
  EXPECT_THAT(ptx_refusal(other, {}), HasSubstr("no kernel `twise`; did you mean `twice`?"));
}

}  // namespace
}  // namespace ww::driver::call_test
