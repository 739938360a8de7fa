// SPDX-License-Identifier: Apache-2.0
// The front end on programs near the golden ones: bytes and tokens changed by chance, from fixed
// seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/golden_file.h"
#include "hostile/script/change_text.h"
#include "hostile/script/compile_law.h"

namespace ww::script::compile_law_test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSteps = 20'000;
constexpr std::uint32_t kRuns = 6000;

struct Program {
  std::string name;
  std::string text;
  std::string kernel;
};

// Golden programs without what is expected of them, but for those whose point is to take long.
std::vector<Program> programs() {
  std::vector<Program> out;
  for (const test::GoldenPlace& place :
       test::find_cases(fs::path(WW_SOURCE_DIR) / "tests/golden/script", ".py")) {
    std::string text = test::GoldenFile(place.file).cases[place.index].text;
    text.resize(std::min(text.find("#--- expected"), text.size()));
    std::string kernel = kernel_of(text);
    out.push_back({place.name, std::move(text), std::move(kernel)});
  }
  return out;
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
}  // namespace ww::script::compile_law_test
