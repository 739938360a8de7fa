// SPDX-License-Identifier: Apache-2.0
#include "view/svg.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "view/test_views.h"

namespace ww::view::svg_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(std::string_view text, std::string_view wanted) {
  std::size_t found = 0;
  for (std::size_t at = text.find(wanted); at != std::string_view::npos;
       at = text.find(wanted, at + 1)) {
    ++found;
  }
  return found;
}

bool is_name(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:-") ==
             std::string_view::npos;
}

/// ` key="value" key="value"`, with nothing left over.
bool are_attributes(std::string_view text) {
  while (!text.empty()) {
    const std::size_t equals = text.find("=\"");
    if (text[0] != ' ' || equals == std::string_view::npos) return false;
    const std::size_t end = text.find('"', equals + 2);
    if (end == std::string_view::npos || !is_name(text.substr(1, equals - 1))) return false;
    text.remove_prefix(end + 1);
  }
  return true;
}

bool has_bare_ampersand(std::string_view text) {
  for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
    const std::string_view rest = text.substr(at);
    const auto starts = [&](std::string_view entity) { return rest.starts_with(entity); };
    if (!std::ranges::any_of(std::array{"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"}, starts))
      return true;
  }
  return false;
}

/// Opens or closes the element of one tag (without its brackets); says what is wrong with it.
std::optional<std::string> take_tag(std::string_view tag, std::vector<std::string>& open) {
  if (tag.starts_with('/')) {
    if (open.empty() || open.back() != tag.substr(1)) return fmt::format("unexpected <{}>", tag);
    open.pop_back();
    return std::nullopt;
  }
  const bool is_empty = tag.ends_with('/');
  if (is_empty) tag.remove_suffix(1);
  const std::string_view name = tag.substr(0, tag.find(' '));
  if (!is_name(name) || !are_attributes(tag.substr(name.size())))
    return fmt::format("bad tag <{}>", tag);
  if (!is_empty) open.emplace_back(name);
  return std::nullopt;
}

/// The first thing wrong with an XML text: tags that do not match, a stray bracket or `&`, an
/// attribute without quotes. Knows as much of XML as our pictures use.
std::optional<std::string> xml_problem(std::string_view text) {
  constexpr std::string_view kDeclaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  if (!text.starts_with(kDeclaration)) return "no declaration";
  text.remove_prefix(kDeclaration.size());
  if (has_bare_ampersand(text)) return "a bare &";
  std::vector<std::string> open;
  while (!text.empty()) {
    const std::size_t begin = text.find('<');
    if (text.substr(0, begin).find('>') != std::string_view::npos) return "a stray >";
    if (begin == std::string_view::npos) break;
    const std::size_t end = text.find('>', begin);
    if (end == std::string_view::npos) return "an unfinished tag";
    if (const auto problem = take_tag(text.substr(begin + 1, end - begin - 1), open))
      return problem;
    text.remove_prefix(end + 1);
  }
  if (!open.empty()) return "unclosed <" + open.back() + ">";
  return std::nullopt;
}

std::string svg_of(const LayoutView& view) {
  const Result<std::string> svg = to_svg(view);
  return svg ? *svg : svg.error().text;
}

struct Case {
  std::string notation;
  std::vector<std::int64_t> shape;
  std::optional<int> bits;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases{
      {"S[(8,4,2):(4@laneid,1@laneid,1)]", {8, 8}, 16},
      {"S[(2,8,2,4,2):(2,4@laneid,4,1@laneid,1)]", {16, 16}, 16},
      {"ComposeLayout(3, 3, 3, S[(8,64):(64,1)])", {8, 64}, 16},
      {"S[(4,2,8,8,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]", {64, 64}, 32},
      {"S[(4,16,64):(32@TLane,1@TLane,1@TCol)]", {64, 64}, 32},
      {"S[(64,2,64):(1@TLane,64@TLane,1@TCol)]", {64, 128}, 32},
      {"S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid", {8, 16}, {}},
      {"S[100:1]", {100}, {}},
      {"S[(2,3,4,4):(48,16,4,1)]", {2, 3, 4, 4}, 8},
      {"S[(4,4):(1@P,1@F)]", {4, 4}, {}},
      {"S[4:-1]", {4}, {}},
      {"S[]", {1}, {}},
  };
  return kCases;
}

TEST(Svg, IsWellFormed) {
  for (const Case& c : cases()) {
    EXPECT_EQ(xml_problem(svg_of(make_view(c.notation, c.shape, c.bits))), std::nullopt)
        << c.notation;
  }
}

TEST(Svg, TheCheckerSeesProblems) {
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  EXPECT_EQ(xml_problem(head + "<a><b/></a>"), std::nullopt);
  EXPECT_TRUE(xml_problem(head + "<a><b></a>"));
  EXPECT_TRUE(xml_problem(head + "<a>x & y</a>"));
  EXPECT_TRUE(xml_problem(head + "<a>x < y</a>"));
  EXPECT_TRUE(xml_problem(head + "<a b=1></a>"));
  EXPECT_TRUE(xml_problem("<a></a>"));
}

TEST(Svg, OneCellPerElement) {
  // The ground, 64 cells, 32 swatches.
  EXPECT_EQ(count(svg_of(make_view("S[(8,4,2):(4@laneid,1@laneid,1)]", {8, 8})), "<rect"),
            1U + 64 + 32);
  // A short last row has no empty cells.
  EXPECT_EQ(count(svg_of(make_view("S[100:1@laneid]", {100})), "<rect"), 1U + 100 + 32);
}

TEST(Svg, EqualLanesHaveEqualColours) {
  const std::string svg = svg_of(make_view("S[(8,4,2):(4@laneid,1@laneid,1)]", {8, 8}));
  // Lane 3's dark red: two registers, one swatch.
  EXPECT_EQ(count(svg, "fill=\"#ac4a45\"/>"), 3U);
}

TEST(Svg, LabelsHaveLinesWhereThereIsRoom) {
  const std::string svg = svg_of(make_view("S[(8,4,2):(4@laneid,1@laneid,1)]", {8, 8}));
  EXPECT_EQ(count(svg, ">T31</text>"), 2U);
  EXPECT_EQ(count(svg, ">r1</text>"), 32U);
}

TEST(Svg, LabelsThinOutAt64By64) {
  const std::string registers =
      svg_of(make_view("S[(4,2,8,8,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]", {64, 64}));
  EXPECT_EQ(count(registers, ">T31</text>"), 4096U / 32);
  EXPECT_EQ(count(registers, ">r1</text>"), 0U);
  const std::string addresses =
      svg_of(make_view("ComposeLayout(3, 3, 3, S[(64,64):(64,1)])", {64, 64}, 16));
  EXPECT_EQ(count(addresses, ">1016</text>"), 1U);  // element (15,0)
  EXPECT_EQ(count(addresses, ">1017</text>"), 0U);  // its neighbour
  EXPECT_THAT(addresses, HasSubstr("in every 2nd column."));
}

TEST(Svg, TinyCellsHaveNoLabels) {
  const std::string svg = svg_of(make_view("S[65536:1]", {256, 256}, 16));
  EXPECT_THAT(svg, HasSubstr("Cells are too small for labels."));
  EXPECT_EQ(count(svg, ">1016</text>"), 0U);
}

TEST(Svg, WarpsAreNamedAtTheEdge) {
  const std::string rows =
      svg_of(make_view("S[(4,2,8,8,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]", {64, 64}));
  for (const char* name : {">warp 0<", ">warp 1<", ">warp 2<", ">warp 3<"})
    EXPECT_EQ(count(rows, name), 1U);
  const std::string both =
      svg_of(make_view("S[(2,8,2,4):(2@warpid,1@laneid,1@warpid,8@laneid)]", {16, 8}));
  EXPECT_THAT(both, HasSubstr(">warp 2 →</text>"));
  EXPECT_THAT(both, HasSubstr(">warp 3</text>"));
}

TEST(Svg, ReplicasAreMarkedAndExplained) {
  const std::string svg =
      svg_of(make_view("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid]", {8, 16}));
  EXPECT_EQ(count(svg, ">×2</text>"), 128U);
  EXPECT_THAT(svg, HasSubstr("the first place is shown"));
  EXPECT_THAT(svg, HasSubstr("each element is held at 2 places"));
}

TEST(Svg, PanelsAreTitled) {
  const std::string svg = svg_of(make_view("S[(2,3,4,4):(48,16,4,1)]", {2, 3, 4, 4}));
  EXPECT_THAT(svg, HasSubstr(">[0,0,:,:]</text>"));
  EXPECT_THAT(svg, HasSubstr(">[1,2,:,:]</text>"));
}

TEST(Svg, LongNotationsAreWrapped) {
  const std::string notation =
      "S[(2,2,2,2,2,2):(1@laneid,2@laneid,4@laneid,8@laneid,16@laneid,1)] + R[2:1@warpid] + "
      "3@warpid";
  const std::string svg = svg_of(make_view(notation, {8, 8}));
  EXPECT_EQ(count(svg, notation), 1U);  // whole in <title>, in pieces on the page
  EXPECT_EQ(xml_problem(svg), std::nullopt);
}

TEST(Svg, SameViewSameBytes) {
  const LayoutView view = make_view("S[(8,4,2):(4@laneid,1@laneid,1)]", {8, 8});
  EXPECT_EQ(svg_of(view), svg_of(make_view("S[(8,4,2):(4@laneid,1@laneid,1)]", {8, 8})));
  EXPECT_THAT(svg_of(view), Not(HasSubstr("<script")));
}

TEST(Svg, RefusesPicturesThatAreTooLarge) {
  const std::vector<std::vector<std::int64_t>> shapes{
      {256, 257},   // elements
      {2, 1025},    // columns
      {1025, 2},    // rows
      {257, 2, 2},  // panels
      {65537},
  };
  for (const auto& shape : shapes) {
    std::int64_t size = 1;
    for (const std::int64_t extent : shape) size *= extent;
    const auto svg = to_svg(make_view("S[" + std::to_string(size) + ":1]", shape));
    ASSERT_FALSE(svg);
    EXPECT_EQ(svg.error().kind, DiagKind::TooLarge);
  }
}

TEST(Svg, AcceptsTheWholeOfTensorMemory) {
  EXPECT_TRUE(to_svg(make_view("S[(128,512):(1@TLane,1@TCol)]", {128, 512}, 32)));
}

}  // namespace
}  // namespace ww::view::svg_test
