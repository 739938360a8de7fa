// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "explore/calls.h"

namespace ww::explore::program_test {
namespace {

using testing::ElementsAre;

// Line 4 is `B[t] = A[t] + 1`.
constexpr const char* kAdd = R"(@T.prim_func
def add(A: T.Buffer((32,), "int32"), B: T.Buffer((32,), "int32")):
    T.device_entry(); T.cta_id([1]); t = T.thread_id([32])
    B[t] = A[t] + 1
)";

Json answer(Call call, const Json& request) {
  Session session({});
  const auto made = call(session, request);
  EXPECT_TRUE(made) << (made ? "" : made.error().text);
  return made ? *made : Json();
}

TEST(Check, SaysWhereInUnitsOfTheBrowser) {
  // Each face is one character, four bytes, and two units of UTF-16.
  const Json found = answer(
      call_check, {{"source", "# \xF0\x9F\x98\x80\nx = \"\xF0\x9F\x98\x80\xC3\xA9\"; y = )\n"}});
  ASSERT_EQ(found["diagnostics"].size(), 1U) << found;
  const Json& problem = found["diagnostics"][0];
  EXPECT_EQ(problem["line"], 2) << problem;
  EXPECT_EQ(problem["column"], 16) << problem;
  EXPECT_EQ(problem["end_column"], 17) << problem;
}

TEST(Check, AProblemOfTheKernelExpressionIsInNoLine) {
  const Json found = answer(call_check, {{"source", kAdd}, {"kernel", "nothing(1)"}});
  ASSERT_EQ(found["diagnostics"].size(), 1U) << found;
  EXPECT_EQ(found["diagnostics"][0]["line"], 0);
  EXPECT_EQ(found["good"], false);
}

TEST(Check, ListsBuildersAndKernels) {
  const Json found = answer(call_check, {{"source", R"(
def helper(x):
    return x

def build(n, tile: int = 8 * 2, *, dtype="float16"):
    if n > 1:
        @T.prim_func
        def inner(A: T.Buffer((n,), dtype)):
            T.device_entry()
    return inner

@T.prim_func(private=True)
def own(A: T.Buffer((4,), "int32")):
    T.device_entry()
)"}});
  const Json& functions = found["functions"];
  ASSERT_EQ(functions.size(), 3U);
  EXPECT_EQ(functions[0]["kernels"].size(), 0U);
  EXPECT_EQ(functions[1]["kernels"], Json::array({"inner"}));
  EXPECT_EQ(functions[1]["params"][1]["default"], "8 * 2");
  EXPECT_EQ(functions[1]["params"][1]["annotation"], "int");
  EXPECT_TRUE(functions[1]["params"][0]["default"].is_null());
  EXPECT_EQ(functions[2]["is_kernel"], true);
}

TEST(Code, EveryFormKnowsItsSource) {
  const Json code = answer(call_code, {{"source", kAdd}});
  const std::map<std::string, std::string> wanted = {
      {"tile", "B[t] = A[t] + 1"}, {"ir", "B["}, {"cuda", "+ 1"}, {"ptx", "st.global"}};
  std::set<std::string> forms;
  for (const Json& column : code["columns"]) {
    const auto form = column["form"].get<std::string>();
    forms.insert(form);
    ASSERT_EQ(column["text"].size(), column["source_lines"].size()) << form;
    int seen = 0;
    for (std::size_t i = 0; i < column["text"].size(); ++i) {
      const auto line = column["text"][i].get<std::string>();
      if (line.find(wanted.at(form)) == std::string::npos) continue;
      EXPECT_EQ(column["source_lines"][i], 4) << form << ": " << line;
      ++seen;
    }
    EXPECT_EQ(seen, 1) << form;
  }
  EXPECT_THAT(forms, ElementsAre("cuda", "ir", "ptx", "tile"));
}

TEST(Explain, HasBuffersWithTheirLayouts) {
  const Json found = answer(call_explain, {{"source", kAdd}});
  ASSERT_EQ(found["buffers"].size(), 2U);
  EXPECT_EQ(found["buffers"][0]["name"], "A");
  EXPECT_EQ(found["buffers"][0]["shape"], Json::array({32}));
  EXPECT_EQ(found["buffers"][0]["scope"], "global");
}

}  // namespace
}  // namespace ww::explore::program_test
