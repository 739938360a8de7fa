// SPDX-License-Identifier: Apache-2.0
#include "ptx/names.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ww::ptx::names_test {
namespace {

// Lengths around those that are stored and hashed differently.
std::vector<std::string> texts_of_many_lengths() {
  std::vector<std::string> out;
  for (std::size_t length = 1; length <= 70; ++length)
    for (const char c : {'a', 'b', '\0'}) {
      out.emplace_back(length, c);
      out.push_back(std::string(length, c) + "1");
      out.push_back("1" + std::string(length, c));
    }
  return out;
}

TEST(Names, TheSameTextHasTheSameId) {
  NamePool pool;
  const NameId r1 = pool.intern("%r1");
  const NameId add = pool.intern("add.rn.ftz.f32");
  EXPECT_NE(r1, add);
  EXPECT_EQ(pool.intern(std::string("%r1")), r1);
  EXPECT_EQ(pool.intern(std::string("add.rn.ftz.f32")), add);
  EXPECT_EQ(pool.text(r1), "%r1");
  EXPECT_EQ(pool.text(add), "add.rn.ftz.f32");
  EXPECT_EQ(pool.size(), 3U);
}

TEST(Names, TheEmptyTextIsAlwaysThere) {
  NamePool pool;
  EXPECT_EQ(pool.intern(""), kNoName);
  EXPECT_EQ(pool.text(kNoName), "");
  EXPECT_EQ(pool.find(""), kNoName);
  EXPECT_EQ(pool.size(), 1U);
}

TEST(Names, FindDoesNotAdd) {
  NamePool pool;
  EXPECT_EQ(pool.find("%r1"), std::nullopt);
  EXPECT_EQ(pool.find("a longer name"), std::nullopt);
  EXPECT_EQ(pool.size(), 1U);
  const NameId id = pool.intern("%r1");
  EXPECT_EQ(pool.find("%r1"), id);
}

TEST(Names, TextsOfAllLengthsStayApart) {
  NamePool pool;
  std::vector<std::pair<std::string, NameId>> seen;
  for (const std::string& text : texts_of_many_lengths()) {
    const std::size_t before = pool.size();
    const NameId id = pool.intern(text);
    const bool is_new = pool.size() > before;
    for (const auto& [other, other_id] : seen) EXPECT_EQ(other == text, other_id == id);
    if (is_new) seen.emplace_back(text, id);
    EXPECT_EQ(pool.text(id), text);
  }
}

TEST(Names, ManyNamesAndStableTexts) {
  NamePool pool;
  const std::string_view first = pool.text(pool.intern("the first of many"));
  std::vector<NameId> ids;
  for (int i = 0; i < 100000; ++i) ids.push_back(pool.intern(fmt::format("%r{}", i)));
  for (int i = 0; i < 100000; ++i) {
    ASSERT_EQ(pool.text(ids[static_cast<std::size_t>(i)]), fmt::format("%r{}", i));
    ASSERT_EQ(pool.find(fmt::format("%r{}", i)), ids[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(first, "the first of many");
}

TEST(Names, CopiesNumberAlikeAndGrowApart) {
  NamePool pool;
  for (int i = 0; i < 1000; ++i) pool.intern(fmt::format("register_{}", i));
  NamePool copy(pool);
  const NameId mine = copy.intern("mine");
  const NameId yours = pool.intern("yours");
  EXPECT_EQ(mine, yours);
  EXPECT_EQ(copy.text(mine), "mine");
  EXPECT_EQ(pool.text(yours), "yours");
  EXPECT_EQ(copy.find("register_500"), pool.find("register_500"));
  pool = copy;
  EXPECT_EQ(pool.text(yours), "mine");
}

TEST(Names, MovesKeepTextsInPlace) {
  NamePool pool;
  const NameId id = pool.intern("name");
  const std::string_view text = pool.text(id);
  NamePool other(std::move(pool));
  EXPECT_EQ(other.text(id).data(), text.data());
  NamePool third;
  third = std::move(other);
  EXPECT_EQ(third.find("name"), id);
}

// Names whose products with the hash's multiplier have the same high bits, and so the same home.
// Without another seed they would make one long run, and this test take a hundred times as long.
TEST(Names, NamesMadeToCollideAreParted) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15U;
  std::uint64_t inverse = 1;  // of the multiplier, modulo 2^64, by Newton's method
  for (int i = 0; i < 6; ++i) inverse *= 2 - kMultiplier * inverse;
  ASSERT_EQ(inverse * kMultiplier, 1U);
  NamePool pool;
  constexpr std::uint64_t kNames = 200000;
  for (std::uint64_t i = 0; i < kNames; ++i) {
    const std::uint64_t bytes = i * inverse & ~(std::uint64_t{0xF} << 56U);
    pool.intern({reinterpret_cast<const char*>(&bytes), 8});  // NOLINT: any bytes will do
  }
  EXPECT_EQ(pool.size(), kNames + 1);
}

}  // namespace
}  // namespace ww::ptx::names_test
