// SPDX-License-Identifier: Apache-2.0
#include "isa/words.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <type_traits>
#include <vector>

#include "isa/catalogue.h"

namespace ww::isa {
namespace {

// --- what the compiler checks --------------------------------------------------------------------

template <std::size_t kSize>
struct Text {
  constexpr Text(const char (&from)[kSize]) { std::ranges::copy(from, text); }  // NOLINT: literals
  char text[kSize];
};

// Whether `Listed("…")` compiles.
template <typename Listed, Text kText>
concept Compiles = requires {
  typename std::integral_constant<std::size_t, Listed(kText.text).index()>;
};

static_assert(Compiles<Word, "release"> && !Compiles<Word, "relaese">);
static_assert(Compiles<SlotName, "sem"> && !Compiles<SlotName, "sme">);
static_assert(Compiles<Mnemonic, "mma"> && !Compiles<Mnemonic, "mna">);
// A list has its own type: a word is no slot, and no mnemonic.
static_assert(!Compiles<SlotName, "m16n8k16"> && !Compiles<Word, "tcgen05.mma">);
static_assert(!std::equality_comparable_with<Word, SlotName>);

constexpr int bits_of(Word type) {
  switch (type) {
    case Word("f16"):
      return 16;
    case Word("f32"):
      return 32;
    default:
      return 0;
  }
}
static_assert(bits_of("f16") == 16 && bits_of("f32") == 32 && bits_of("rn") == 0);
static_assert(bits_of(Word()) == 0 && Word().empty() && Word().text().empty());

static_assert(Word("rz").is_one_of({"rn", "rz"}) && !Word("rp").is_one_of({"rn", "rz"}));
static_assert(Word("rz").as<int>({{"rn", 1}, {"rz", 2}}) == 2);
static_assert(!Word("rp").as<int>({{"rn", 1}, {"rz", 2}}));

// --- what the rows check -------------------------------------------------------------------------

template <typename Visit>
void for_each_form(Visit&& visit) {
  for (const Family& family : families())
    for (const Form& form : family.forms) visit(form);
}

TEST(Words, MnemonicsAreThoseOfTheRowsInTheirOrder) {
  std::vector<std::string_view> seen;
  for_each_form([&](const Form& form) {
    const std::string_view name = form.mnemonic.text();
    if (std::ranges::find(seen, name) == seen.end()) seen.push_back(name);
  });
  const auto all = Mnemonic::all();
  EXPECT_EQ(seen, std::vector(all.begin(), all.end()));
}

// Reading a row has found all of its words in the lists; here no list has more.
TEST(Words, EverySlotAndWordIsInSomeRow) {
  std::set<std::string_view> slots, words;
  for_each_form([&](const Form& form) {
    for (const Slot& slot : form.slots) {
      slots.insert(slot.name.text());
      for (const Word word : slot.words) words.insert(word.text());
    }
  });
  for (const std::string_view slot : SlotName::all()) EXPECT_TRUE(slots.contains(slot)) << slot;
  for (const std::string_view word : Word::all()) EXPECT_TRUE(words.contains(word)) << word;
}

TEST(Words, AreFoundByTheirTexts) {
  for (const std::string_view text : Word::all()) {
    ASSERT_TRUE(Word::find(text)) << text;
    EXPECT_EQ(Word::find(text)->text(), text);
  }
  EXPECT_EQ(Word::find("acq_rel"), Word("acq_rel"));
  EXPECT_EQ(Word::find("no_such_word"), std::nullopt);
}

TEST(Words, TypesStandFirst) {
#define WW_TYPE(name, text, cls, bits, declared, number) \
  EXPECT_EQ(parse_type(Word(text)), Type::name);
#include "isa/types.def"
#undef WW_TYPE
  EXPECT_EQ(parse_type(Word("rn")), std::nullopt);
  EXPECT_EQ(parse_type(Word()), std::nullopt);
}

}  // namespace
}  // namespace ww::isa
