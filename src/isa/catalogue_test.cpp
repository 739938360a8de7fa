// SPDX-License-Identifier: Apache-2.0
// Laws over the whole catalogue. What single instructions mean is tested elsewhere; here the tables
// are held against each other, and every form is found again from its own opcodes.
#include "isa/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "isa/families.h"
#include "isa/family_id.h"
#include "isa/special_registers.h"

namespace ww::isa::catalogue_test {
namespace {

using testing::UnorderedElementsAreArray;

template <typename Visit>
void for_each_form(Visit&& visit) {
  for (const Family& family : families()) {
    for (const Form& form : family.forms) visit(form);
  }
}

// --- rows ----------------------------------------------------------------------------------------

std::size_t words_in(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    count += text[i] != ' ' && (i == 0 || text[i - 1] == ' ') ? 1U : 0U;
  }
  return count;
}

// Reading stops the program at a row it cannot read; here nothing of a row may get lost.
TEST(Catalogue, ReadsEveryRow) {
  std::size_t rows = 0;
  std::size_t forms = 0;
  for (const FamilyRows* family : family_rows()) rows += family->rows.size();
  for_each_form([&](const Form& form) {
    ++forms;
    EXPECT_EQ(form.slots.size(), words_in(form.row->slots)) << form.mnemonic.text();
    EXPECT_EQ(form.operands.size(), words_in(form.row->operands)) << form.mnemonic.text();
    EXPECT_EQ(form.gates.size(), form.row->gates.view().size()) << form.mnemonic.text();
    EXPECT_EQ(form.rules.size(), form.row->rules.view().size()) << form.mnemonic.text();
  });
  EXPECT_EQ(forms, rows);
  EXPECT_GT(forms, 400U);
}

TEST(Catalogue, EveryFormSaysWhatItDoes) {
  for_each_form([](const Form& form) {
    EXPECT_FALSE(form.row->about.empty()) << form.mnemonic.text() << " " << form.row->slots;
  });
}

TEST(Catalogue, NoFormIsThereTwice) {
  std::set<std::vector<std::string_view>> seen;
  for_each_form([&](const Form& form) {
    EXPECT_TRUE(seen.insert({form.mnemonic.text(), form.row->slots, form.row->operands}).second)
        << form.mnemonic.text() << "." << form.row->slots << " " << form.row->operands;
  });
}

TEST(Catalogue, FindsFamiliesAndMnemonics) {
  ASSERT_NE(find_family("mma"), nullptr);
  EXPECT_EQ(find_family("mma")->forms[0].mnemonic, Mnemonic("mma"));
  EXPECT_EQ(find_family("no_such_family"), nullptr);
  EXPECT_EQ(forms_of("cp.async.wait_all").size(), 1U);
  EXPECT_GT(forms_of("cp.async").size(), forms_of("cp.async.bulk").size());
  EXPECT_TRUE(forms_of("cp.asy").empty());  // whole words only
}

// --- the lists that rows are made of -------------------------------------------------------------

bool uses_list(const Row& row, std::string_view name) {
  const std::string mark = "$" + std::string(name);
  const auto uses = [&](std::string_view text) {
    for (auto at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
      const std::string_view rest = text.substr(at + mark.size());
      if (rest.empty() || rest.front() == ' ' || rest.front() == '|') return true;
    }
    return false;
  };
  return uses(row.slots) ||
         std::ranges::any_of(
             row.rules.view(),
             [&](const Rule& rule) { return uses(rule.when) || uses(rule.then); }) ||
         std::ranges::any_of(row.gates.view(), [&](const Gate& gate) { return uses(gate.when); });
}

TEST(Catalogue, EveryWordListIsUsed) {
  const std::string_view names[] = {
#define WW_WORDS(name, words) #name,
#include "isa/word_lists.def"
#undef WW_WORDS
  };
  for (const std::string_view name : names) {
    bool used = false;
    for_each_form([&](const Form& form) { used = used || uses_list(*form.row, name); });
    EXPECT_TRUE(used) << "$" << name;
  }
}

TEST(Catalogue, FamiliesAreTheFilesOfTheFolder) {
  const std::vector<std::string> listed = {
#define WW_FAMILY(file) #file,
#include "isa/families.def"
#undef WW_FAMILY
  };
  std::vector<std::string> files;
  const std::filesystem::path folder(WW_SOURCE_DIR "/src/isa/families");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".cpp") files.push_back(entry.path().stem().string());
  }
  EXPECT_THAT(listed, UnorderedElementsAreArray(files));
  std::vector<std::string> names;
  for (const Family& family : families()) names.emplace_back(family.name);
  EXPECT_EQ(names, listed);
}

// A feature that nothing asks for is a row too many, here or in a table that should ask.
TEST(Catalogue, FamilyIdsAreInTheOrderOfTheFamilies) {
#define WW_FAMILY(file) \
  EXPECT_EQ(families()[static_cast<std::size_t>(FamilyId::file##_rows)].name, #file);
#include "isa/families.def"
#undef WW_FAMILY
}

TEST(Catalogue, EveryFeatureIsAskedFor) {
  const Feature all[] = {
#define WW_FEATURE(name, set) Feature::name,
#include "target/features.def"
#undef WW_FEATURE
  };
  std::set<Feature> asked;
  for_each_form([&](const Form& form) {
    for (const GateInfo& gate : form.gates) asked.insert(gate.needs);
  });
  for (const SpecialRegister& special : special_registers()) asked.insert(special.needs);
  for (const Feature feature : all) {
    EXPECT_TRUE(asked.contains(feature)) << target::name_of(feature);
  }
}

// --- opcodes -------------------------------------------------------------------------------------

// Up to 10 bindings that the form's rules allow, always the same.
std::vector<Binding> some_bindings(const Form& form) {
  std::vector<Binding> found;
  std::minstd_rand random(12345);
  for (int tries = 0; tries < 500 && found.size() < 10; ++tries) {
    Binding binding(form);
    for (std::size_t i = 0; i < form.slots.size(); ++i) {
      const Slot& slot = form.slots[i];
      const std::size_t pick = random() % (slot.words.size() + (slot.optional ? 1 : 0));
      if (pick < slot.words.size()) binding.set(i, static_cast<std::uint8_t>(pick));
    }
    if (!broken_rule(binding)) found.push_back(binding);
  }
  return found;
}

bool same(const Binding& a, const Binding& b) {
  if (&a.form() != &b.form()) return false;
  for (std::size_t i = 0; i < a.form().slots.size(); ++i) {
    if (a.choice(i) != b.choice(i)) return false;
  }
  return true;
}

bool binds_to(const std::string& opcode, const Binding& binding) {
  const Bindings found = bind_opcode(opcode);
  return std::ranges::any_of(found.fits, [&](const Binding& fit) { return same(fit, binding); });
}

TEST(Catalogue, EveryOpcodeFindsItsForm) {
  for_each_form([](const Form& form) {
    const std::vector<Binding> bindings = some_bindings(form);
    EXPECT_FALSE(bindings.empty()) << form.mnemonic.text() << "." << form.row->slots;
    for (const Binding& binding : bindings) {
      EXPECT_TRUE(binds_to(binding.opcode(), binding)) << binding.opcode();
    }
  });
}

// Whether a modifier is known by its word alone: no type, no state space, and no word of another
// slot, since those are told apart by their order.
bool is_free(const Form& form, std::size_t slot) {
  if (form.slots[slot].kind != SlotKind::Word) return false;
  for (std::size_t i = 0; i < form.slots.size(); ++i) {
    if (i == slot) continue;
    for (const Word word : form.slots[slot].words) {
      if (std::ranges::find(form.slots[i].words, word) != form.slots[i].words.end()) return false;
    }
  }
  return true;
}

// The opcode with its free modifiers in reverse; the others keep their places.
std::string reversed_opcode(const Binding& binding) {
  const Form& form = binding.form();
  std::vector<std::string_view> free_words;
  for (std::size_t i = 0; i < form.slots.size(); ++i) {
    if (binding.has(i) && is_free(form, i)) free_words.push_back(binding.word(i).text());
  }
  std::string opcode(form.mnemonic.text());
  for (std::size_t i = 0; i < form.slots.size(); ++i) {
    if (!binding.has(i)) continue;
    std::string_view word = binding.word(i).text();
    if (is_free(form, i)) {
      word = free_words.back();
      free_words.pop_back();
    }
    opcode.append(".").append(word);
  }
  return opcode;
}

TEST(Catalogue, ModifiersMayStandInAnyOrder) {
  for_each_form([](const Form& form) {
    for (const Binding& binding : some_bindings(form)) {
      const std::string opcode = reversed_opcode(binding);
      EXPECT_TRUE(binds_to(opcode, binding)) << opcode;
    }
  });
}

TEST(Catalogue, EnumeratesWhatTheRulesAllow) {
  const Form& add = *forms_of("add").front();  // add{.sat}.type, .sat for .s32 only
  std::vector<std::string> opcodes;
  for_each_binding(add, [&](const Binding& binding) { opcodes.push_back(binding.opcode()); });
  EXPECT_THAT(opcodes, testing::ElementsAre("add.u16", "add.u32", "add.u64", "add.s16", "add.s32",
                                            "add.s64", "add.s16x2", "add.u16x2", "add.sat.s32"));
}

// --- special registers ---------------------------------------------------------------------------

TEST(SpecialRegisters, AreFoundByTheirFullNames) {
  struct Case {
    std::string_view text, name;
    Type type;
  };
  const Case cases[] = {
      {"%tid.x", "tid", Type::U32},
      {"%nctaid.w", "nctaid", Type::U32},
      {"%laneid", "laneid", Type::U32},
      {"%clock64", "clock64", Type::U64},
      {"%pm3", "pm", Type::U32},
      {"%pm3_64", "pm_64", Type::U64},
      {"%envreg0", "envreg", Type::B32},
      {"%envreg31", "envreg", Type::B32},
      {"%reserved_smem_offset_1", "reserved_smem_offset_", Type::B32},
      {"%reserved_smem_offset_cap", "reserved_smem_offset_cap", Type::B32},
      {"%is_explicit_cluster", "is_explicit_cluster", Type::Pred},
  };
  for (const auto& [text, name, type] : cases) {
    const SpecialRegister* found = find_special(text);
    ASSERT_NE(found, nullptr) << text;
    EXPECT_EQ(found->name, name) << text;
    EXPECT_EQ(found->type, type) << text;
  }
}

TEST(SpecialRegisters, OthersAreNot) {
  for (const std::string_view text :
       {"%tid", "%tid.", "%tid.q", "%tid.xy", "%laneid.x", "%pm", "%pm8", "%pm03", "%pm3_65",
        "%envreg32", "%reserved_smem_offset_2", "%nope", "tid.x", "%", ""}) {
    EXPECT_EQ(find_special(text), nullptr) << text;
  }
}

}  // namespace
}  // namespace ww::isa::catalogue_test
