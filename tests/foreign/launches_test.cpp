// SPDX-License-Identifier: Apache-2.0
// The corpus on the virtual GPU: every launch of launches.txt runs with all checks on, finds what
// it should, leaves the digest that was recorded (on a device, where it can run there), and does
// what the kernel's contract says. Needs nvcc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "foreign/contracts.h"
#include "foreign/corpus.h"
#include "foreign/launch_run.h"
#include "foreign/toolchain.h"

namespace ww::corpus::launches_test {
namespace {

constexpr std::string_view kNoTools =
    "needs nvcc, which is not in PATH, /usr/local/cuda/bin or $CUDA_HOME/bin";

const LaunchList& list() {
  static const LaunchList all = read_launches();
  return all;
}

// The files that have a section for a target, as one module.
struct Compiled {
  std::shared_ptr<const sim::Program> program;
  std::string problem;  // why there is none
};

Compiled compile_for(const Toolchain& tools, const std::string& target) {
  std::vector<File> files = all_files();
  std::erase_if(files, [&](const File& file) {
    return std::ranges::none_of(list().sections, [&](const Section& section) {
      return section.file == file.name && section.target == target;
    });
  });
  const TestFolder folder;
  const Outcome outcome = compile_together(tools, files, target, {}, folder.path(), "m");
  if (outcome.status != 0) return {nullptr, outcome.output};
  const sim::LoadResult loaded = sim::load(read_text(folder.path() / "m.ptx"), "m.ptx");
  return {loaded.program, loaded.errors.empty() ? "" : loaded.errors.front().text};
}

const Compiled& compiled_for(const Toolchain& tools, const std::string& target) {
  static std::map<std::string, Compiled> all;
  const auto [at, is_new] = all.try_emplace(target);
  if (is_new) at->second = compile_for(tools, target);
  return at->second;
}

class CorpusLaunches : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    static const auto tools = Toolchain::find();
    if (!tools || !tools->knows(section().target)) GTEST_SKIP() << kNoTools;
    const Compiled& compiled = compiled_for(*tools, section().target);
    ASSERT_NE(compiled.program, nullptr) << compiled.problem;
    module_ = std::make_unique<VirtualModule>(compiled.program);
  }
  static const Section& section() { return list().sections[GetParam()]; }

  std::unique_ptr<VirtualModule> module_;
};

TEST_P(CorpusLaunches, LeaveWhatWasRecorded) {
  for (const LaunchLine& launch : section().launches) {
    const LaunchOutcome outcome = module_->run(launch);
    const std::string where = "launches.txt:" + std::to_string(launch.line) + ": " + launch.kernel;
    EXPECT_EQ(outcome.problem, "") << where;
    if (!outcome.problem.empty()) continue;
    EXPECT_EQ(broken_contract(launch, outcome), "") << where;
    if (launch.digest && launch.approx == 0) {
      EXPECT_EQ(digest_of(launch, outcome), *launch.digest) << where;
    }
  }
}

std::string name_of_section(const testing::TestParamInfo<std::size_t>& info) {
  const Section& section = list().sections[info.param];
  return section.file + "_" + section.target;
}

std::vector<std::size_t> section_numbers() {
  std::vector<std::size_t> numbers(list().sections.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  return numbers;
}

INSTANTIATE_TEST_SUITE_P(Corpus, CorpusLaunches, testing::ValuesIn(section_numbers()),
                         name_of_section);

// --- the list ------------------------------------------------------------------------------------

TEST(CorpusLaunchList, IsReadWithoutErrors) {
  for (const std::string& error : list().errors) ADD_FAILURE() << error;
}

// Every `extern "C" __global__` function of the corpus is launched, or its file is skipped.
TEST(CorpusLaunchList, LaunchesEveryKernel) {
  std::set<std::string> launched;
  for (const Section& section : list().sections)
    for (const LaunchLine& launch : section.launches) launched.insert(launch.kernel);
  for (const File& file : all_files()) {
    if (list().skipped.contains(file.name)) continue;
    const std::string text = read_text(file.path);
    for (std::size_t at = text.find("__global__"); at != std::string::npos;
         at = text.find("__global__", at + 1)) {
      const auto is_launched = [&](const std::string& kernel) {
        return text.substr(at, text.find('{', at) - at).contains(kernel + "(");
      };
      EXPECT_TRUE(std::ranges::any_of(launched, is_launched)) << text.substr(at, 80);
    }
  }
}

TEST(CorpusLaunchList, WrongLinesAreNamed) {
  const LaunchList wrong = parse_launches(
      "launch a block=1\nfile f sm_90a\nlaunch k grid=1 speed=3\n  out f33[4] zero\n  in u32[2] "
      "none\n"
      "launch k block=32 approx=1\n");
  EXPECT_EQ(wrong.errors.size(), 5U);
}

TEST(CorpusLaunchList, SecondLaunchOfAModuleSeesTheFirst) {
  const Section* tables = nullptr;
  for (const Section& section : list().sections)
    if (section.file == "module_tables") tables = &section;
  ASSERT_NE(tables, nullptr);
  EXPECT_GE(std::ranges::count(tables->launches, "tables_count", &LaunchLine::kernel), 2);
}

// --- negative controls ---------------------------------------------------------------------------

LaunchLine two_words() {
  return parse_launches(
             "file f sm_90a\nlaunch vector_widen_i8 block=2\n  out s32[2] zero\n"
             "  in s8[2] list:1,-2\n  u32 2\n")
      .sections[0]
      .launches[0];
}

LaunchOutcome outcome_of(std::initializer_list<std::int32_t> words) {
  LaunchOutcome outcome;
  outcome.outputs.emplace_back(4 * words.size());
  std::memcpy(outcome.outputs[0].data(), words.begin(), 4 * words.size());
  return outcome;
}

TEST(CorpusContracts, FindAWrongElement) {
  EXPECT_EQ(broken_contract(two_words(), outcome_of({1, -2})), "");
  EXPECT_EQ(broken_contract(two_words(), outcome_of({1, 254})), "output 0[1] is 254, not -2");
}

TEST(CorpusDigest, DependsOnEveryByte) {
  const LaunchLine launch = two_words();
  EXPECT_NE(digest_of(launch, outcome_of({1, 2})), digest_of(launch, outcome_of({1, 3})));
  EXPECT_NE(digest_of(launch, outcome_of({1, 2})), digest_of(launch, outcome_of({2, 1})));
  EXPECT_EQ(digest_of(launch, outcome_of({1, 2})), digest_of(launch, outcome_of({1, 2})));
}

TEST(CorpusDigest, DifferencesAreShown) {
  const std::string text = difference(two_words(), outcome_of({1, -2}), outcome_of({1, 5}));
  EXPECT_NE(text.find("output 0[1]: device 0xfffffffe (-2), ours 0x00000005 (5)"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace ww::corpus::launches_test
