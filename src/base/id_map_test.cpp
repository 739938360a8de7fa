// SPDX-License-Identifier: Apache-2.0
#include "base/id_map.h"

#include <gtest/gtest.h>

#include <string>

namespace ww {
namespace {

TEST(IdMap, FindsWhatWasAddedAndNothingElse) {
  IdMap<std::uint64_t> map;
  EXPECT_EQ(map.find(0), nullptr);
  for (std::uint32_t key = 0; key < 3000; key += 3) map.add(key, 10 * std::uint64_t{key});
  EXPECT_EQ(map.size(), 1000U);
  for (std::uint32_t key = 0; key < 3000; ++key) {
    const std::uint64_t* const found = map.find(key);
    ASSERT_EQ(found != nullptr, key % 3 == 0) << key;
    if (found == nullptr) continue;
    EXPECT_EQ(*found, 10 * std::uint64_t{key});
  }
}

TEST(IdMap, TakesKeysThatFallOnOnePlace) {
  IdMap<std::uint32_t> map;
  std::vector<std::uint32_t> keys;
  for (std::uint32_t key = 0; keys.size() < 40; ++key)
    if ((spread(key) & 1023U) == 7) keys.push_back(key);
  for (const std::uint32_t key : keys) map.add(key, key + 1);
  for (const std::uint32_t key : keys) EXPECT_EQ(*map.find(key), key + 1);
}

TEST(HashIndex, TellsThingsOfOneHashApart) {
  const std::vector<std::string> words = {"a", "b", "c", "d"};
  HashIndex index;
  const auto find = [&](const std::string& word) {
    return index.find(1, [&](std::uint32_t number) { return words[number] == word; });
  };
  EXPECT_EQ(find("a"), HashIndex::kNone);
  for (std::uint32_t i = 0; i < words.size(); ++i) index.add(1, i);
  for (std::uint32_t i = 0; i < words.size(); ++i) EXPECT_EQ(find(words[i]), i);
  EXPECT_EQ(find("e"), HashIndex::kNone);
}

TEST(HashIndex, FindsThingsAfterGrowing) {
  HashIndex index;
  for (std::uint32_t i = 0; i < 1000; ++i) index.add(spread(i), i);
  for (std::uint32_t i = 0; i < 1000; ++i)
    EXPECT_EQ(index.find(spread(i), [&](std::uint32_t number) { return number == i; }), i);
}

}  // namespace
}  // namespace ww
