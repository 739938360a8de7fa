// SPDX-License-Identifier: Apache-2.0
// Every rule of lower/rules.def is one that some variant declines by, and the list is sorted.
#include "lower/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace ww::rules_test {
namespace {

namespace fs = std::filesystem;

std::string all_variants() {
  std::string out;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(WW_SOURCE_DIR) / "src/lower")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name == "rules.def" || name.ends_with("_test.cpp")) continue;
    std::ifstream in(entry.path());
    out.append(std::istreambuf_iterator<char>(in), {});
  }
  return out;
}

TEST(Rules, EachIsDeclinedBy) {
  const std::string sources = all_variants();
  for (const lower::RuleFacts& rule : lower::kRules)
    EXPECT_NE(sources.find("\"" + std::string(rule.name) + "\""), std::string::npos)
        << rule.name << " is in no source";
}

TEST(Rules, AreSorted) {
  EXPECT_TRUE(std::ranges::is_sorted(lower::kRules, {}, &lower::RuleFacts::name));
}

}  // namespace
}  // namespace ww::rules_test
