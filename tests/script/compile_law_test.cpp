// SPDX-License-Identifier: Apache-2.0
// The front end on programs near the golden ones: bytes and tokens changed by chance, from fixed
// seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_io.h"
#include "script/compile_law.h"

namespace ww::script {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSteps = 20'000;
constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
constexpr std::uint32_t kRuns = 6000;

struct Program {
  std::string name;
  std::string text;
  std::string kernel;
};

// Golden programs without what is expected of them, but for those whose point is to take long.
std::vector<Program> programs() {
  std::vector<Program> out;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(WW_SOURCE_DIR) / "tests/golden/script")) {
    if (entry.path().extension() != ".py") continue;
    std::string text = read_file(entry.path(), kMaxBytes).value_or("");
    text.resize(std::min(text.find("#--- expected"), text.size()));
    std::string kernel = kernel_of(text);
    out.push_back({entry.path().stem().string(), std::move(text), std::move(kernel)});
  }
  std::sort(out.begin(), out.end(),
            [](const Program& a, const Program& b) { return a.name < b.name; });
  return out;
}

class Chance {
 public:
  explicit Chance(std::uint32_t seed) : engine_(seed) {}
  std::size_t below(std::size_t bound) { return engine_() % bound; }

 private:
  std::mt19937 engine_;
};

using namespace std::string_view_literals;
constexpr std::string_view kMarks = "{}[]()<>;:,.|+-!@\"'/*#%\0\n\t 09azT_=~"sv;
constexpr std::string_view kWords[] = {
    "n",   "tid",   "kernel", "T",        "Tx",  "0",     "1",      "-1",      "2**70",
    "1.5", "None",  "True",   "[]",       "()",  "{}",    "\"x\"",  "lambda:", "*",
    "**",  "==",    "in",     "is",       "not", "and",   "or",     "if",      "else",
    "for", "while", "return", "break",    "def", "class", "global", "with",    "try:",
    "del", "yield", "[0]",    "[::2]",    ".x",  ".view", "(tid)",  "range",   "B",
    "S",   "@",     "laneid", "f\"{n}\"", ":=",
};

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The bounds of the token around a place: a word, or one other byte.
std::pair<std::size_t, std::size_t> token_at(const std::string& text, std::size_t at) {
  std::size_t begin = at;
  std::size_t end = at + 1;
  if (!is_word(text[at])) return {begin, end};
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return {begin, end};
}

std::string changed(std::string text, Chance& chance) {
  const std::size_t edits = 1 + chance.below(3);
  for (std::size_t i = 0; i < edits && !text.empty(); ++i) {
    const std::size_t at = chance.below(text.size());
    const auto [begin, end] = token_at(text, at);
    const auto [other, other_end] = token_at(text, chance.below(text.size()));
    const std::string word = text.substr(other, other_end - other);
    switch (chance.below(7)) {
      case 0:
        text[at] = static_cast<char>(chance.below(256));
        break;
      case 1:
        text.erase(begin, end - begin);
        break;
      case 2:
        text.insert(at, 1, kMarks[chance.below(kMarks.size())]);
        break;
      case 3:
        text.insert(begin, word + " ");
        break;
      case 4:
        text.replace(begin, end - begin, word);
        break;
      default:
        text.replace(begin, end - begin, kWords[chance.below(std::size(kWords))]);
        break;
    }
  }
  return text;
}

void expect_law(const Program& program, const std::string& text, const std::string& what) {
  Options options;
  options.kernel = program.kernel;
  options.max_steps = kSteps;
  const std::string broken = broken_law(text, options);
  EXPECT_EQ(broken, "") << program.name << ", " << what << "\n--- kernel " << program.kernel
                        << "\n--- text\n"
                        << text;
}

TEST(ChangedPrograms, ThereAreSome) { EXPECT_GE(programs().size(), 100U); }

TEST(ChangedPrograms, ByChance) {
  const std::vector<Program> all = programs();
  for (std::uint32_t seed = 0; seed < kRuns; ++seed) {
    Chance chance(seed);
    const Program& program = all[chance.below(all.size())];
    expect_law(program, changed(program.text, chance), "seed " + std::to_string(seed));
    if (testing::Test::HasFailure()) return;  // one text is enough to look at
  }
}

TEST(ChangedPrograms, EndAnywhere) {
  const std::vector<Program> all = programs();
  for (std::uint32_t seed = 0; seed < kRuns / 4; ++seed) {
    Chance chance(seed);
    const Program& program = all[chance.below(all.size())];
    const std::size_t length = chance.below(program.text.size() + 1);
    expect_law(program, program.text.substr(0, length), "up to " + std::to_string(length));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace ww::script
