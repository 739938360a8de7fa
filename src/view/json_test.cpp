// SPDX-License-Identifier: Apache-2.0
#include "view/json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "json/json.h"
#include "view/test_views.h"

namespace ww::view::json_test {
namespace {

Json json_of(const LayoutView& view) {
  const Result<Json> json = to_json(view);
  return json ? Json::parse(json->dump()).value() : Json(json.error().text);
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.members()) keys.push_back(key);
  return keys;
}

TEST(Json, AWholeOne) {
  EXPECT_EQ(json_of(make_view("S[(1,2):(4@laneid,1)] + R[2:3@warpid]", {2})), Json::parse(R"({
  "layout": "S[(1,2):(4@laneid,1)] + R[2:3@warpid]", "shape": [2], "size": 2, "kind": "registers",
  "axes": ["laneid", "m", "warpid"], "copies": 2, "injective": true, "collision": null,
  "places": 4, "box": 8, "coverage": 0.5, "onto": false,
  "extents": {"laneid": {"min": 0, "max": 0, "distinct": 1}, "m": {"min": 0, "max": 1, "distinct": 2},
              "warpid": {"min": 0, "max": 3, "distinct": 2}},
  "map": [[{"laneid": 0, "m": 0, "warpid": 0}, {"laneid": 0, "m": 0, "warpid": 3}],
          [{"laneid": 0, "m": 1, "warpid": 0}, {"laneid": 0, "m": 1, "warpid": 3}]]
})")
                                                                                  .value());
}

TEST(Json, MapIsRowMajorWithAllReplicas) {
  // Element (1,3): laneid 5, warpid 5 and 9, m 1.
  const Json json = json_of(
      make_view("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid", {8, 16}));
  ASSERT_EQ(json["map"].size(), 128U);
  EXPECT_EQ(
      json["map"][19],
      Json::parse(R"([{"laneid":5,"m":1,"warpid":5},{"laneid":5,"m":1,"warpid":9}])").value());
}

TEST(Json, Collision) {
  const Json json = json_of(make_view("S[(2,2):(0,1)]", {2, 2}));
  EXPECT_EQ(json["injective"], false);
  EXPECT_EQ(json["collision"],
            Json::parse(R"({"first":[0,0],"second":[1,0],"place":{"m":0}})").value());
}

TEST(Json, BanksOnlyWithAGivenWidth) {
  EXPECT_FALSE(json_of(make_view("S[64:1]", {64})).contains("banks"));
  const Json json = json_of(make_view("S[64:1]", {64}, 64));
  EXPECT_EQ(json["element_bits"], 64);
  EXPECT_EQ(json["banks"][17], Json::parse(R"([{"byte":136,"line":1,"bank":2}])").value());
  EXPECT_EQ(json["banks"].size(), json["map"].size());
}

TEST(Json, RegistersHaveNoBanks) {
  const Json json = json_of(make_view("S[(32,2):(1@laneid,1)]", {64}, 16));
  EXPECT_FALSE(json.contains("banks"));
  EXPECT_EQ(json["element_bits"], 16);
}

TEST(Json, FourBitElementsShareBytes) {
  const Json json = json_of(make_view("S[8:1]", {8}, 4));
  EXPECT_EQ(json["banks"][3][0]["byte"], 1);
}

TEST(Json, KeyOrderIsFixed) {
  EXPECT_EQ(keys_of(json_of(make_view("S[4:1]", {4}, 8))),
            (std::vector<std::string>{"layout", "shape", "size", "kind", "axes", "copies",
                                      "injective", "collision", "places", "box", "coverage", "onto",
                                      "extents", "element_bits", "map", "banks"}));
}

TEST(Json, NoAxesAtAll) {
  EXPECT_EQ(json_of(make_view("S[]", {1}))["map"], Json::parse("[[{}]]").value());
}

TEST(Json, RefusesAMapThatIsTooLarge) {
  const Result<Json> text = to_json(make_view("S[1048577:1]", {1048577}));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, DiagKind::TooLarge);
  const Result<Json> copies = to_json(make_view("S[1048576:1] + R[2:1048576]", {1048576}));
  ASSERT_FALSE(copies);
  EXPECT_EQ(copies.error().kind, DiagKind::TooLarge);
}

}  // namespace
}  // namespace ww::view::json_test
