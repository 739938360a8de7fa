// SPDX-License-Identifier: Apache-2.0
// Every kind of diagnostic is shown by some test and explained in docs/reference/diagnostics.md.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/diag.h"

namespace ww::diag_kinds_test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return std::move(out).str();
}

// All expected texts and test sources, in one string.
std::string all_tests() {
  std::string out;
  for (const char* folder : {"src", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(WW_SOURCE_DIR) / folder)) {
      const std::string name = entry.path().filename().string();
      const bool is_test =
          name.ends_with("_test.cpp") || name.ends_with(".txt") || name.ends_with(".py");
      if (entry.is_regular_file() && is_test && name != "diag_kinds_test.cpp")
        out += read(entry.path());
    }
  }
  return out;
}

TEST(DiagKinds, EachIsShownByATest) {
  const std::string tests = all_tests();
  for (const DiagKind kind : all_diag_kinds()) {
    const std::string name(name_of(kind));
    const bool shown = tests.find("[" + name + "]") != std::string::npos ||
                       tests.find("DiagKind::" + name) != std::string::npos;
    EXPECT_TRUE(shown) << name << " appears in no test";
  }
}

TEST(DiagKinds, EachIsExplainedInTheDocs) {
  const std::string page = read(fs::path(WW_SOURCE_DIR) / "docs" / "reference" / "diagnostics.md");
  for (const DiagKind kind : all_diag_kinds()) {
    const std::string row =
        "| `" + std::string(name_of(kind)) + "` | " + std::string(meaning_of(kind)) + " |";
    EXPECT_NE(page.find(row), std::string::npos) << "docs/reference/diagnostics.md lacks the row\n"
                                                 << row;
  }
}

}  // namespace
}  // namespace ww::diag_kinds_test
