// SPDX-License-Identifier: Apache-2.0
// Which values the samples of a trial take.
#include "lower/proof/values.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ww::lower::sampled_values_test {
namespace {

TEST(SampledValues, KeepWhatWasChosen) {
  FewValues few;
  SampledValues values(5, few);
  EXPECT_TRUE(values.empty());
  const std::int64_t n = values.within("n", {1, 1000}, 1);
  EXPECT_FALSE(values.empty());
  EXPECT_EQ(values.within("n", {2000, 3000}, 1), n);
  values.prefer("n", n + 1);
  EXPECT_EQ(values.within("n", {1, 1000}, 1), n);
  values.prefer("m", 77);
  EXPECT_EQ(values.within("m", {1, 10}, 1), 77);
}

TEST(SampledValues, StayInTheRangeAndKeepTheDivisor) {
  for (int sample = 0; sample < 60; ++sample) {
    FewValues few;
    SampledValues values(sample, few);
    for (const ir::Range range : {ir::Range{0, 96}, {-320, 640}, {16, 1 << 20}, {32, 64}}) {
      const auto key = "in " + std::to_string(range.min) + " " + std::to_string(range.max);
      const std::int64_t value = values.within(key, range, 16);
      EXPECT_GE(value, range.min) << key << ", sample " << sample;
      EXPECT_LE(value, range.max) << key << ", sample " << sample;
      EXPECT_EQ(value % 16, 0) << key << ", sample " << sample;
    }
  }
}

TEST(SampledValues, BeginWithTheEnds) {
  FewValues few;
  EXPECT_EQ(SampledValues(0, few).within("n", {3, 1000}), 3);
  EXPECT_EQ(SampledValues(1, few).within("n", {3, 1000}), 1000);
}

TEST(SampledValues, TakeEachOfFew) {
  FewValues few;
  for (int sample = 0; sample < 5; ++sample) {
    FewValues chosen;
    SampledValues(sample, chosen).within("i", {0, 4});
    const std::vector<bool>& now = chosen.at("i");
    EXPECT_EQ(std::count(now.begin(), now.end(), true), 1);
    std::vector<bool>& all = few.try_emplace("i", 5).first->second;
    for (std::size_t i = 0; i < 5; ++i) all[i] = all[i] || now[i];
  }
  EXPECT_EQ(few.at("i"), std::vector<bool>(5, true));
}

TEST(SampledValues, TellAddressesApart) {
  for (int sample = 0; sample < 4; ++sample) {
    FewValues few;
    SampledValues values(sample, few);
    const ir::Type type = ir::Type::of(num::DType::Uint32);
    const ir::Range any{0, 0xFFFF'FFFF};
    EXPECT_NE(values.of_type(type, "a", any), values.of_type(type, "b", any));
  }
}

TEST(SampledValues, NoteBothOutcomes) {
  FewValues few;
  SampledValues values(0, few);
  values.note_outcome("c", PerUnit(4, 1));
  EXPECT_EQ(few.at("c"), (std::vector<bool>{false, true}));
  values.note_outcome("c", PerUnit(std::vector<std::int64_t>{1, 0, 1, 1}));
  EXPECT_EQ(few.at("c"), (std::vector<bool>{true, true}));
}

}  // namespace
}  // namespace ww::lower::sampled_values_test
