// SPDX-License-Identifier: Apache-2.0
#include "lower/chance.h"

#include <map>

#include "lower/family.h"

namespace ww::test {

void run_by_chance(const std::string& name, std::int64_t count,
                   const std::function<ProgramByChance(std::uint64_t)>& make) {
  Family family(name);
  count = number_of("WW_RANDOM_COUNT", count);
  const auto seed = static_cast<std::uint64_t>(number_of("WW_RANDOM_SEED", 1));
  std::map<std::string, int> declined;
  for (std::int64_t i = 0; i < count; ++i) {
    const ProgramByChance made = make(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    const Checked compiled = compile_only(made.program);
    if (!compiled.right()) {
      const std::string verdict = verdict_on(compiled, made.call, made.variant);
      ASSERT_TRUE(verdict.starts_with("[")) << verdict << "\n" << compiled.explain();
      ++declined[verdict.substr(0, verdict.find(']') + 1)];
      continue;
    }
    family.run(made.program);
    family.count();
    if (::testing::Test::HasFailure()) return;
  }
  std::int64_t all = 0;
  for (const auto& [rule, times] : declined) {
    fmt::print("  declined {}: {}\n", rule, times);
    all += times;
  }
  EXPECT_LE(all, count / 2);
}

}  // namespace ww::test
