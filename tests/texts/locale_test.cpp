// SPDX-License-Identifier: Apache-2.0
// The library inside a program that has set a global locale of its own: numbers in what it writes
// are the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <locale>
#include <sstream>

#include "base/file_io.h"
#include "emit/ptx/emit.h"
#include "ir/print/print.h"
#include "lower/lower.h"
#include "ptx/printer.h"
#include "script/compile.h"

namespace ww::locale_test {
namespace {

struct Commas : std::numpunct<char> {
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
  [[nodiscard]] std::string do_truename() const override { return "wahr"; }
};

class WithCommas {
 public:
  WithCommas() : before_(std::locale::global({std::locale::classic(), new Commas})) {}
  ~WithCommas() { std::locale::global(before_); }
  WithCommas(const WithCommas&) = delete;
  WithCommas& operator=(const WithCommas&) = delete;

 private:
  std::locale before_;
};

std::string everything_of(const std::string& file) {
  const auto path = std::filesystem::path(WW_SOURCE_DIR) / "examples" / file;
  const target::Target target{.arch = target::parse_arch("sm_100a").value(), .ptx = 90};
  const auto compiled = script::compile(
      SourceText(file, read_file(path, std::size_t{1} << 20U).value()), {.target = target});
  if (!compiled.function) return "no program";
  std::string out = ir::print(*compiled.function);
  const auto lowered = lower::lower(*compiled.function, {.target = target});
  if (!lowered.function) return "not lowered";
  out += ir::print(*lowered.function);
  for (const lower::CallReport& call : lowered.report.calls) out += call.plan.summary;
  const ir::Function expanded = *lowered.function;
  if (const auto module = emit::ptx_module(expanded, {.target = target}))
    out += ptx::print(*module);
  return out;
}

TEST(Locale, OfTheProgramDoesNotShow) {
  for (const std::string file : {"gemm_bias_relu.py", "tcgen05_epilogue.py", "copy_through.py"}) {
    const std::string before = everything_of(file);
    EXPECT_GT(before.size(), 1000U) << before;
    const WithCommas commas;
    std::ostringstream check;
    check << 1234.5;
    ASSERT_EQ(check.str(), "1.234,5");
    EXPECT_TRUE(before == everything_of(file)) << file;
  }
}

}  // namespace
}  // namespace ww::locale_test
