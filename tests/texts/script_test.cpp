// SPDX-License-Identifier: Apache-2.0
// Programs of golden/script against what the front end makes of them. A file is
//
//   #: kernel = build(num=2)      options, each may be left out: kernel, dialect (d1, d2), steps,
//                                 note
//   <a program>
//   #--- expected
//   <the printed tile program, or for bad_*.py the diagnostics>
//
// or several such cases, each after a line `#=== name`; its program is then the file `name.py`.
//
// Each good program is also printed and compiled again: that must give the same function and the
// same text. BLESS=1 writes what came out as expected; read the difference before you commit it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/source.h"
#include "harness/golden_file.h"
#include "ir/equal.h"
#include "ir/print/print.h"
#include "script/compile.h"

namespace ww::script::golden_test {
namespace {

constexpr std::string_view kMark = "#--- expected\n";

struct Case {
  std::string program;
  std::string expected;
  Options options;
};

// The value behind `key =` on the option line, up to two blanks or its end.
std::string option(std::string_view line, std::string_view key) {
  const std::string wanted = std::string(key) + " = ";
  const std::size_t at = line.find(wanted);
  if (at == std::string_view::npos) return "";
  std::string_view rest = line.substr(at + wanted.size());
  rest = rest.substr(0, std::min(rest.find("  "), rest.find('\n')));
  return std::string(rest);
}

Case read_case(const std::string& text) {
  Case out;
  const std::size_t mark = text.find(kMark);
  out.program = text.substr(0, mark);
  if (mark != std::string::npos) out.expected = text.substr(mark + kMark.size());
  if (!out.program.starts_with("#:")) return out;
  const std::string_view line = std::string_view(out.program).substr(0, out.program.find('\n') + 1);
  out.options.kernel = option(line, "kernel");
  const std::string dialect = option(line, "dialect");
  if (!dialect.empty()) out.options.dialect = dialect == "d1" ? Dialect::D1 : Dialect::D2;
  const std::string steps = option(line, "steps");
  if (!steps.empty()) out.options.max_steps = std::stoull(steps);
  return out;
}

std::string outcome(const Compiled& compiled) {
  std::string out;
  for (const Diag& error : compiled.errors) out += compiled.render(error);
  if (compiled.function) out += ir::print(*compiled.function);
  return out;
}

void expect_round_trip(const ir::Function& function) {
  const std::string text = ir::print(function);
  const Compiled again = compile(SourceText("printed", text));
  ASSERT_TRUE(again.function.has_value()) << outcome(again) << text;
  EXPECT_EQ(ir::difference(function, *again.function).value_or(""), "") << text;
  EXPECT_EQ(ir::print(*again.function), text);
}

class ScriptGolden : public testing::TestWithParam<test::GoldenPlace> {};

TEST_P(ScriptGolden, GivesWhatIsExpected) {
  const auto& [path, index, name] = GetParam();
  const test::GoldenCase golden = test::GoldenFile(path).cases.at(index);
  const Case test = read_case(golden.text);
  const std::string file = golden.name.empty() ? path.filename().string() : golden.name + ".py";
  const Compiled compiled = compile(SourceText(file, test.program), test.options);
  const std::string seen = outcome(compiled);
  const bool is_bad = path.filename().string().starts_with("bad");
  EXPECT_EQ(compiled.errors.empty(), !is_bad) << seen;
  if (compiled.function) expect_round_trip(*compiled.function);
  if (const char* bless = std::getenv("BLESS"); bless != nullptr && *bless == '1') {
    test::GoldenFile blessed(path);
    blessed.cases.at(index).text = test.program + std::string(kMark) + seen;
    blessed.write();
    return;
  }
  EXPECT_EQ(seen, test.expected);
}

INSTANTIATE_TEST_SUITE_P(Files, ScriptGolden,
                         testing::ValuesIn(test::find_cases(WW_GOLDEN_DIR, ".py")),
                         [](const auto& info) { return test::test_name(info.param.name); });

}  // namespace
}  // namespace ww::script::golden_test
