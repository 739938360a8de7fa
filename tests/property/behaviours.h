// SPDX-License-Identifier: Apache-2.0
// Behaviours by example, with values worked out by hand: one test per thing that a user of a
// tile-layout algebra relies on. It covers what the tests of Apache TVM's TIRx cover;
// where its answers are wrong, regressions_test.cpp has the right ones.
#pragma once

#include <gtest/gtest.h>

#include "layout/algebra.h"
#include "layout/apply.h"
#include "layout/text.h"
#include "property/laws.h"

namespace ww::test::behaviours {

using layout::Layout;

inline Place at(const Layout& l, std::int64_t flat) { return place_at_replica_0(read(l), flat); }

inline Place applied(const Layout& l, const Ints& coordinate, const Ints& shape) {
  const auto place = layout::apply(l, coordinate, shape);
  Place out;
  if (!place) {
    ADD_FAILURE() << place.error().text;
    return out;
  }
  for (const auto& [axis, value] : *place) {
    if (value != 0) out[std::string(axis.name())] = value;
  }
  return out;
}

inline void expect_text(const Layout& l, std::string_view want, int line) {
  EXPECT_EQ(layout::to_text(l), want) << "line " << line;
}
#define EXPECT_TEXT(l, want) expect_text(l, want, __LINE__)

inline void expect_same(const Layout& got, std::string_view want, int line) {
  EXPECT_EQ(difference(table_of(read(got)), table_of(read(parsed(want)))), std::nullopt)
      << "line " << line << ": " << notation(read(got)) << " instead of " << want;
}
#define EXPECT_SAME(...) expect_same(__VA_ARGS__, __LINE__)

inline constexpr const char* kCaseStudy =
    "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid";

}  // namespace ww::test::behaviours
