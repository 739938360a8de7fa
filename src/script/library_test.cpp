// SPDX-License-Identifier: Apache-2.0
#include "script/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::script::library_test {
namespace {

TEST(Library, ClassesAreThoseOfTheFile) {
  std::vector<std::string_view> names;
  for (const LibraryClass& each : library_classes()) {
    names.push_back(each.name);
    EXPECT_TRUE(each.text.starts_with("class ")) << each.name;
    EXPECT_TRUE(library_text().contains(each.text)) << each.name;
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"PipelineState", "MBarrier", "TMABar", "TCGen05Bar",
                                            "Pipeline", "WarpRole", "WarpgroupRole",
                                            "ClusterPersistentScheduler2D", "GroupMajor3D"}));
}

TEST(Library, ASourceThatNamesAClassWantsIt) {
  EXPECT_TRUE(names_library_class("full = T.TMABar(pool, 4)"));
  EXPECT_TRUE(names_library_class("from tvm.backend.cuda.lang import GroupMajor3D"));
  EXPECT_FALSE(names_library_class("Tx.cta.copy(A_s, A)"));
}

}  // namespace
}  // namespace ww::script::library_test
