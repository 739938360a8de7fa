// SPDX-License-Identifier: Apache-2.0
// The reader and the printer on whole modules (tests/ptx/modules), on everything near them, and on
// tokens in no order at all.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "ptx/reader_law.h"

namespace ww::ptx::reader_law_test {
namespace {

namespace fs = std::filesystem;

struct File {
  std::string name;
  std::string text;
};

std::vector<File> module_files() {
  std::vector<File> files;
  for (const auto& entry : fs::directory_iterator(fs::path(WW_SOURCE_DIR) / "tests/ptx/modules")) {
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    files.push_back({entry.path().stem().string(), std::move(text).str()});
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.name < b.name; });
  return files;
}

// Not ASSERT_…: the text is worth showing, and so is the next failure.
void expect_law(const std::string& text, const std::string& what) {
  const std::string broken = broken_law(text);
  EXPECT_EQ(broken, "") << what << "\n--- text\n" << text;
}

class WholeModule : public testing::TestWithParam<File> {};

TEST_P(WholeModule, ReadsWithoutErrors) {
  const SourceText source(GetParam().name + ".ptx", GetParam().text);
  for (const Diag& diag : parse(GetParam().text).errors) ADD_FAILURE() << render(diag, source);
}

TEST_P(WholeModule, PrintsBack) { expect_law(GetParam().text, GetParam().name); }

TEST_P(WholeModule, EndsAnywhere) {
  const std::string& text = GetParam().text;
  for (std::size_t length = 0; length < text.size(); ++length)
    expect_law(text.substr(0, length), GetParam().name + " up to " + std::to_string(length));
}

TEST_P(WholeModule, LosesAnyByte) {
  const std::string& text = GetParam().text;
  for (std::size_t i = 0; i < text.size(); ++i)
    expect_law(text.substr(0, i) + text.substr(i + 1),
               GetParam().name + " without byte " + std::to_string(i));
}

INSTANTIATE_TEST_SUITE_P(Modules, WholeModule, testing::ValuesIn(module_files()),
                         [](const auto& test) { return test.param.name; });

TEST(Modules, ThereAreSome) { EXPECT_GE(module_files().size(), 10U); }

// --- random texts --------------------------------------------------------------------------------

class Chance {
 public:
  explicit Chance(std::uint32_t seed) : engine_(seed) {}
  std::size_t below(std::size_t bound) { return engine_() % bound; }

 private:
  std::mt19937 engine_;
};

using namespace std::string_view_literals;
constexpr std::string_view kMarks = "{}[]()<>;:,.|+-!@\"/*#%\0\n 09az_$~"sv;

std::string mutated(std::string text, Chance& chance) {
  const std::size_t edits = 1 + chance.below(4);
  for (std::size_t i = 0; i < edits && !text.empty(); ++i) {
    const std::size_t at = chance.below(text.size());
    const std::size_t length = std::min(chance.below(20), text.size() - at);
    const std::size_t to = chance.below(text.size());
    switch (chance.below(5)) {
      case 0:
        text[at] = static_cast<char>(chance.below(256));
        break;
      case 1:
        text[at] =
            static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << chance.below(8)));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(to, text.substr(at, length));
        break;
      default:
        text.insert(at, 1, kMarks[chance.below(kMarks.size())]);
        break;
    }
  }
  return text;
}

TEST(RandomTexts, ModulesWithSmallChanges) {
  const std::vector<File> files = module_files();
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    Chance chance(seed);
    const File& file = files[chance.below(files.size())];
    expect_law(mutated(file.text, chance), file.name + ", seed " + std::to_string(seed));
  }
}

// clang-format off
constexpr std::string_view kTokens[] = {
    ".version", "8.8", ".target", "sm_90a", ".address_size", "64", ".visible", ".extern",
    ".entry", ".func", "k", "(", ")", "{", "}", "[", "]", ",", ";", ":", "|", "!", "@", "=", "+",
    "-", "<", ">", "?", "*", "/", "%", "&", "^", "~", ".reg", ".b32", ".pred", ".global",
    ".shared", ".param", ".align", "16", ".v4", ".ptr", "%r1", "%p1", "_", "add.s32", "call",
    "bra", "ld.global.b32", "0x1F", "0f3F800000", "1.5", "-", ".loc", "1", "function_name",
    "generic", "WARP_SZ", ".file", "\"a\"", ".section", ".debug_s", ".b8", ".pragma",
    ".callprototype", ".s64", ".maxntid", ".noreturn", ".alias", ".branchtargets", ".attribute",
    ".managed", "//c\n", "/*c*/", "\n", "18446744073709551616", "\"", "/*", "\\", "0789", "a.b",
};
// clang-format on

TEST(RandomTexts, TokensInNoOrder) {
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    Chance chance(seed);
    std::string text = chance.below(4) == 0 ? "" : ".version 8.8 .target sm_90a .address_size 64\n";
    if (chance.below(2) == 0) text += ".entry k() {\n";
    const std::size_t count = chance.below(60);
    for (std::size_t i = 0; i < count; ++i) {
      text += kTokens[chance.below(std::size(kTokens))];
      if (chance.below(3) != 0) text += ' ';
    }
    if (chance.below(2) == 0) text += "}";
    expect_law(text, "seed " + std::to_string(seed));
  }
}

TEST(RandomTexts, AnyBytes) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    Chance chance(seed);
    std::string text = chance.below(2) == 0 ? "" : ".version 8.8 .target sm_90a\n.entry k() {\n";
    const std::size_t count = chance.below(200);
    for (std::size_t i = 0; i < count; ++i) text += static_cast<char>(chance.below(256));
    expect_law(text, "seed " + std::to_string(seed));
  }
}

// The law itself can fail: a text that is read is not the text of another module.
TEST(RandomTexts, TheLawSeesADifference) {
  const std::string text = ".version 8.8 .target sm_90a .global .b32 a;";
  EXPECT_EQ(broken_law(text), "");
  Module other = parse(text).module;
  other.variables[0].align = 8;
  EXPECT_FALSE(equal(parse(text).module, other));
  EXPECT_FALSE(equal(parse(print(other)).module, parse(text).module));
}

}  // namespace
}  // namespace ww::ptx::reader_law_test
