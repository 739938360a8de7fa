// SPDX-License-Identifier: Apache-2.0
// The completion scripts in their shells, and the manual page through groff, where those are
// installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tools/cli/program.h"

namespace ww::cli_test::shell_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// --- bash ----------------------------------------------------------------------------------------

// What bash offers for the last of the words, which are given as bash itself would split them.
std::vector<std::string> offered(const std::vector<std::string>& words) {
  const Folder folder;
  write_text(fs::path(folder.path()) / "script", run({"completion", "bash"}).out);
  std::string line;
  for (const std::string& word : words) line += " '" + word + "'";
  const std::string script = "source ./script; COMP_WORDS=(warpwright" + line +
                             "); COMP_CWORD=" + std::to_string(words.size()) +
                             "; _warpwright; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const Ran ran = run_words({"bash", "-c", script}, {.folder = folder.path()});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  std::vector<std::string> out;
  std::istringstream lines(ran.out);
  for (std::string each; std::getline(lines, each);)
    if (!each.empty()) out.push_back(each);
  return out;
}

class Bash : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_installed("bash")) GTEST_SKIP() << "bash is not installed";
  }
};

TEST_F(Bash, CompletesCommands) {
  EXPECT_THAT(offered({"ex"}), ElementsAre("examples", "explain", "explore"));
  EXPECT_THAT(offered({""}), AllOf(Contains("run"), Contains("help"), Contains("--version")));
  EXPECT_THAT(offered({"help", "ti"}), IsEmpty());
  EXPECT_THAT(offered({"help", "tu"}), ElementsAre("tune"));
}

TEST_F(Bash, CompletesOptions) {
  EXPECT_THAT(offered({"run", "k.py", "--de"}), ElementsAre("--device"));
  EXPECT_THAT(offered({"explain", "--"}), AllOf(Contains("--kernel"), Contains("--color"),
                                                Contains("--help"), Not(Contains("--device"))));
}

TEST_F(Bash, CompletesValues) {
  EXPECT_THAT(offered({"run", "k.py", "--device", ""}), ElementsAre("auto", "sim", "cuda", "eval"));
  EXPECT_THAT(offered({"compile", "k.py", "--emit", "=", "cu"}), ElementsAre("cuda", "cubin"));
  EXPECT_THAT(offered({"compile", "k.py", "--emit", "="}), Contains("ptx"));
  EXPECT_THAT(offered({"run", "k.py", "--target", "sm_10"}), Contains("sm_100a"));
  EXPECT_THAT(offered({"isa", "s"}), ElementsAre("show", "select"));
  EXPECT_THAT(offered({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
}

TEST_F(Bash, CompletesActionsAndExamples) {
  EXPECT_THAT(offered({"examples", "sh"}), ElementsAre("show"));
  EXPECT_THAT(offered({"examples", "show", "tr"}), ElementsAre("transpose"));
  EXPECT_THAT(offered({"examples", "run", "gemm_mma", "--dev"}), ElementsAre("--device"));
}

// Where nothing is offered, bash itself completes the names of files.
TEST_F(Bash, LeavesFilesToTheShell) {
  EXPECT_THAT(offered({"run", "ker"}), IsEmpty());
  EXPECT_THAT(offered({"compile", "k.py", "-o", "x"}), IsEmpty());
  EXPECT_THAT(offered({"run", "k.py", "--out", "B", "=", "b"}), IsEmpty());
  const Folder folder;
  write_text(fs::path(folder.path()) / "script", run({"completion", "bash"}).out);
  const Ran ran = run_words({"bash", "-c", "source ./script; complete -p warpwright"},
                            {.folder = folder.path()});
  EXPECT_EQ(ran.out, "complete -o default -F _warpwright warpwright\n");
}

// --- fish ----------------------------------------------------------------------------------------

TEST(Fish, CompletesLines) {
  if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed";
  const Folder folder;
  write_text(fs::path(folder.path()) / "script", run({"completion", "fish"}).out);
  const auto offers = [&](const std::string& line) {
    return run_words({"fish", "--no-config", "-c", "source script; complete -C'" + line + "'"},
                     {.environment = {"HOME=" + folder.path()}, .folder = folder.path()})
        .out;
  };
  EXPECT_THAT(offers("warpwright ex"), AllOf(HasSubstr("examples\t"), HasSubstr("explain\t")));
  EXPECT_THAT(offers("warpwright run k.py --dev"), HasSubstr("--device\t"));
  EXPECT_THAT(offers("warpwright compile k.py --emit c"),
              AllOf(HasSubstr("cuda"), HasSubstr("cubin"), Not(HasSubstr("ptx"))));
  EXPECT_THAT(offers("warpwright examples show tr"), HasSubstr("transpose"));
}

// --- the others ----------------------------------------------------------------------------------

// The words after `warpwright` of each command and action, with its options.
std::vector<std::vector<std::string>> commands() {
  return {{"new"},
          {"examples"},
          {"examples", "show"},
          {"examples", "run"},
          {"examples", "write"},
          {"run"},
          {"compile"},
          {"explain"},
          {"tune"},
          {"layout"},
          {"isa"},
          {"sim"},
          {"bench"},
          {"completion"}};
}

// Long options in a command's help.
std::vector<std::string> options_of(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  words.emplace_back("--help");
  std::istringstream lines(run(words).out);
  std::vector<std::string> out;
  bool is_list = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "options:") is_list = true;
    if (line == "examples:") is_list = false;
    if (!is_list || !line.starts_with("  -")) continue;
    const auto at = line.find("--");
    out.push_back(line.substr(at, line.find(' ', at) - at));
  }
  return out;
}

TEST(Completion, EveryShellKnowsEveryOption) {
  const std::string bash = run({"completion", "bash"}).out;
  const std::string zsh = run({"completion", "zsh"}).out;
  const std::string fish = run({"completion", "fish"}).out;
  for (const std::vector<std::string>& command : commands()) {
    const std::vector<std::string> options = options_of(command);
    EXPECT_THAT(options, Contains("--help")) << command[0];
    for (const std::string& option : options) {
      EXPECT_THAT(bash, HasSubstr(option));
      EXPECT_THAT(zsh, HasSubstr(option + "["));
      EXPECT_THAT(fish, HasSubstr(" -l " + option.substr(2)));
    }
  }
}

class Script : public testing::TestWithParam<std::string> {};

TEST_P(Script, IsWellFormed) {
  if (!is_installed(GetParam())) GTEST_SKIP() << GetParam() << " is not installed";
  const Folder folder;
  const fs::path path = fs::path(folder.path()) / "script";
  write_text(path, run({"completion", GetParam()}).out);
  const Ran ran = run_words({GetParam(), "-n", path.string()});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  write_text(path, "if )\n");
  EXPECT_NE(run_words({GetParam(), "-n", path.string()}).status, 0);
}

INSTANTIATE_TEST_SUITE_P(Completion, Script, testing::Values("bash", "zsh", "fish"),
                         [](const auto& each) { return each.param; });

// --- the manual page -----------------------------------------------------------------------------

TEST(Manual, HasEveryCommandAndOption) {
  const std::string page = run({"help", "--man"}).out;
  EXPECT_THAT(page, AllOf(HasSubstr(".SH NAME\nwarpwright \\- "), HasSubstr(".SH EXIT STATUS"),
                          HasSubstr(".SH ENVIRONMENT")));
  for (const std::vector<std::string>& command : commands()) {
    std::string name = command[0];
    for (std::size_t i = 1; i < command.size(); ++i) name += " " + command[i];
    EXPECT_THAT(page, HasSubstr(".SS " + name + "\n"));
    for (const std::string& option : options_of(command)) {
      std::string escaped;
      for (const char c : option) escaped += c == '-' ? "\\-" : std::string(1, c);
      EXPECT_THAT(page, HasSubstr(escaped));
    }
  }
}

TEST(Manual, GroffHasNothingToSay) {
  if (!is_installed("groff")) GTEST_SKIP() << "groff is not installed";
  const Folder folder;
  const fs::path path = fs::path(folder.path()) / "warpwright.1";
  write_text(path, run({"help", "--man"}).out);
  const Ran ran = run_words({"groff", "-man", "-Tutf8", "-ww", "-z", path.string()});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "");
  // It does say something where there is a reason to.
  write_text(path, run({"help", "--man"}).out + ".nosuchrequest\n\\[nosuchcharacter]\n");
  EXPECT_NE(run_words({"groff", "-man", "-Tutf8", "-ww", "-z", path.string()}).err, "");
}

TEST(Manual, ManShowsIt) {
  if (!is_installed("man")) GTEST_SKIP() << "man is not installed";
  // Systems without manual pages have a script of that name, which says so.
  const std::string version = run_words({"man", "--version"}).out;
  if (version.rfind("man ", 0) != 0) GTEST_SKIP() << "man is not man-db: " << version;
  const Folder folder;
  const fs::path path = fs::path(folder.path()) / "warpwright.1";
  write_text(path, run({"help", "--man"}).out);
  const Ran ran = run_words({"man", "--warnings", "-l", path.string()},
                            {.environment = {"MANPAGER=cat", "MANWIDTH=100", "LC_ALL=C.UTF-8"}});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, AllOf(HasSubstr("WARPWRIGHT(1)"), HasSubstr("EXIT STATUS")));
}

}  // namespace
}  // namespace ww::cli_test::shell_test
