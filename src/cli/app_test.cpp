// SPDX-License-Identifier: Apache-2.0
#include "cli/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>

#include "cli/options.h"
#include "cli/version.h"

namespace ww::cli::app_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// A command with one of everything; it prints what it was given.
constexpr std::string_view kColours[] = {"red", "green", "blue"};

struct Options {
  std::string text;
  std::string colour = "red";
  std::vector<std::string> ops;
  std::string output = "none";
  std::int64_t count = 1;
  bool loud = false, twice = false;
};

Run set_up_sample(OptionSet& set) {
  auto options = std::make_shared<Options>();
  set.argument("TEXT", options->text, Need::Required, "what to print");
  set.choice("--shade", "COLOUR", options->colour, kColours, "red, green or blue");
  set.texts("--op", "OP", options->ops, "an operation; repeat for more");
  set.text("-o,--output", "FILE", options->output, "where to");
  set.number("--count", options->count, 1, 9, "how often");
  set.flag("-l,--loud", options->loud, "in capitals");
  set.flag("-t", options->twice, "two times");
  return [options] {
    if (options->text == "throw") throw std::runtime_error("the sky fell");
    std::string text = options->text + " " + options->colour;
    for (const std::string& op : options->ops) text += " " + op;
    if (options->output != "none") text += " to " + options->output;
    if (options->count != 1) text += " times " + std::to_string(options->count);
    if (options->loud) text += " loud";
    if (options->twice) text += " twice";
    return Outcome{.out = text + "\n"};
  };
}

const Command kSample{.name = "sample",
                      .summary = "print a text",
                      .description = "Prints a text.",
                      .examples = "# a word\nwarpwright sample word",
                      .set_up = set_up_sample};
const Command* const kCommands[] = {&kSample};

Outcome run(const std::vector<std::string>& args) { return run_program(kCommands, args); }

TEST(App, RunsACommandWithItsOptions) {
  const Outcome outcome = run({"sample", "word", "--shade", "blue"});
  EXPECT_EQ(outcome.status, Exit::Good);
  EXPECT_EQ(outcome.out, "word blue\n");
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(App, RepeatedOptionsTakeOneValueEachInOrder) {
  EXPECT_EQ(run({"sample", "--op", "b", "word", "--op=a"}).out, "word red b a\n");
  EXPECT_EQ(run({"sample", "--op", "b", "--op", "a", "word"}).out, "word red b a\n");
}

TEST(App, ValuesKeepBracketsCommasAndColons) {
  EXPECT_EQ(run({"sample", "S[(8,4):(4@laneid,1)] + 5@m", "--op", "slice:0:4,2:6"}).out,
            "S[(8,4):(4@laneid,1)] + 5@m red slice:0:4,2:6\n");
  EXPECT_EQ(run({"sample", "x", "--op", "[1,2]", "--op", "a,b"}).out, "x red [1,2] a,b\n");
}

TEST(App, OptionsAreSpelledAsUsual) {
  for (const std::vector<std::string>& spelling :
       {std::vector<std::string>{"--output", "x"}, {"--output=x"}, {"-o", "x"}, {"-ox"}}) {
    std::vector<std::string> args = {"sample", "word"};
    args.insert(args.end(), spelling.begin(), spelling.end());
    EXPECT_EQ(run(args).out, "word red to x\n") << testing::PrintToString(spelling);
  }
  EXPECT_EQ(run({"sample", "-lt", "word"}).out, "word red loud twice\n");
  EXPECT_EQ(run({"sample", "-tlox", "word"}).out, "word red to x loud twice\n");
  EXPECT_EQ(run({"sample", "-l", "--loud", "word"}).out, "word red loud\n");
  EXPECT_EQ(run({"sample", "--count=9", "word"}).out, "word red times 9\n");
  EXPECT_EQ(run({"sample", "-l", "--", "--loud"}).out, "--loud red loud\n");
  EXPECT_EQ(run({"sample", "-"}).out, "- red\n");
  EXPECT_EQ(run({"sample", "word", "--op", ""}).out, "word red \n") << "an empty value is a value";
  EXPECT_EQ(run({"sample", "word", "--op", "-5"}).out, "word red -5\n");
}

TEST(App, HelpIsShownWhateverElseIsWrong) {
  const std::string help = run({"sample", "--help"}).out;
  EXPECT_EQ(run({"sample", "--nothing", "-h"}).out, help);
  EXPECT_EQ(run({"sample", "a", "b", "--count", "x", "--help"}).out, help);
}

TEST(App, HelpNamesEveryOptionAndAnExample) {
  const Outcome outcome = run({"sample", "--help"});
  EXPECT_EQ(outcome.status, Exit::Good);
  EXPECT_THAT(outcome.out, AllOf(StartsWith("usage: warpwright sample TEXT [OPTION...]\n"),
                                 HasSubstr("-o, --output FILE"), HasSubstr("--shade COLOUR"),
                                 HasSubstr("-h, --help"), HasSubstr("warpwright sample word")));
  EXPECT_EQ(run({"help", "sample"}).out, outcome.out);
}

TEST(App, NoCommandIsShortHelpOnStderr) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.status, Exit::UserError);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("sample"));
}

TEST(App, Version) {
  EXPECT_EQ(run({"--version"}).out, "warpwright " + std::string(version()) + "\n");
}

struct BadUsage {
  std::vector<std::string> args;
  std::string message;
};

TEST(App, BadUsageIsNamedWithTheNearestSpelling) {
  const BadUsage cases[] = {
      {{"smaple"}, "unknown command `smaple`; did you mean `sample`?"},
      {{"help", "smaple"}, "unknown command `smaple`; did you mean `sample`?"},
      {{"zzzzzz"}, "unknown command `zzzzzz` "},
      {{"--hepl"}, "unknown option `--hepl`; did you mean `--help`?"},
      {{"sample", "x", "--shaed", "red"}, "unknown option `--shaed`; did you mean `--shade`?"},
      {{"sample", "x", "--shaed=red"}, "unknown option `--shaed`;"},
      {{"sample", "x", "--shade", "grean"},
       "`grean` is not one of red, green, blue; did you mean `green`?"},
      {{"sample", "x", "--count", "10"}, "--count: `10` is not a whole number from 1 to 9"},
      {{"sample", "x", "--count", "3x"}, "--count: `3x` is not a whole number from 1 to 9"},
      {{"sample", "x", "y"}, "unexpected argument `y`"},
      {{"sample"}, "TEXT is required"},
      {{"sample", "x", "--output"}, "`--output` needs a value"},
      {{"sample", "x", "-o"}, "`-o` needs a value"},
      {{"sample", "x", "--output=", "y"}, "`--output` needs a value"},
      {{"sample", "x", "-o", ""}, "--output: the value is empty, expected FILE"},
      {{"sample", "x", "--loud=no"}, "`--loud` takes no value, here `no`"},
      {{"sample", "x", "-lz"}, "unknown option `-lz`"},
      {{"sample", "x", "--count", "99999999999999999999"}, "is not a whole number from 1 to 9"},
      {{"sample", "--", "x", "--loud"}, "unexpected argument `--loud`"},
      {{"sample", "x", "--shade", "red", "--shade", "blue"},
       "`--shade` is given 2 times, and takes one value"},
  };
  for (const BadUsage& bad : cases) {
    const Outcome outcome = run(bad.args);
    EXPECT_EQ(outcome.status, Exit::UserError) << testing::PrintToString(bad.args);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, AllOf(StartsWith("error: "), HasSubstr(bad.message)));
  }
}

// Words of similar tools, where spelling would lead elsewhere.
TEST(App, WordsOfOtherToolsAreUnderstood) {
  const BadUsage cases[] = {
      {{"run", "k.py", "--arch", "sm_90a"}, "unknown option `--arch`; did you mean `--target`?"},
      {{"run", "k.py", "-arch=sm_90a"}, "unknown option"},
      {{"run", "k.py", "--gpu-name=sm_90a"}, "did you mean `--target`?"},
      {{"run", "k.py", "--backend", "sim"}, "did you mean `--device`?"},
      {{"run", "k.py", "--sim"}, "did you mean `--device sim`?"},
      {{"run", "k.py", "--cuda"}, "did you mean `--device cuda`?"},
      {{"compile", "k.py", "--cuda"}, "did you mean `--emit cuda`?"},
      {{"compile", "k.py", "--emit-ptx"}, "did you mean `--emit ptx`?"},
      {{"compile", "k.py", "--ptx"}, "did you mean `--emit ptx`?"},
      {{"compile", "k.py", "--emit=PTX"}, "did you mean `ptx`?"},
      {{"layout", "S[8:1]", "--json"}, "did you mean `--as json`?"},
      {{"sim", "k.ptx", "--blockDim", "32"}, "did you mean `--block`?"},
      {{"sim", "k.ptx", "--smem", "32"}, "did you mean `--shared`?"},
      {{"explain", "k.py", "--colour", "never"}, "did you mean `--color`?"},
      {{"explain", "k.py", "--no-color"}, "did you mean `--color never`?"},
      {{"run", "k.py", "-o", "x.npy"}, "unknown option `-o`; did you mean `--out`?"},
      {{"compile", "k.py", "--out", "x.ptx"}, "did you mean `--output`?"},
      {{"explain", "k.py", "-z"}, "unknown option `-z` ["},
      // A word for an option that the command lacks is matched by its spelling.
      {{"explain", "k.py", "--kernle", "x"}, "did you mean `--kernel`?"},
  };
  for (const BadUsage& bad : cases) {
    const Outcome outcome = run_program(all_commands(), bad.args);
    EXPECT_EQ(outcome.status, Exit::UserError) << testing::PrintToString(bad.args);
    EXPECT_THAT(outcome.err, HasSubstr(bad.message));
  }
}

TEST(App, ActionsAreCommandsOfACommand) {
  EXPECT_THAT(run_program(all_commands(), std::vector<std::string>{"help", "examples", "run"}).out,
              StartsWith("usage: warpwright examples run NAME [OPTION...]\n"));
  EXPECT_THAT(run_program(all_commands(), std::vector<std::string>{"examples", "--help"}).out,
              HasSubstr("examples show"));
  const Outcome bad =
      run_program(all_commands(), std::vector<std::string>{"examples", "show", "transpoze"});
  EXPECT_EQ(bad.status, Exit::UserError);
  EXPECT_THAT(bad.err, HasSubstr("did you mean `transpose`?"));
}

TEST(App, AnExceptionIsOurBug) {
  const Outcome outcome = run({"sample", "throw"});
  EXPECT_EQ(outcome.status, Exit::Bug);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the sky fell"), HasSubstr("report it")));
}

TEST(App, EveryCommandExplainsItself) {
  for (const Command* command : all_commands()) {
    const std::string args[] = {std::string(command->name), "--help"};
    const Outcome outcome = run_program(all_commands(), args);
    EXPECT_EQ(outcome.status, Exit::Good) << outcome.err;
    EXPECT_THAT(command->examples, HasSubstr("warpwright " + args[0]));
    EXPECT_THAT(command->description, testing::Not(IsEmpty()));
  }
}

TEST(Commands, ListMatchesTheFiles) {
  std::set<std::string> listed;
#define WW_COMMAND(file) listed.insert(#file ".cpp");
#include "cli/commands.def"
#undef WW_COMMAND
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(WW_SOURCE_DIR "/src/cli")) {
    const std::string name = entry.path().filename();
    if (name.ends_with("_command.cpp")) files.insert(name);
  }
  EXPECT_EQ(listed, files) << "src/cli/commands.def lists every *_command.cpp";
}

}  // namespace
}  // namespace ww::cli::app_test
