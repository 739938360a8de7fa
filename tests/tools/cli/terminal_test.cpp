// SPDX-License-Identifier: Apache-2.0
// The program on a terminal, and that pipes see nothing of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tools/cli/program.h"

namespace ww::cli_test::terminal_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr char kEscape = '\x1b';

const std::vector<std::string> kPlainTerminal = {"TERM=xterm", "NO_COLOR", "COLUMNS"};

// Both in the folder of the sources: the length of its path must not matter.
Setting pipes() { return {.environment = {}, .folder = WW_SOURCE_DIR}; }
Setting terminal(int columns, std::vector<std::string> more = {}) {
  Setting setting{.environment = kPlainTerminal, .folder = WW_SOURCE_DIR, .columns = columns};
  setting.environment.insert(setting.environment.end(), more.begin(), more.end());
  return setting;
}

std::vector<std::string> explain(const std::string& extra = "") {
  std::vector<std::string> words = {"explain", "examples/basics/ldstmatrix.py"};
  if (!extra.empty()) words.insert(words.end(), {"--color", extra});
  return words;
}

bool is_colored(const std::string& text) { return text.find(kEscape) != std::string::npos; }

std::string without_colors(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == kEscape)
      i = text.find('m', i);
    else
      out += text[i];
  }
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string words_joined(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string word; in >> word;) out += word + " ";
  return out;
}

TEST(Terminal, ReportsAreColoured) {
  const Ran ran = run(explain(), terminal(200));
  EXPECT_TRUE(is_colored(ran.out));
  EXPECT_THAT(ran.out, HasSubstr("\x1b[32mchosen\x1b[0m: ldmatrix"));
  EXPECT_EQ(without_colors(ran.out), run(explain(), pipes()).out);
}

TEST(Terminal, WhenToColour) {
  EXPECT_FALSE(is_colored(run(explain(), terminal(200, {"NO_COLOR=1"})).out));
  EXPECT_TRUE(is_colored(run(explain(), terminal(200, {"NO_COLOR="})).out));
  EXPECT_FALSE(is_colored(run(explain(), terminal(200, {"TERM=dumb"})).out));
  EXPECT_FALSE(is_colored(run(explain("never"), terminal(200)).out));
  EXPECT_TRUE(is_colored(run(explain("always"), terminal(200, {"NO_COLOR=1"})).out));
  EXPECT_FALSE(is_colored(run(explain("auto"), pipes()).out));
  EXPECT_TRUE(is_colored(run(explain("always"), pipes()).out));
  EXPECT_EQ(without_colors(run(explain("always"), pipes()).out), run(explain(), pipes()).out);
}

TEST(Terminal, PipesAreTheSameEverywhere) {
  const Ran plain = run(explain(), pipes());
  EXPECT_EQ(
      run(explain(), {.environment = {"COLUMNS=40", "TERM=xterm"}, .folder = WW_SOURCE_DIR}).out,
      plain.out);
  const std::vector<std::string> layout = {"layout", "row_major(4,64)"};
  EXPECT_EQ(run(layout, {.environment = {"COLUMNS=40"}}).out, run(layout).out);
}

TEST(Terminal, LinesEndWhereItEnds) {
  for (const int columns : {60, 80, 100}) {
    const Ran ran = run(explain("never"), terminal(columns));
    for (const std::string& line : lines_of(ran.out)) {
      const bool is_source = line.starts_with("    T");
      const bool is_row = line.starts_with("  dst") || line.starts_with("  src");
      if (is_source || is_row) continue;
      EXPECT_LE(line.size(), static_cast<std::size_t>(columns)) << line;
    }
    EXPECT_EQ(words_joined(ran.out), words_joined(run(explain(), pipes()).out));
  }
  EXPECT_GT(lines_of(run(explain("never"), terminal(60)).out).size(),
            lines_of(run(explain(), pipes()).out).size());
}

// A path is a word: longer than the terminal is wide, it stays whole, and is broken at its spaces
// only.
TEST(Terminal, LongPathsStayWhole) {
  const Folder folder;
  const std::string deep = "a folder/" + std::string(90, 'd') + "/\u00e4";
  fs::create_directories(fs::path(folder.path()) / deep);
  fs::copy_file(WW_SOURCE_DIR "/examples/basics/ldstmatrix.py",
                fs::path(folder.path()) / deep / "k.py");
  const std::vector<std::string> words = {"explain", deep + "/k.py"};
  Setting setting = terminal(60);
  setting.folder = folder.path();
  const std::string broken = without_colors(run(words, setting).out);
  EXPECT_THAT(broken, HasSubstr("folder/" + std::string(90, 'd') + "/\u00e4/k.py"));
  setting.columns = 0;
  EXPECT_EQ(words_joined(broken), words_joined(run(words, setting).out));
}

TEST(Terminal, ColumnsOfTheEnvironmentComeFirst) {
  EXPECT_EQ(run(explain(), terminal(200, {"COLUMNS=60"})).out, run(explain(), terminal(60)).out);
  EXPECT_EQ(run(explain(), terminal(60, {"COLUMNS=many"})).out, run(explain(), terminal(60)).out);
}

TEST(Terminal, TablesOfLayoutsFit) {
  const std::vector<std::string> layout = {"layout", "row_major(4,64)"};
  const auto widest = [](const std::string& text) {
    std::size_t width = 0;
    for (const std::string& line : lines_of(text)) width = std::max(width, line.size());
    return width;
  };
  EXPECT_LE(widest(without_colors(run(layout, terminal(80)).out)), 80U);
  EXPECT_GT(widest(run(layout).out), 80U);
  std::vector<std::string> wide = layout;
  wide.insert(wide.end(), {"--width", "160"});
  EXPECT_EQ(without_colors(run(wide, terminal(80)).out), run(layout).out);
}

TEST(Terminal, ErrorsAreColoured) {
  const Ran ran = run({"run", "x.py", "--arch", "sm_90a"}, terminal(200));
  EXPECT_THAT(ran.out, HasSubstr("\x1b[1;31merror:\x1b[0m unknown option"));
  EXPECT_THAT(without_colors(ran.out), HasSubstr("did you mean `--target`?"));
  EXPECT_EQ(without_colors(ran.out), run({"run", "x.py", "--arch", "sm_90a"}).err);
}

// Code is for copying: whatever the terminal, it is as it is.
TEST(Terminal, CodeAndJsonAreLeftAlone) {
  const std::string file = WW_SOURCE_DIR "/examples/basics/ldstmatrix.py";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"compile", file, "--emit", "ptx"},
        {"explain", file, "--json"},
        {"examples", "show", "gemm_mma"},
        {"completion", "bash"}})
    EXPECT_EQ(run(words, terminal(40)).out, run(words).out) << words[0];
}

TEST(Terminal, EveryReportKeepsItsWords) {
  const std::string examples = WW_SOURCE_DIR "/examples/";
  const std::vector<std::vector<std::string>> commands = {
      {"run", examples + "findings/race.py", "--device", "sim"},
      {"compile", examples + "transpose.py", "--emit", "explain"},
      {"sim", examples + "ptx/mistakes.ptx", "--kernel", "race", "--grid", "1", "--block", "64"},
      {"tune", examples + "transpose.py", "--kernel", "build(tile=?)", "--space", "tile=32,64",
       "--device", "sim"},
      {"examples"}};
  for (const std::vector<std::string>& words : commands) {
    std::string seen = without_colors(run(words, terminal(72)).out);
    // The line of progress is written over and gone at the end.
    for (std::size_t at = 0; (at = seen.find('\r')) != std::string::npos;)
      seen.erase(at, seen.find_first_of("\r\n", at + 1) - at);
    const Ran plain = run(words);
    EXPECT_EQ(words_joined(seen), words_joined(plain.out + plain.err)) << words[0];
  }
}

TEST(Terminal, BenchmarksFollow) {
  const std::vector<std::string> bench = {"bench",         "layout", "--filter", "^parse/4$",
                                          "--repetitions", "2",      "--color"};
  const auto with = [&](const char* when) {
    std::vector<std::string> words = bench;
    words.emplace_back(when);
    return run(words, {.environment = {kQuickBenchmarks}});
  };
  const Ran never = with("never");
  if (never.err.find("is not here") != std::string::npos) GTEST_SKIP() << "no benchmarks built";
  EXPECT_FALSE(is_colored(never.out));
  EXPECT_TRUE(is_colored(with("always").out));
}

}  // namespace
}  // namespace ww::cli_test::terminal_test
