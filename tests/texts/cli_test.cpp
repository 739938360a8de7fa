// SPDX-License-Identifier: Apache-2.0
// Runs the built program and compares what it prints with tests/golden/cli/*.txt: a case per file, or
// several, each after a line with its name:
//
//   #=== unknown_axis
//   #: args = layout 'S[(8,4):(4,1)]' --shape 8,4   split as a shell would; '...' and "..." quote
//   #: exit = 2                                     absent: 0
//   #--- stdout                                     the exact text; absent: nothing is printed
//   #--- stderr contains                            each line occurs in an output line, in order
//   #--- file picture.svg                           a file written; the program runs in a new
//                                                   folder
//   #--- input kernel.ptx                           a file that is there before, and stays as it is
//
// A case without inputs has those of the case before it.
//
// Lines before the first section that do not begin with `#:` are remarks. BLESS=1 rewrites the
// exact sections and the exit status with what was seen; review the difference like code.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/golden_file.h"

namespace ww::cli_golden_test {
namespace {

namespace fs = std::filesystem;

// --- the golden file -----------------------------------------------------------------------------

struct Section {
  std::string name = {};  // stdout, stderr, file NAME or input NAME
  bool contains = false;
  std::string text = {};

  [[nodiscard]] bool is_input() const { return name.starts_with("input "); }
  [[nodiscard]] std::string input_name() const { return name.substr(6); }
};

struct Golden {
  std::string remarks;
  std::string args;
  int exit = 0;
  std::vector<Section> sections;
};

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1);
    lines.emplace_back(text.substr(0, end + 1));
    if (lines.back().back() == '\n') lines.back().pop_back();
    text.remove_prefix(end + 1);
  }
  return lines;
}

Section parse_section_line(std::string_view line) {
  constexpr std::string_view kContains = " contains";
  Section section{.name = std::string(line.substr(5))};
  if (section.name.ends_with(kContains)) {
    section.contains = true;
    section.name.resize(section.name.size() - kContains.size());
  }
  return section;
}

Golden parse_golden(std::string_view text) {
  Golden golden;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("#--- ")) {
      golden.sections.push_back(parse_section_line(line));
    } else if (!golden.sections.empty()) {
      golden.sections.back().text += line + "\n";
    } else if (line.starts_with("#: args = ")) {
      golden.args = line.substr(10);
    } else if (line.starts_with("#: exit = ")) {
      golden.exit = std::stoi(line.substr(10));
    } else if (line.starts_with("#:") && line != "#: args =") {
      ADD_FAILURE() << "unknown line `" << line << "`; known are `args` and `exit`";
    } else if (!line.starts_with("#:")) {
      golden.remarks += line + "\n";
    }
  }
  return golden;
}

std::string print_golden(const Golden& golden) {
  std::string text = golden.remarks + "#: args = " + golden.args;
  if (text.ends_with(' ')) text.pop_back();
  text += "\n";
  if (golden.exit != 0) text += fmt::format("#: exit = {}\n", golden.exit);
  for (const Section& section : golden.sections) {
    text += fmt::format("#--- {}{}\n{}", section.name, section.contains ? " contains" : "",
                        section.text);
  }
  return text;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      words.back() += c;
    }
  }
  return words;
}

// --- running the program -------------------------------------------------------------------------

// In the child: standard streams to files, then the program in the folder `folder`/work.
[[noreturn]] void run_child(const fs::path& folder, std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(::open((folder / "stdout").c_str(), kFlags, 0600), STDOUT_FILENO);
  ::dup2(::open((folder / "stderr").c_str(), kFlags, 0600), STDERR_FILENO);
  if (::chdir((folder / "work").c_str()) == 0) ::execv(argv.front(), argv.data());
  ::_exit(127);
}

// 128 + signal for a program that died, as a shell has it.
int run_in(const fs::path& folder, const std::string& args) {
  std::vector<std::string> words = split_words(args);
  words.insert(words.begin(), WW_PROGRAM);
  const pid_t child = ::fork();
  if (child == 0) run_child(folder, std::move(words));
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What the program left: stdout, stderr and `file NAME` for each file in its folder.
std::map<std::string, std::string> collect(const fs::path& folder) {
  std::map<std::string, std::string> seen;
  seen["stdout"] = read_text(folder / "stdout");
  seen["stderr"] = read_text(folder / "stderr");
  for (const auto& entry : fs::directory_iterator(folder / "work")) {
    seen["file " + entry.path().filename().string()] = read_text(entry.path());
  }
  for (auto& [name, text] : seen) {
    if (!text.empty() && !text.ends_with('\n')) text += "\n\\ no line break at the end\n";
  }
  return seen;
}

// --- comparing -----------------------------------------------------------------------------------

// The first expected line that no output line (after the one found before it) contains, or "".
std::string first_line_not_contained(const std::string& expected, const std::string& seen) {
  const std::vector<std::string> lines = lines_of(seen);
  auto from = lines.begin();
  for (const std::string& wanted : lines_of(expected)) {
    from = std::find_if(from, lines.end(), [&](const auto& line) { return line.contains(wanted); });
    if (from == lines.end()) return wanted;
    ++from;
  }
  return "";
}

void compare(const Golden& golden, std::map<std::string, std::string> seen) {
  for (const Section& section : golden.sections) {
    if (section.is_input()) continue;
    const std::string text = seen[section.name];
    if (section.contains) {
      EXPECT_EQ(first_line_not_contained(section.text, text), "") << "in " << section.name << ":\n"
                                                                  << text;
    } else {
      EXPECT_EQ(section.text, text) << "in " << section.name << "; BLESS=1 accepts what was seen";
    }
    seen.erase(section.name);
  }
  for (const auto& [name, text] : seen)
    EXPECT_EQ("", text) << "in " << name << ", which the file lacks";
}

Golden blessed(Golden golden, std::map<std::string, std::string> seen, int exit) {
  golden.exit = exit;
  for (Section& section : golden.sections) {
    if (section.is_input()) continue;
    if (!section.contains) section.text = seen[section.name];
    seen.erase(section.name);
  }
  for (const auto& [name, text] : seen) {
    if (!text.empty()) golden.sections.push_back({.name = name, .text = text});
  }
  std::erase_if(golden.sections, [](const Section& section) { return section.text.empty(); });
  return golden;
}

// --- the cases -----------------------------------------------------------------------------------

bool has_inputs(const Golden& golden) {
  return std::ranges::any_of(golden.sections, &Section::is_input);
}

/// The case, with the inputs of the one before it where it has none.
Golden with_inputs(const std::vector<test::GoldenCase>& cases, std::size_t index) {
  Golden golden = parse_golden(cases.at(index).text);
  for (Golden other = golden; !has_inputs(golden) && index > 0;) {
    other = parse_golden(cases[--index].text);
    std::ranges::copy_if(other.sections, std::back_inserter(golden.sections), &Section::is_input);
  }
  return golden;
}

class CliGolden : public testing::TestWithParam<test::GoldenPlace> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ww_cli_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directory(folder_ / "work");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write_inputs(const Golden& golden) const {
    for (const Section& section : golden.sections) {
      if (!section.is_input()) continue;
      std::ofstream(folder_ / "work" / section.input_name(), std::ios::binary) << section.text;
    }
  }
  // An input that is as it was is nothing that the program left.
  static void forget_inputs(const Golden& golden, std::map<std::string, std::string>& seen) {
    for (const Section& section : golden.sections) {
      const auto found =
          seen.find(fmt::format("file {}", section.is_input() ? section.input_name() : ""));
      if (found != seen.end() && found->second == section.text) seen.erase(found);
    }
  }

  fs::path folder_;
};

TEST_P(CliGolden, Prints) {
  const Golden golden = with_inputs(test::GoldenFile(GetParam().file).cases, GetParam().index);
  write_inputs(golden);
  const int exit = run_in(folder_, golden.args);
  auto seen = collect(folder_);
  forget_inputs(golden, seen);
  if (std::getenv("BLESS") != nullptr) {
    test::GoldenFile file(GetParam().file);
    std::string& text = file.cases.at(GetParam().index).text;
    text = print_golden(blessed(parse_golden(text), seen, exit));
    file.write();
    return;
  }
  EXPECT_EQ(golden.exit, exit);
  compare(golden, seen);
}

INSTANTIATE_TEST_SUITE_P(Golden, CliGolden,
                         testing::ValuesIn(test::find_cases(WW_GOLDEN_DIR, ".txt")),
                         [](const auto& info) { return test::test_name(info.param.name); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CliGolden);

}  // namespace

}  // namespace ww::cli_golden_test
