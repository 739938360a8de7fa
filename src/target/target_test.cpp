// SPDX-License-Identifier: Apache-2.0
#include "target/target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace ww::target::target_test {
namespace {

TEST(Arch, IsReadAndNamed) {
  for (const ArchInfo& arch : kArchs) {
    const auto read = parse_arch(arch.name);
    ASSERT_TRUE(read) << arch.name;
    EXPECT_EQ(*read, arch.arch);
    EXPECT_EQ(info(*read).name, arch.name);
  }
  EXPECT_EQ(info(Arch::Sm100a).number, 100);
  EXPECT_EQ(info(Arch::Sm100a).kind, ArchKind::Accelerated);
  EXPECT_EQ(info(Arch::Sm100f).kind, ArchKind::Family);
}

TEST(Arch, UnknownNamesGetTheNearest) {
  struct Case {
    std::string_view text, message;
  };
  const Case cases[] = {
      {"sm_91a", "no architecture is called `sm_91a`; did you mean `sm_90a`?"},
      {"sm90a", "no architecture is called `sm90a`; did you mean `sm_90a`?"},
      {"SM_75", "no architecture is called `SM_75`; did you mean `sm_75`?"},
      {"", "no architecture is called ``"},
      {"gfx942", "no architecture is called `gfx942`"},
  };
  for (const auto& [text, message] : cases) {
    const auto read = parse_arch(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().kind, DiagKind::UnknownName);
    EXPECT_EQ(read.error().text, message);
    EXPECT_TRUE(read.error().notes.at(0).text.starts_with("known: sm_75, sm_80, sm_86"));
  }
}

// Architectures are listed lowest first, the plain one before its `a` and `f`; rows and stored
// verdicts rely on the order.
TEST(Arch, TableIsInOrder) {
  EXPECT_TRUE(std::ranges::is_sorted(
      kArchs, {}, [](const ArchInfo& arch) { return std::pair(arch.number, arch.kind); }));
  for (const ArchInfo& arch : kArchs) {
    EXPECT_EQ(kArchs[static_cast<std::size_t>(arch.arch)].name, arch.name);
    EXPECT_TRUE(std::ranges::binary_search(ptx_versions(), arch.min_ptx)) << arch.name;
    EXPECT_GE(arch.static_shared_bytes, 48 * 1024) << arch.name;
  }
}

TEST(PtxVersion, IsReadAndWritten) {
  EXPECT_TRUE(std::ranges::is_sorted(ptx_versions()));
  for (const int version : ptx_versions()) {
    EXPECT_EQ(parse_ptx_version(ptx_version_text(version)).value(), version);
  }
  EXPECT_EQ(ptx_version_text(86), "8.6");
  EXPECT_EQ(parse_ptx_version("9.0").value(), 90);
}

TEST(PtxVersion, OthersAreRefused) {
  for (const std::string_view text :
       {"7.9", "8.9", "9.9", "6.2", "8", "8.60", "08.6", "eight", ""}) {
    const auto read = parse_ptx_version(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().kind, DiagKind::UnknownName);
  }
  EXPECT_EQ(parse_ptx_version("7.9").error().text, "PTX version `7.9` is not known");
  EXPECT_EQ(parse_ptx_version("7.9").error().notes.at(0).text, "known: 6.3 to 9.0");
}

TEST(ArchSet, IsWrittenInWords) {
  EXPECT_EQ(to_text(archs_with(Feature::Sm75)), "sm_75 or later");
  EXPECT_EQ(to_text(archs_with(Feature::Sm100)), "sm_100 or later");
  EXPECT_EQ(to_text(archs_with(Feature::Wgmma)), "sm_90a");
  EXPECT_EQ(to_text(archs_with(Feature::FloatRedux)), "sm_100a, sm_100f, sm_103a, sm_103f");
  EXPECT_EQ(to_text(ArchSet()), "");
  ArchSet last;
  last.add(Arch::Sm121f);
  EXPECT_EQ(to_text(last), "sm_121f");
}

TEST(ArchSet, HoldsWhatWasAdded) {
  ArchSet set;
  EXPECT_TRUE(set.empty());
  set.add(Arch::Sm90a);
  set.add(Arch::Sm121f);
  EXPECT_TRUE(set.contains(Arch::Sm90a));
  EXPECT_TRUE(set.contains(Arch::Sm121f));
  EXPECT_FALSE(set.contains(Arch::Sm90));
  EXPECT_EQ(set & archs_with(Feature::Wgmma), archs_with(Feature::Wgmma));
  EXPECT_TRUE((set & archs_with(Feature::TensorMemory)).empty());
}

TEST(Feature, BelongsToArchitectures) {
  const ArchSet tensor_memory = archs_with(Feature::TensorMemory);
  EXPECT_TRUE(tensor_memory.contains(Arch::Sm100a));
  EXPECT_TRUE(tensor_memory.contains(Arch::Sm103f));
  EXPECT_FALSE(tensor_memory.contains(Arch::Sm100));   // plain
  EXPECT_FALSE(tensor_memory.contains(Arch::Sm120a));  // another family
  EXPECT_EQ(name_of(Feature::TensorMemory), "TensorMemory");
}

TEST(Feature, NoneIsEmptyAndNamesDiffer) {
  const Feature all[] = {
#define WW_FEATURE(name, set) Feature::name,
#include "target/features.def"
#undef WW_FEATURE
  };
  for (const Feature feature : all) {
    EXPECT_FALSE(archs_with(feature).empty()) << name_of(feature);
    for (const Feature other : all) {
      EXPECT_TRUE(other == feature || name_of(other) != name_of(feature)) << name_of(feature);
    }
  }
}

TEST(Target, HasFeaturesOfItsArchitecture) {
  EXPECT_TRUE((Target{Arch::Sm90a, 80}.has(Feature::Wgmma)));
  EXPECT_FALSE((Target{Arch::Sm90, 80}.has(Feature::Wgmma)));
  EXPECT_FALSE((Target{Arch::Sm100a, 90}.has(Feature::Wgmma)));  // not on later chips either
  EXPECT_TRUE((Target{Arch::Sm121f, 90}.has(Feature::Sm75)));
}

}  // namespace
}  // namespace ww::target::target_test
