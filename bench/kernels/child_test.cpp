// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <gtest/gtest.h>

namespace ww::bench::child_test {
namespace {

constexpr double kLong = 60;

Result<Child> shell(const std::string& script) { return Child::start({"/bin/sh", "-c", script}); }

TEST(Child, AnswersLineByLine) {
  Result<Child> child = shell("while read line; do echo \"<$line>\"; echo more; done");
  ASSERT_TRUE(child);
  EXPECT_EQ(*child->ask("one", kLong), "<one>");
  EXPECT_EQ(*child->ask("two", kLong), "more");
}

TEST(Child, ThatHasEndedIsAFailure) {
  Result<Child> child = shell("read line; exit 3");
  ASSERT_TRUE(child);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(child->ask("anybody?", kLong).error().text, "the child program has ended");
}

TEST(Child, ThatIsSilentIsNotAskedAgain) {
  Result<Child> child = shell("read line; read line; echo late");
  ASSERT_TRUE(child);
  EXPECT_EQ(child->ask("anybody?", 0.01).error().text,
            "no answer to `anybody?` within 0.01 seconds");
  EXPECT_FALSE(child->ask("and now?", kLong));
}

TEST(Child, ThatIsNoProgramIsAFailure) {
  const Result<Child> child = Child::start({"/no/such/program"});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().text, "cannot run `/no/such/program`: No such file or directory");
}

}  // namespace
}  // namespace ww::bench::child_test
