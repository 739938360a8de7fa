// SPDX-License-Identifier: Apache-2.0
// Tuning on the virtual GPU, and on a driver that takes kernels and tells the times it is told.
#include "driver/tune/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/process.h"
#include "driver/report_parts.h"
#include "json/json.h"
#include "runtime/test_driver.h"

namespace ww::driver::tune_tune_test {
namespace {

using runtime::fake;
using testing::ElementsAre;
using testing::HasSubstr;

TuneRequest transposes(const std::string& tiles) {
  TuneRequest out;
  out.source.path = WW_SOURCE_DIR "/examples/transpose.py";
  out.source.kernel = "build(tile=?)";
  out.spaces = {"tile=" + tiles};
  out.device = DeviceKind::Sim;
  return out;
}

std::vector<std::string> ranked(const TuneReport& report) {
  std::vector<std::string> out;
  for (const TuneEntry& entry : report.entries) out.push_back(entry.kernel);
  return out;
}

// --- the virtual GPU ---

TEST(Tune, RanksByTheEstimateAndDropsWhatDoesNotCompile) {
  TuneRequest request = transposes("128,96,64");
  request.arguments.expects = {"B == A.T"};
  const TuneOutcome outcome = tune(request);
  ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  const TuneReport& report = *outcome.report;
  EXPECT_THAT(ranked(report), ElementsAre("build(tile=64)", "build(tile=128)"));
  // A block reads and writes each element once: 64 · 64 · 2 bytes, in sectors of 32.
  EXPECT_EQ(report.entries[0].work->blocks, 4U);
  EXPECT_EQ(report.entries[0].work->sectors, 4U * 2 * 64 * 64 * 2 / 32);
  EXPECT_EQ(report.entries[0].size.shared, 64 * 64 * 2);
  ASSERT_EQ(report.drops.size(), 1U);
  EXPECT_EQ(report.drops[0].stage, DropStage::Compile);
  EXPECT_EQ(report.drops[0].kernel, "build(tile=96)");
}

// --- parts of a space ---

std::string part(TuneRequest request, std::vector<std::size_t> numbers) {
  request.numbers = std::move(numbers);
  const TuneOutcome outcome = tune(request);
  EXPECT_TRUE(outcome.report.has_value()) << outcome.errors;
  return save_trials(*outcome.report);
}

std::string errors_of(TuneRequest request, std::vector<std::string> trials) {
  request.trials = std::move(trials);
  return tune(request).errors;
}

TEST(Trials, OfPartsGiveTheReportOfTheWhole) {
  TuneRequest request = transposes("128,96,64");
  request.arguments.expects = {"B == A.T"};
  std::string errors;
  EXPECT_EQ(tune_size(request, errors), 3U);
  const std::string wanted = json_text(tune_json(*tune(request).report));
  TuneRequest whole = request;
  whole.trials = {part(request, {1}), part(request, {2, 0})};
  EXPECT_EQ(json_text(tune_json(*tune(whole).report)), wanted);
  whole.trials = {part(request, {2}), part(request, {0}), part(request, {1})};
  EXPECT_EQ(json_text(tune_json(*tune(whole).report)), wanted);
}

TEST(Trials, ThatDoNotFitAreRefused) {
  const TuneRequest request = transposes("128,64");
  const std::string first = part(request, {0});
  EXPECT_THAT(errors_of(request, {first}), HasSubstr("`build(tile=64)` was tried 0 times"));
  EXPECT_THAT(errors_of(request, {first, first}), HasSubstr("was tried 2 times, expected once"));
  EXPECT_THAT(errors_of(request, {"{}"}), HasSubstr("trials that cannot be read"));
  EXPECT_THAT(errors_of(request, {"no JSON"}), HasSubstr("trials that cannot be read"));
  Json unknown = Json::parse(part(request, {1})).value();
  unknown["device"] = 99;  // a number that no kind of device has
  EXPECT_THAT(errors_of(request, {unknown.dump()}), HasSubstr("trials that cannot be read"));
  EXPECT_THAT(errors_of(transposes("64"), {part(request, {1})}), HasSubstr("of another space"));
  std::string elsewhere = part(request, {1});
  elsewhere.replace(elsewhere.find("the virtual GPU"), 15, "a virtual dream");
  EXPECT_THAT(errors_of(request, {first, elsewhere}), HasSubstr("costs cannot be compared"));
  TuneRequest beyond = request;
  beyond.numbers = {7};
  EXPECT_THAT(tune(beyond).errors, HasSubstr("combination 7 of 2"));
}

TEST(Tune, DropsWhatIsWrong) {
  TuneRequest request = transposes("64,128");
  request.arguments.expects = {"B == A"};
  const TuneOutcome outcome = tune(request);
  ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
  EXPECT_TRUE(outcome.report->entries.empty());
  ASSERT_EQ(outcome.report->drops.size(), 2U);
  EXPECT_EQ(outcome.report->drops[1].stage, DropStage::Expect);
  EXPECT_THAT(outcome.report->drops[1].reason, HasSubstr("`B == A` does not hold"));
}

TEST(Tune, ArgumentsThatFitNoKernelAreAUsersError) {
  TuneRequest request = transposes("96,64,128");
  request.arguments.args = {"Z=zeros"};
  const TuneOutcome outcome = tune(request);
  EXPECT_FALSE(outcome.report.has_value());
  EXPECT_THAT(outcome.errors, HasSubstr("has no parameter `Z`"));
}

TEST(Tune, StopsWhenToldTo) {
  TuneRequest request = transposes("64,128");
  request.progress = [](std::uint64_t done, std::uint64_t) { return done == 0; };
  EXPECT_THAT(tune(request).errors, HasSubstr("stopped after 1 of 2 combinations"));
}

TEST(Tune, RefusesAnOutputThatCannotBeWrittenBeforeItBegins) {
  TuneRequest request = transposes("64");
  request.output = "/no/such/folder/best.json";
  request.progress = [](std::uint64_t, std::uint64_t) {
    ADD_FAILURE() << "the search has begun";
    return true;
  };
  const TuneOutcome outcome = tune(request);
  EXPECT_FALSE(outcome.report.has_value());
  EXPECT_THAT(outcome.errors, HasSubstr("cannot write `/no/such/folder/best.json`"));
}

TEST(Tune, LeavesAnOutputAloneWhereNothingIsRight) {
  const ScratchFolder folder = ScratchFolder::make().value();
  TuneRequest request = transposes("64");
  request.output = folder.file("best.json");
  std::ofstream(request.output) << "old";
  request.arguments.expects = {"B == A"};
  EXPECT_TRUE(tune(request).report.has_value());
  std::string text;
  std::ifstream(request.output) >> text;
  EXPECT_EQ(text, "old");
}

TEST(Tune, SaysThatTheBestCouldNotBeWritten) {
  const ScratchFolder folder = ScratchFolder::make().value();
  TuneRequest request = transposes("64");
  request.output = folder.file("sub/best.json");
  std::filesystem::create_directory(folder.file("sub"));
  request.progress = [&](std::uint64_t, std::uint64_t) {
    std::filesystem::remove(folder.file("sub"));
    return true;
  };
  const TuneOutcome outcome = tune(request);
  ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
  EXPECT_EQ(outcome.report->output, "");
  EXPECT_THAT(outcome.errors, HasSubstr("sub/best.json"));
}

TEST(Tune, TakesNoRepetitionsWithoutAGpu) {
  TuneRequest request = transposes("64");
  request.repetitions = 5;
  EXPECT_EQ(tune(request).errors,
            "error: `--repetitions` without a GPU: the virtual GPU has no clock [BadArgument]\n"
            "  note: `--device cuda` runs on a GPU and takes its time\n");
}

TEST(Tune, NeedsThePtxasThatItIsToAsk) {
  TuneRequest request = transposes("64");
  request.ptxas = runtime::ToolSearch{.given = "/nowhere/ptxas"};
  EXPECT_THAT(tune(request).errors,
              HasSubstr("`/nowhere/ptxas`, given as `ptxas`, is not a program"));
}

/// A program that stands for ptxas.
std::string ptxas_that(const ScratchFolder& folder, const std::string& body) {
  const std::string path = folder.file("ptxas");
  std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(Tune, AsksPtxasForRegisters) {
  const ScratchFolder folder = ScratchFolder::make().value();
  TuneRequest request = transposes("64");
  request.ptxas = runtime::ToolSearch{
      .given =
          ptxas_that(folder,
                     "echo '24 bytes stack frame, 20 bytes spill stores, 28 bytes spill loads'\n"
                     "echo 'ptxas info    : Used 40 registers, used 1 barriers'")};
  const TuneOutcome outcome = tune(request);
  ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
  EXPECT_THAT(
      tune_text(*outcome.report, {}),
      HasSubstr("registers  shared  local  spills\n"
                "   1    64       512      1.00  global         40    8192     24      48\n"));
  EXPECT_THAT(json_text(tune_json(*outcome.report)), HasSubstr("\"spill_bytes\": 48"));
}

TEST(Tune, TellsWhatPtxasRemarks) {
  const ScratchFolder folder = ScratchFolder::make().value();
  TuneRequest request = transposes("64");
  request.ptxas = runtime::ToolSearch{
      .given = ptxas_that(folder,
                          "echo '0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'\n"
                          "echo 'ptxas info    : (C7511) wgmma serialized'\n"
                          "echo 'ptxas info    : Used 40 registers, used 1 barriers'")};
  const TuneOutcome outcome = tune(request);
  ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
  EXPECT_THAT(tune_text(*outcome.report, {}),
              HasSubstr("\nslow\n  rank 1: ptxas info    : (C7511) wgmma serialized\n"
                        "    not enough registers"));
}

TEST(Tune, DropsWhatPtxasRefuses) {
  const ScratchFolder folder = ScratchFolder::make().value();
  TuneRequest request = transposes("64");
  request.ptxas = runtime::ToolSearch{.given = ptxas_that(folder, "exit 1")};
  const TuneOutcome outcome = tune(request);
  ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
  ASSERT_EQ(outcome.report->drops.size(), 1U);
  EXPECT_EQ(outcome.report->drops[0].stage, DropStage::Compile);
  EXPECT_THAT(outcome.report->drops[0].reason, HasSubstr("refused the PTX"));
}

// --- a GPU ---

class TuneOnGpu : public testing::Test {
 protected:
  void SetUp() override { fake = &driver_; }
  void TearDown() override { fake = nullptr; }

  // The first of three times does not count.
  TuneReport tuned(TuneRequest request) {
    request.device = DeviceKind::Auto;
    request.repetitions = 2;
    request.driver = &calls_;
    TuneOutcome outcome = tune(request);
    EXPECT_TRUE(outcome.report.has_value()) << outcome.errors;
    return outcome.report.value_or(TuneReport{});
  }

  runtime::FakeDriver driver_;
  Result<runtime::CudaCalls> calls_ = runtime::fake_calls();
};

TEST_F(TuneOnGpu, RanksByTheMedianTime) {
  driver_.milliseconds = {0, 4, 2, 0, 1, 1};
  driver_.function = {{1, 512}, {3, 8}, {4, 32}};
  const TuneReport report = tuned(transposes("64,128"));
  EXPECT_EQ(report.device, DeviceKind::Cuda);
  EXPECT_EQ(report.device_name, "Fake H200 (sm_90), driver 13.0");
  EXPECT_THAT(ranked(report), ElementsAre("build(tile=128)", "build(tile=64)"));
  EXPECT_DOUBLE_EQ(report.entries[1].timing->median, 0.003);
  EXPECT_EQ(report.entries[0].size.registers, 32);
  EXPECT_EQ(report.entries[0].size.local, 8);
  EXPECT_EQ(report.entries[0].size.shared, 512);
  const std::string text = tune_text(report, {});
  EXPECT_THAT(text, HasSubstr("time        the median of 2 launches\n"));
  EXPECT_THAT(text, HasSubstr("rank  tile  time/us  relative  registers  shared  local\n"
                              "   1   128  1000.00      1.00         32     512      8\n"
                              "   2    64  3000.00      3.00         32     512      8\n"));
  EXPECT_THAT(json_text(best_json(report)), HasSubstr("\"time_us\": 1000.0,"));
}

TEST_F(TuneOnGpu, EqualTimesKeepTheOrderOfTheSpace) {
  driver_.milliseconds = {1};
  EXPECT_THAT(ranked(tuned(transposes("128,64"))),
              ElementsAre("build(tile=128)", "build(tile=64)"));
  EXPECT_THAT(ranked(tuned(transposes("64,128"))),
              ElementsAre("build(tile=64)", "build(tile=128)"));
}

// Each kernel is launched twice to see what it writes; the third launch is the second kernel's.
TEST_F(TuneOnGpu, GoesOnWithAFreshContextAfterAKernelThatFails) {
  calls_->event_query = [](void*) { return fake->launches == 2 + 3 + 1 ? 700 : 0; };
  TuneRequest request = transposes("64");
  request.source.kernel = "build(tile=64, m=?)";
  request.spaces = {"m=128,256,512"};
  const TuneReport report = tuned(request);
  EXPECT_THAT(ranked(report), ElementsAre("build(tile=64, m=128)", "build(tile=64, m=512)"));
  ASSERT_EQ(report.drops.size(), 1U);
  EXPECT_EQ(report.drops[0].stage, DropStage::Run);
  EXPECT_THAT(report.drops[0].reason, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_EQ(driver_.reset_contexts, 1);
}

TEST_F(TuneOnGpu, TakesTheVirtualGpuWhereTheRealOneDoesNotFit) {
  TuneRequest request = transposes("64");
  request.source.target = "sm_100a";
  request.device = DeviceKind::Auto;
  request.driver = &calls_;
  const TuneOutcome outcome = tune(request);
  ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
  EXPECT_EQ(outcome.report->device, DeviceKind::Sim);
  EXPECT_EQ(outcome.report->remark, "no GPU here runs code for `sm_100a`");
  request.repetitions = 5;
  EXPECT_THAT(tune(request).errors,
              HasSubstr("without a GPU: the virtual GPU has no clock [BadArgument]\n"
                        "  note: no GPU here runs code for `sm_100a`"));
  request.device = DeviceKind::Cuda;
  EXPECT_THAT(tune(request).errors, HasSubstr("no GPU here runs code for `sm_100a`"));
}

}  // namespace
}  // namespace ww::driver::tune_tune_test
