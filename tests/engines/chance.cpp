// SPDX-License-Identifier: Apache-2.0
#include "engines/chance.h"

#include <map>

#include "engines/family.h"

namespace ww::test {
namespace {

// Every engine that runs the program finds it wrong by that check.
void expect_wrong(const ProgramByChance& made) {
  const Findings found = findings_of(made.program);
  EXPECT_TRUE(found.checked.right()) << found.checked.explain();
  const auto expect = [&](const char* engine, const std::optional<std::string>& text) {
    EXPECT_TRUE(text && text->starts_with(made.wrong))
        << engine << ": " << text.value_or("nothing") << "\nexpected `" << made.wrong << "` in\n"
        << made.program.source << found.checked.lowered;
  };
  expect("evaluator, tile program", found.tile);
  if (found.is_lowered_evaluated) expect("evaluator, lowered program", found.lowered);
  expect("virtual GPU", found.device);
}

}  // namespace

void run_by_chance(const std::string& name, std::int64_t count,
                   const std::function<ProgramByChance(std::uint64_t)>& make) {
  Family family(name);
  count = number_of("WW_RANDOM_COUNT", count);
  const auto seed = static_cast<std::uint64_t>(number_of("WW_RANDOM_SEED", 1));
  std::map<std::string, int> declined;
  std::int64_t wrong = 0, refused = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const ProgramByChance made = make(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    const Checked compiled = compile_only(made.program);
    if (!compiled.right()) {
      // No launch is right, and the compiler sees it.
      const bool is_unproven = compiled.why.contains("that keep the regions inside");
      if (!made.wrong.empty() && (is_unproven || compiled.why.contains("[OutOfBounds]"))) {
        ++refused;
        continue;
      }
      // The proof looks for values by chance: of narrow regions in many dimensions it finds none.
      if (is_unproven) {
        ++declined["[proof]"];
        continue;
      }
      const std::string verdict = verdict_on(compiled, made.call, made.variant);
      ASSERT_TRUE(verdict.starts_with("[")) << verdict << "\n" << compiled.explain();
      ++declined[verdict.substr(0, verdict.find(']') + 1)];
      continue;
    }
    if (made.wrong.empty())
      family.run(made.program);
    else
      expect_wrong(made), ++wrong;
    family.count();
    if (::testing::Test::HasFailure()) return;
  }
  if (wrong != 0)
    fmt::print("  wrong, and found so: {}; by the compiler: {}\n", wrong + refused, refused);
  std::int64_t all = 0;
  for (const auto& [rule, times] : declined) {
    fmt::print("  declined {}: {}\n", rule, times);
    all += times;
  }
  EXPECT_LE(all, count / 2);
}

}  // namespace ww::test
