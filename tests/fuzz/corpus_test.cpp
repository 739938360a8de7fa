// SPDX-License-Identifier: Apache-2.0
// Every file of tests/fuzz/corpus, once: what fuzzing found stays mended. The programs and modules
// of other tests are run as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "fuzz/targets.h"

namespace ww::fuzz {
namespace {

namespace fs = std::filesystem;

const fs::path kTests = fs::path(WW_SOURCE_DIR) / "tests";

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

// The files that break the law, each with what it says.
std::vector<std::string> broken_files(Law law, const fs::path& folder) {
  std::vector<std::string> broken;
  for (const fs::path& file : files_in(folder))
    if (const std::string what = law(contents(file)); !what.empty())
      broken.push_back(file.filename().string() + ": " + what);
  return broken;
}

class Corpus : public testing::TestWithParam<Target> {};

TEST_P(Corpus, KeepsTheLaw) {
  const fs::path folder = kTests / "fuzz/corpus" / GetParam().name;
  EXPECT_GE(files_in(folder).size(), 3U);
  EXPECT_EQ(broken_files(GetParam().law, folder), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Targets, Corpus, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CorpusOf, OtherTestsKeepsTheLaw) {
  EXPECT_EQ(broken_files(ptx_law, kTests / "ptx/modules"), std::vector<std::string>{});
}

TEST(CorpusOf, EveryFolderHasATarget) {
  for (const auto& entry : fs::directory_iterator(kTests / "fuzz/corpus"))
    EXPECT_NE(find_target(entry.path().filename().string()), nullptr) << entry.path();
}

TEST(CorpusOf, ABrokenLawIsNoticed) {
  const Law refuses_all = [](std::string_view bytes) {
    return "no: " + std::to_string(bytes.size()) + " bytes";
  };
  const fs::path folder = kTests / "ptx/modules";
  const auto broken = broken_files(refuses_all, folder);
  ASSERT_EQ(broken.size(), files_in(folder).size());
  EXPECT_EQ(broken.front().find("calls.ptx: no: "), 0U);
}

TEST(FuzzText, Lines) {
  EXPECT_EQ(read_lines("op slice:0:4 \n\nshape\nx  y"),
            (Lines{{"op", "slice:0:4 "}, {"", ""}, {"shape", ""}, {"x", " y"}}));
  EXPECT_TRUE(has_long_number("n=123456", 5));
  EXPECT_FALSE(has_long_number("n=12345,67890", 5));
}

}  // namespace
}  // namespace ww::fuzz
