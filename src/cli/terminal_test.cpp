// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/printable.h"

namespace ww::cli::terminal_test {
namespace {

namespace fs = std::filesystem;

std::string without_colors(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\x1b[") == 0)
      i = text.find('m', i);
    else
      out += text[i];
  }
  return out;
}

std::string colored(const std::string& text, Look look = Look::Report) {
  return dressed(text, look, {.colored = true});
}

TEST(Dressed, FactsAndVerdicts) {
  EXPECT_EQ(colored("target      sm_90a\n"), "\x1b[1mtarget\x1b[0m      sm_90a\n");
  EXPECT_EQ(colored("outcome     finished\n"),
            "\x1b[1moutcome\x1b[0m     \x1b[32mfinished\x1b[0m\n");
  EXPECT_EQ(colored("outcome     trapped\n"),
            "\x1b[1moutcome\x1b[0m     \x1b[1;31mtrapped\x1b[0m\n");
  EXPECT_EQ(colored("expect `B == A` holds for 3 elements"),
            "expect `B == A` \x1b[32mholds\x1b[0m for 3 elements");
  EXPECT_EQ(colored("expect `B == A` fails for 3 of 4"),
            "expect `B == A` \x1b[1;31mfails\x1b[0m for 3 of 4");
  EXPECT_EQ(colored("  reg         not asked"), "  reg         \x1b[2mnot asked\x1b[0m");
  EXPECT_EQ(colored("  dst  R[0:8, 0:4]  float16\n"), "  dst  R[0:8, 0:4]  float16\n");
}

TEST(Dressed, Diagnostics) {
  EXPECT_EQ(
      colored("k.py:3:5: error: no `x` [UnknownName]\n    y = x\n        ^\n", Look::Diagnostics),
      "\x1b[1mk.py:3:5:\x1b[0m \x1b[1;31merror:\x1b[0m no `x` \x1b[2m[UnknownName]\x1b[0m\n"
      "    y = x\n        \x1b[32m^\x1b[0m\n");
  EXPECT_EQ(colored("  note: see `x`\n", Look::Diagnostics), "  \x1b[36mnote:\x1b[0m see `x`\n");
}

TEST(Dressed, PathsWithSpaces) {
  EXPECT_EQ(colored("my k.py:3:5: error: no `x`\n", Look::Diagnostics),
            "\x1b[1mmy k.py:3:5:\x1b[0m \x1b[1;31merror:\x1b[0m no `x`\n");
  EXPECT_EQ(colored("race: my k.py:3:5: writes"),
            "\x1b[1;31mrace\x1b[0m: \x1b[1mmy k.py:3:5\x1b[0m: writes");
}

// Whatever a name or a source brings along, the only sequences are ours.
TEST(Dressed, NothingElseReachesTheTerminal) {
  for (const Look look : {Look::Report, Look::Table, Look::Diagnostics}) {
    EXPECT_EQ(dressed("a\x1b[2J\tb\xff\n", look, {}), "a\\x1b[2J\tb\\xff\n");
    EXPECT_EQ(dressed("a\x1b[2J\tb\xff\n", look, {.colored = true, .columns = 80}),
              "a\\x1b[2J\tb\\xff\n");
  }
  EXPECT_EQ(dressed("a\x1b[2J\n", Look::Plain, {}), "a\x1b[2J\n");
}

TEST(Dressed, FindingsAndTables) {
  EXPECT_EQ(colored("race: line 63: writes"),
            "\x1b[1;31mrace\x1b[0m: \x1b[1mline 63\x1b[0m: writes");
  EXPECT_EQ(colored("race: a.py:3:5: writes"),
            "\x1b[1;31mrace\x1b[0m: \x1b[1ma.py:3:5\x1b[0m: writes");
  EXPECT_EQ(dressed("not injective: x and y\n", Look::Table, {.colored = true, .columns = 10}),
            "\x1b[1;31mnot injective\x1b[0m: x and y\n");
}

TEST(Dressed, PlainTextStays) {
  EXPECT_EQ(dressed("outcome     finished\n", Look::Plain, {.colored = true, .columns = 4}),
            "outcome     finished\n");
  EXPECT_EQ(dressed("outcome     finished\n", Look::Report, {}), "outcome     finished\n");
}

TEST(Dressed, BreaksAtSpaces) {
  const auto at = [](const char* text, std::size_t columns) {
    return dressed(text, Look::Report, {.columns = columns});
  };
  EXPECT_EQ(at("one two three four\n", 40), "one two three four\n");
  EXPECT_EQ(at("one two three four\n", 18), "one two three four\n");
  EXPECT_EQ(at("one two three four\n", 17), "one two three\n    four\n");
  EXPECT_EQ(at("one two three four five six\n", 13), "one two three\n    four five\n    six\n");
  // Behind a label; what has no place to break stays whole, source and rows of tables too.
  EXPECT_EQ(at("facts  one two three four\n", 20), "facts  one two three\n       four\n");
  EXPECT_EQ(at("onetwothreefour\n", 5), "onetwothreefour\n");
  EXPECT_EQ(at("    a = b + c + d\n", 8), "    a = b + c + d\n");
  EXPECT_EQ(at("1  two words  three\n", 8), "1  two words  three\n");
  // Characters, not bytes.
  EXPECT_EQ(at("\u00e9\u00e9\u00e9 \u00e9\u00e9\u00e9\n", 7),
            "\u00e9\u00e9\u00e9 \u00e9\u00e9\u00e9\n");
}

// Colours add sequences and change nothing, whatever the text is: all that the program is known to
// print, taken for either kind.
TEST(Dressed, ColoursAreAllThatColourAdds) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(WW_SOURCE_DIR "/tests/golden/cli")) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    text.resize(std::min<std::size_t>(text.size(), 20000));
    text = printable(without_colors(text), Breaks::Keep);
    for (const Look look : {Look::Report, Look::Diagnostics})
      ASSERT_EQ(without_colors(colored(text, look)), text) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 150U);
}

TEST(Dressed, BreaksAreAllThatWidthAdds) {
  for (const auto& entry : fs::directory_iterator(WW_SOURCE_DIR "/tests/golden/cli")) {
    std::ifstream in(entry.path(), std::ios::binary);
    for (std::string line; std::getline(in, line);) {
      line = printable(without_colors(line), Breaks::Keep);
      std::string broken = dressed(line, Look::Report, {.columns = 40});
      for (std::size_t at = 0; (at = broken.find('\n')) != std::string::npos;)
        broken.replace(at, broken.find_first_not_of(' ', at + 1) - at, " ");
      ASSERT_EQ(broken, line) << entry.path();
    }
  }
}

TEST(Dressed, LongLinesAreNotMatched) {
  const std::string line = "outcome     " + std::string(200000, 'x') + "\n";
  EXPECT_EQ(colored(line), line);
}

}  // namespace
}  // namespace ww::cli::terminal_test
