// SPDX-License-Identifier: Apache-2.0
// Every file of tests/hostile/corpus, once: what fuzzing found stays mended. The programs and modules
// of other tests are run as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/tape.h"
#include "hostile/targets.h"

namespace ww::fuzz::corpus_test {
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
  const fs::path folder = kTests / "hostile/corpus" / GetParam().name;
  EXPECT_GE(files_in(folder).size(), 3U);
  EXPECT_EQ(broken_files(GetParam().law, folder), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Targets, Corpus, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CorpusOf, OtherTestsKeepsTheLaw) {
  EXPECT_EQ(broken_files(ptx_law, kTests / "ptx/modules"), std::vector<std::string>{});
}

TEST(CorpusOf, EveryFolderHasATarget) {
  for (const auto& entry : fs::directory_iterator(kTests / "hostile/corpus"))
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

// --- by chance -----------------------------------------------------------------------------------

// WW_RANDOM_COUNT and WW_RANDOM_SEED say how many, and which others. Each runs in a process with
// bounds on time and memory.
std::uint64_t count_or(std::uint64_t otherwise) {
  return test::from_environment("WW_RANDOM_COUNT", otherwise);
}
std::uint64_t first_seed() { return test::from_environment("WW_RANDOM_SEED", 0) * 1'000'000; }

TEST(ByChance, BombsKeepTheLaw) {
  for (std::uint64_t i = 0; i < count_or(80); ++i) {
    std::mt19937 engine(static_cast<std::uint32_t>(first_seed() + i));
    std::string bytes(4, ' ');
    for (char& each : bytes) each = static_cast<char>(engine() >> 24U);
    EXPECT_EQ(bounded_law(bomb_law, bytes), "") << bomb_source(bytes);
  }
}

TEST(ByChance, ReaderBombsKeepTheLaw) {
  for (std::uint64_t i = 0; i < count_or(300); ++i) {
    std::mt19937 engine(static_cast<std::uint32_t>(first_seed() + i));
    std::string bytes(6, ' ');
    for (char& each : bytes) each = static_cast<char>(engine() >> 24U);
    EXPECT_EQ(bounded_law(reader_bomb_law, bytes), "") << "seed " << first_seed() + i << "\n"
                                                       << reader_bomb_text(bytes).substr(0, 200);
  }
}

TEST(ByChance, ChangedExamplesKeepTheLaw) {
  std::vector<std::string> examples;
  for (const fs::path& file : files_in(fs::path(WW_SOURCE_DIR) / "examples"))
    if (file.extension() == ".py") examples.push_back(contents(file));
  ASSERT_GE(examples.size(), 20U);
  for (std::uint64_t i = 0; i < count_or(80); ++i) {
    const auto seed = static_cast<std::uint32_t>(first_seed() + i);
    const std::string text = change_program(examples[seed % examples.size()], seed);
    EXPECT_EQ(bounded_law(program_law, text), "") << "seed " << seed << "\n" << text;
  }
}

TEST(ByChance, WhatEndsTheProcessIsNoticed) {
  EXPECT_EQ(bounded_law([](std::string_view) -> std::string { std::abort(); }, ""),
            "it ended by signal 6");
  EXPECT_EQ(
      bounded_law([](std::string_view) -> std::string { throw std::runtime_error("no"); }, ""),
      "it threw: no");
  EXPECT_EQ(bounded_law([](std::string_view bytes) { return "no: " + std::string(bytes); }, "x"),
            "no: x");
  EXPECT_EQ(bounded_law([](std::string_view) { return std::string(); }, "x"), "");
}

TEST(ByChance, ChangesAreNear) {
  const std::string text = "Tx.warp.copy(A[0:32], B[0:32])\n";
  std::set<std::string> seen;
  for (std::uint32_t seed = 0; seed < 50; ++seed) seen.insert(change_program(text, seed));
  EXPECT_GE(seen.size(), 20U);
  EXPECT_TRUE(std::ranges::any_of(
      seen, [](const std::string& each) { return each.starts_with("Tx.cta.copy(A[0:32]"); }));
}

TEST(FuzzText, Lines) {
  EXPECT_EQ(read_lines("op slice:0:4 \n\nshape\nx  y"),
            (Lines{{"op", "slice:0:4 "}, {"", ""}, {"shape", ""}, {"x", " y"}}));
  EXPECT_TRUE(has_long_number("n=123456", 5));
  EXPECT_FALSE(has_long_number("n=12345,67890", 5));
}

}  // namespace
}  // namespace ww::fuzz::corpus_test
