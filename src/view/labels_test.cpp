// SPDX-License-Identifier: Apache-2.0
#include "view/paint.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "layout/axis.h"
#include "view/test_views.h"

namespace ww::view::labels_test {
namespace {

struct Case {
  std::string notation;
  std::int64_t size;
  std::string last;  // label of the last element
  std::string key;
};

TEST(Labels, SpellingPerKind) {
  const std::vector<Case> cases{
      {"S[(32,2):(1@laneid,1)]", 64, "T31 r1", "T laneid, r register (m)"},
      {"S[(2,32,2):(1@warpid,1@laneid,1)]", 128, "w1 T31 r1", "w warpid, T laneid, r register (m)"},
      {"S[(2,4,32):(1@wgid,1@wid_in_wg,1@laneid)]", 256, "g1 w3 T31",
       "g wgid, w wid_in_wg, T laneid"},
      {"S[(128,2):(1@tid_in_wg,1)]", 256, "t127 r1", "t tid_in_wg, r register (m)"},
      {"S[(2,64):(1@cbx,1@tx)]", 128, "cbx1 t63", "cbx, t tx"},
      {"S[(8,8):(8,1)]", 64, "63", "address in elements"},
      {"S[(8,4):(1@TLane,1@TCol)]", 32, "7,3", "TLane, TCol"},
      {"S[(8,4):(1@P,1@F)]", 32, "F3 P7", "F, P"},
      {"S[(8,4):(1@stage,1@x1)]", 32, "stage=7 x1=3", "stage, x1"},
  };
  for (const auto& [notation, size, last, key] : cases) {
    const LayoutView view = make_view(notation, {size});
    const Labels labels = labels_of(view);
    EXPECT_EQ(labels.text(view.first_place(size - 1)), last);
    EXPECT_EQ(labels_key(labels, view), key);
  }
}

TEST(Labels, PrefixesThatClashAreSpeltOut) {
  const LayoutView view = make_view("S[(2,2):(1@warpid,1@wid_in_wg)]", {4});
  EXPECT_EQ(labels_of(view).text(view.first_place(3)), "warpid=1 wid_in_wg=1");
}

TEST(Labels, TheNarrowestThreadAxisIsTheKey) {
  const LayoutView view = make_view("S[(2,32,2):(1@warpid,1@laneid,1)]", {128});
  const Labels labels = labels_of(view);
  EXPECT_EQ(labels.texts(view.first_place(10))[labels.key], "T5");
}

TEST(Labels, LongestPartsCountSigns) {
  const LayoutView view = make_view("S[4:-1] + 0", {4});
  EXPECT_EQ(longest_parts(labels_of(view), view), std::vector<std::size_t>{2});
}

}  // namespace
}  // namespace ww::view::labels_test
