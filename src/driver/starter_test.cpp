// SPDX-License-Identifier: Apache-2.0
#include "driver/examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/process.h"
#include "base/source.h"
#include "driver/build.h"
#include "driver/run/tool.h"
#include "runtime/assembler.h"

namespace ww::driver::starter_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Starters : public testing::TestWithParam<StarterKind> {
 protected:
  Starters()
      : starter_(*make_starter({.name = "some/first.py", .kind = std::string(kind().name)})),
        source_(starter_.path, starter_.text) {}

  [[nodiscard]] static const StarterKind& kind() { return GetParam(); }
  [[nodiscard]] RunOutcome run(DeviceKind device) const {
    RunRequest request;
    request.source.path = starter_.path;
    request.source.text = &source_;
    request.device = device;
    request.arguments.expects = {std::string(kind().expect)};
    return run_kernel(request);
  }

  Starter starter_;
  SourceText source_;
};

TEST_P(Starters, RunWithAllChecksClean) {
  for (const DeviceKind device : {DeviceKind::Sim, DeviceKind::Eval}) {
    const RunOutcome outcome = run(device);
    ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
    EXPECT_TRUE(outcome.report->good()) << run_text(*outcome.report);
    EXPECT_EQ(outcome.report->kernel, "first");
    ASSERT_EQ(outcome.report->expectations.size(), 1U);
    EXPECT_TRUE(outcome.report->expectations[0].result.holds);
    for (const BufferReport& buffer : outcome.report->buffers)
      EXPECT_EQ(buffer.undefined, 0) << buffer.name;
  }
}

// What a reader takes for a model has no bank conflicts and leaves no register array in memory.
TEST_P(Starters, AreModels) {
  const Build build = build_kernel(source_, {});
  ASSERT_TRUE(build.good()) << build.errors;
  EXPECT_TRUE(build.report.spilled.empty());
  for (const lower::CallReport& call : build.report.calls)
    EXPECT_EQ(call.plan.wavefronts ? call.plan.wavefronts->conflicts() : 0, 0) << call.name;
}

TEST_P(Starters, Assemble) {
  const char* const given = std::getenv("PTXAS");
  const char* const path = std::getenv("PATH");
  const auto ptxas = runtime::find_ptxas(
      {.given = given == nullptr ? "" : given, .path = path == nullptr ? "" : path});
  if (!ptxas) GTEST_SKIP() << "ptxas is not installed";
  const Build build = build_kernel(source_, {});
  ASSERT_TRUE(build.good()) << build.errors;
  const auto cubin = runtime::assemble(*ptxas, build.ptx, build.target->arch);
  EXPECT_TRUE(cubin.has_value()) << render(cubin.error());
}

TEST_P(Starters, SayHowToRunThem) {
  EXPECT_THAT(starter_.text, AllOf(HasSubstr("#   " + starter_.run + "\n"),
                                   HasSubstr("#   " + starter_.explain + "\n"),
                                   Not(HasSubstr("{{")), Not(HasSubstr("}}"))));
  EXPECT_EQ(starter_.run,
            "warpwright run some/first.py --expect '" + std::string(kind().expect) + "'");
}

INSTANTIATE_TEST_SUITE_P(All, Starters, testing::ValuesIn(starter_kinds()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Starter, KindsAreTheTemplates) {
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(WW_SOURCE_DIR "/src/driver/templates"))
    files.insert(entry.path().stem());
  std::set<std::string> kinds;
  for (const StarterKind& kind : starter_kinds()) kinds.insert(std::string(kind.name));
  EXPECT_EQ(kinds, files);
}

struct BadName {
  std::string name;
  std::string message;
  std::size_t begin, end;
};

TEST(Starter, NamesThatAreNone) {
  const BadName cases[] = {
      {"my-kernel", "`my-kernel` cannot be the name of a kernel", 0, 9},
      {"a/2d.py", "`2d` cannot be the name of a kernel", 2, 4},
      {"a/", "`` cannot be the name of a kernel", 2, 2},
      {".py", "`` cannot be the name of a kernel", 0, 0},
      {"", "`` cannot be the name of a kernel", 0, 0},
      {"lambda", "`lambda` is a word of Python's", 0, 6},
      {"x/build.py", "`build` has a meaning in the program", 2, 7},
  };
  for (const BadName& bad : cases) {
    const auto starter = make_starter({.name = bad.name});
    ASSERT_FALSE(starter.has_value()) << bad.name;
    EXPECT_EQ(starter.error().kind, DiagKind::BadArgument);
    EXPECT_THAT(starter.error().text, HasSubstr(bad.message));
    EXPECT_EQ(starter.error().span, Span::at(bad.begin, bad.end)) << bad.name;
  }
  const auto kind = make_starter({.name = "x", .kind = "gem"});
  ASSERT_FALSE(kind.has_value());
  EXPECT_THAT(kind.error().text, HasSubstr("did you mean `gemm`?"));
}

// Every name that a template uses is one that a kernel may not have: a kernel of any other name
// compiles.
TEST(Starter, AnyOtherNameCompiles) {
  for (const StarterKind& kind : starter_kinds()) {
    for (const std::string name :
         {"tile", "shared", "registers", "rows", "sums", "m", "warp", "a_s", "columns", "T_",
          "dtype", "n", "threads", "vec", "block"}) {
      const auto starter = make_starter({.name = name, .kind = std::string(kind.name)});
      ASSERT_TRUE(starter.has_value());
      const Build build = build_kernel(SourceText(starter->path, starter->text), {});
      EXPECT_TRUE(build.good()) << kind.name << " as " << name << "\n" << build.errors;
    }
  }
}

TEST(Starter, IsWrittenOnceOnly) {
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder.has_value());
  const std::string name = folder->file("first");
  ASSERT_TRUE(write_starter({.name = name}).has_value());
  const auto again = write_starter({.name = name, .kind = "gemm"});
  ASSERT_FALSE(again.has_value());
  EXPECT_THAT(render(again.error()),
              AllOf(HasSubstr("is there already [Io]"), HasSubstr("--force")));
  EXPECT_TRUE(write_starter({.name = name, .kind = "gemm", .overwrites = true}).has_value());
}

TEST(Starter, NeedsItsFolder) {
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder.has_value());
  const auto missing = write_starter({.name = folder->file("none/first")});
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(render(missing.error()), AllOf(HasSubstr("there is no folder"), HasSubstr("[Io]")));
  fs::create_directory(folder->file("first.py"));
  const auto taken = write_starter({.name = folder->file("first"), .overwrites = true});
  ASSERT_FALSE(taken.has_value());
  EXPECT_THAT(taken.error().text, HasSubstr("is a folder"));
}

TEST(Starter, CommandsAreQuoted) {
  EXPECT_EQ(shell_word("a/b-c.py"), "a/b-c.py");
  EXPECT_EQ(shell_word("my file.py"), "'my file.py'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(make_starter({.name = "my kernels/first"})->explain,
            "warpwright explain 'my kernels/first.py'");
  EXPECT_EQ(make_starter({.name = "-x/first"})->explain, "warpwright explain ./-x/first.py");
}

}  // namespace
}  // namespace ww::driver::starter_test
