// SPDX-License-Identifier: Apache-2.0
#include "ptx/register_class.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/check.h"
#include "ptx/parser.h"
#include "ptx/printer.h"

namespace ww::ptx::register_views_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kText =
    ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
    ".reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .b32 x;\n"
    "ld.param.u64 %rd1, [a];\n"
    "ld.global.v2.f32 {%r1, %r2}, [%rd1];\n"
    "fma.rn.f32 %r3, %r1, %r2, 0f3F800000;\n"
    "cvt.f64.f32 %rd2, %r3;\n"
    "mov.b32 %r4, %r3;\n"
    "add.f32 x, x, %r4;\n"
    "setp.lt.f32 %p1, %r3, %r4;\n"
    "frob.f32 %r4;\n"
    "ret;\n}\n";

TEST(RegisterViews, FloatsAreSpelledByWhatIsDoneWithThem) {
  const ParseResult read = parse(kText);
  ASSERT_TRUE(read.ok());
  const auto views = with_float_views(read.module);
  ASSERT_TRUE(views);
  const std::string text = print(*views);
  for (const std::string_view line :
       {".reg .b32 %r<9>;", "ld.param.u64\t%rd1, [a];", "ld.global.v2.f32\t{%f1, %f2}, [%rd1];",
        "fma.rn.f32\t%f3, %f1, %f2, 0f3F800000;", "cvt.f64.f32\t%fd2, %f3;", "mov.b32\t%r4, %r3;",
        "add.f32\tx, x, %f4;", "setp.lt.f32\t%p1, %f3, %f4;", "frob.f32\t%r4;"}) {
    EXPECT_THAT(text, HasSubstr(std::string(line)));
  }
}

// Nothing declares %f, so the text is no program.
TEST(RegisterViews, AreForReading) {
  const auto views = with_float_views(parse(kText).module);
  ASSERT_TRUE(views);
  const CheckResult checked = check(*views);
  EXPECT_GT(checked.errors.size(), check(parse(kText).module).errors.size());
  EXPECT_THAT(checked.errors.at(0).text, HasSubstr("`%f1` is not declared"));
}

}  // namespace
}  // namespace ww::ptx::register_views_test
