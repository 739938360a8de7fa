// SPDX-License-Identifier: Apache-2.0
#include "driver/examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ww::driver::examples_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Examples, HaveANameASentenceAndCommands) {
  const auto found = find_example("transpose");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->path, "examples/transpose.py");
  EXPECT_EQ(found->summary, "B is the transpose of A, tile by tile");
  EXPECT_THAT(found->commands,
              ElementsAre("warpwright examples run transpose --expect 'B == A.T'"));
  EXPECT_THAT(std::string(found->text), HasSubstr("def transpose("));
}

TEST(Examples, AreFoundByPathToo) {
  EXPECT_EQ(find_example("examples/basics/gemm.py")->name, "basics/gemm");
  EXPECT_EQ(find_example("gemm_mma.py")->name, "gemm_mma");
}

TEST(Examples, UnknownOnesComeWithTheNearest) {
  const auto found = find_example("transpoze");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, DiagKind::UnknownName);
  EXPECT_THAT(found.error().text, HasSubstr("did you mean `transpose`?"));
}

TEST(Examples, VariationsSayOfWhat) {
  EXPECT_EQ(find_example("basics/reg_new")->summary, "The program of reg.py in the newer spelling");
}

TEST(Examples, TheListIsNarrow) {
  const std::string list = examples_text();
  for (std::size_t at = 0; at < list.size(); at = list.find('\n', at) + 1)
    EXPECT_LE(list.find('\n', at) - at, 120U) << list.substr(at, 130);
  for (const Example& each : examples()) EXPECT_THAT(list, HasSubstr(each.name + ' '));
}

TEST(Examples, NamesAreDistinctAndAllHaveASentence) {
  std::vector<std::string> names;
  for (const Example& each : examples()) {
    EXPECT_FALSE(each.summary.empty()) << each.name;
    EXPECT_EQ(std::count(names.begin(), names.end(), each.name), 0) << each.name;
    names.push_back(each.name);
  }
}

}  // namespace
}  // namespace ww::driver::examples_test
