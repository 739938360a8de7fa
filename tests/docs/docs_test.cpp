// SPDX-License-Identifier: Apache-2.0
// Runs the commands in the documents: every fenced block marked `console` in docs/**/*.md, docs/llms.txt,
// README.md and AGENTS.md, one test case per document. Within a block, a line `$ warpwright …` is a command and
// the lines below it are all it prints, errors included; a line `...` stands for any number of
// lines, and `[exit 2]` at the end for the exit status where it is not 0. Commands of a document
// run in a new folder, one after the other, where `examples` and `docs` are the project's. BLESS=1
// rewrites what no longer matches with what was seen.
//
// The lines between `<!-- $ COMMAND -->` and `<!-- end -->` are all that the command prints: tables
// of the program (`warpwright reference`), and pages that a script makes with it. `scripts` is the
// project's, too, WARPWRIGHT the program, and WARPWRIGHT_ANSWERS the one of answers.cpp.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ww::docs_test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

constexpr std::string_view kPrompt = "$ ";
constexpr std::string_view kGap = "...";

Lines read_lines(const fs::path& path) {
  std::ifstream in(path);
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void write_lines(const fs::path& path, const Lines& lines) {
  std::ofstream out(path);
  for (const std::string& line : lines) out << line << '\n';
}

// --- running -------------------------------------------------------------------------------------

std::string with_program(std::string command) {
  constexpr std::string_view kName = "warpwright";
  if (command.starts_with(kName))
    command.replace(0, kName.size(), std::string("'") + WW_PROGRAM + "'");
  return command;
}

// What a command prints in a folder, line by line, and its exit status where that is not 0.
Lines run(const std::string& command, const fs::path& folder) {
  // The group keeps redirections inside the command apart from ours.
  const std::string line = "cd '" + folder.string() + "' && { " + with_program(command) + " ; }";
  FILE* pipe = ::popen((line + " 2>&1 < /dev/null").c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    text.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  Lines lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code != 0) lines.push_back("[exit " + std::to_string(code) + "]");
  return lines;
}

// --- comparing -----------------------------------------------------------------------------------

using At = Lines::const_iterator;

bool matches(At wanted, At wanted_end, At seen, At seen_end) {
  for (; wanted != wanted_end; ++wanted, ++seen) {
    if (*wanted == kGap) {
      for (At from = seen;; ++from) {
        if (matches(wanted + 1, wanted_end, from, seen_end)) return true;
        if (from == seen_end) return false;
      }
    }
    if (seen == seen_end || *wanted != *seen) return false;
  }
  return seen == seen_end;
}

bool matches(const Lines& wanted, const Lines& seen) {
  return matches(wanted.begin(), wanted.end(), seen.begin(), seen.end());
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// --- documents -----------------------------------------------------------------------------------

bool is_blessing() { return std::getenv("BLESS") != nullptr; }

// Checks the block that begins at lines[at], the line after the fence; gives the block as it should
// be and moves `at` to its closing fence.
Lines check_block(const fs::path& path, const fs::path& folder, const Lines& lines,
                  std::size_t& at) {
  Lines out;
  while (at < lines.size() && lines[at] != "```") {
    const std::string command = lines[at];
    const std::size_t line = ++at;
    Lines wanted;
    while (at < lines.size() && lines[at] != "```" && !lines[at].starts_with(kPrompt)) {
      wanted.push_back(lines[at++]);
    }
    out.push_back(command);
    if (!command.starts_with(kPrompt)) {
      ADD_FAILURE() << path << ":" << line << ": expected `$ command`, found `" << command << "`";
      continue;
    }
    const Lines seen = run(command.substr(kPrompt.size()), folder);
    const bool good = matches(wanted, seen);
    if (!good && !is_blessing()) {
      ADD_FAILURE() << path << ":" << line << ": " << command << "\nexpected:\n"
                    << joined(wanted) << "seen:\n"
                    << joined(seen) << "BLESS=1 accepts what was seen";
    }
    const Lines& kept = good ? wanted : seen;
    out.insert(out.end(), kept.begin(), kept.end());
  }
  return out;
}

constexpr std::string_view kMadeBy = "<!-- $ ";
constexpr std::string_view kMadeByEnd = " -->";
constexpr std::string_view kMadeEnd = "<!-- end -->";

// Checks the lines that a command has made, from lines[at] to the end mark, to which `at` moves.
Lines check_made(const fs::path& path, const fs::path& folder, const Lines& lines,
                 std::size_t& at) {
  const std::size_t line = at;
  std::string command = lines[at - 1].substr(kMadeBy.size());
  command.resize(command.size() - std::min(command.size(), kMadeByEnd.size()));
  Lines wanted;
  while (at < lines.size() && lines[at] != kMadeEnd) wanted.push_back(lines[at++]);
  EXPECT_LT(at, lines.size()) << path << ":" << line << ": no `" << kMadeEnd << "`";
  const Lines seen = run(command, folder);
  EXPECT_FALSE(!seen.empty() && seen.back().starts_with("[exit "))
      << path << ":" << line << ": `" << command << "` fails";
  if (wanted == seen || is_blessing()) return seen;
  const auto [first, other] = std::mismatch(wanted.begin(), wanted.end(), seen.begin(), seen.end());
  ADD_FAILURE() << path << ":" << line << ": no longer what `" << command << "` prints\nexpected:\n"
                << (first == wanted.end() ? "(nothing more)" : *first) << "\nseen:\n"
                << (other == seen.end() ? "(nothing more)" : *other)
                << "\nBLESS=1 accepts what was seen";
  return wanted;
}

class Document : public testing::TestWithParam<fs::path> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ww_docs_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* const each : {"examples", "scripts", "docs"})
      fs::create_directory_symlink(fs::path(WW_SOURCE_DIR) / each, folder_ / each);
    ::setenv("WARPWRIGHT", WW_PROGRAM, 1);
    ::setenv("WARPWRIGHT_ANSWERS", WW_ANSWERS, 1);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_P(Document, CommandsPrintWhatItSays) {
  const Lines lines = read_lines(GetParam());
  Lines out;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    out.push_back(lines[at]);
    if (lines[at].starts_with(kMadeBy)) {
      const Lines made = check_made(GetParam(), folder_, lines, ++at);
      out.insert(out.end(), made.begin(), made.end());
      if (at < lines.size()) out.push_back(lines[at]);
    }
    if (at >= lines.size() || lines[at] != "```console") continue;
    const Lines block = check_block(GetParam(), folder_, lines, ++at);
    out.insert(out.end(), block.begin(), block.end());
    if (at < lines.size()) out.push_back(lines[at]);
  }
  if (is_blessing() && out != lines) write_lines(GetParam(), out);
}

bool has_commands(const fs::path& path) {
  const Lines lines = read_lines(path);
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line == "```console" || line.starts_with(kMadeBy);
  });
}

std::vector<fs::path> documents() {
  const fs::path root(WW_SOURCE_DIR);
  std::vector<fs::path> found;
  const auto add = [&](const fs::path& path) {
    if ((path.extension() == ".md" || path.extension() == ".txt") && has_commands(path))
      found.push_back(path);
  };
  for (const auto& entry : fs::directory_iterator(root)) add(entry.path());
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) add(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::string case_name(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Docs, Document, testing::ValuesIn(documents()), case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Document);

}  // namespace

}  // namespace ww::docs_test
