// SPDX-License-Identifier: Apache-2.0
#include "ir/hardware_id.h"

#include <gtest/gtest.h>

namespace ww::ir::hardware_id_test {
namespace {

TEST(HardwareId, EveryNameIsReadBack) {
  using Kind = HardwareId::Kind;
  for (const Kind kind : {Kind::BlockIdx, Kind::ThreadIdx, Kind::ClusterCtaIdx})
    for (const std::size_t dim : {0U, 1U, 2U})
      EXPECT_EQ(parse_hardware_id(name_of(HardwareId{kind, dim})), (HardwareId{kind, dim}));
  EXPECT_EQ(name_of({Kind::ClusterCtaIdx, 2}), "clusterCtaIdx.z");
}

TEST(HardwareId, NothingElseIsOne) {
  for (const std::string_view text :
       {"", "threadIdx", "threadIdx.", "threadIdx.w", "threadIdx.xy", "clusterIdx.x", ".x"}) {
    const auto id = parse_hardware_id(text);
    ASSERT_FALSE(id) << text;
    EXPECT_EQ(id.error().kind, DiagKind::BadScopeIds);
  }
}

}  // namespace
}  // namespace ww::ir::hardware_id_test
