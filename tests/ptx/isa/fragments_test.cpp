// SPDX-License-Identifier: Apache-2.0
// Two descriptions of the same registers: the instruction set's (isa::fragments_of, formulas from
// the PTX manual) and the layout library's ready-made layouts. They share no code, so each is a
// witness for the other; a handful of elements read off the manual's tables and figures is a third.
#include "isa/fragment.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "isa/catalogue.h"
#include "layout/image.h"
#include "layout/ready_made.h"
#include "layout/text.h"

namespace ww::isa {

// For GoogleTest's messages.
static void PrintTo(const FragmentPlace& place, std::ostream* out) {
  *out << fmt::format("warp {} lane {} register {} part {}", place.warp, place.lane, place.reg,
                      place.part);
}

namespace {

using layout::Axis;
using layout::Image;
using layout::Layout;
namespace axes = layout::axes;

// The binding of an opcode that one form has, or several with the same registers.
Binding bound(std::string_view opcode) {
  const Bindings found = bind_opcode(opcode);
  EXPECT_FALSE(found.fits.empty()) << opcode << ": " << found.misfit.text;
  return found.fits.front();
}

const Fragment* find(const std::vector<Fragment>& fragments, std::string_view operand) {
  const auto it = std::ranges::find(fragments, operand, &Fragment::operand);
  return it == fragments.end() ? nullptr : &*it;
}

// --- comparing with a layout ---------------------------------------------------------------------

// Where an element is, as both sides can say it: elements of a lane are counted through its
// registers, the low part of a register first.
struct Spot {
  std::int64_t warp = 0;
  std::int64_t lane = 0;
  std::int64_t slot = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

Spot spot_of(const Fragment& fragment, int row, int col) {
  const FragmentPlace& place = fragment.at(row, col);
  return {place.warp, place.lane, place.reg * fragment.parts + place.part};
}

std::int64_t value_on(const Image& image, Axis axis, std::int64_t flat) {
  const auto values = image.on(axis);
  return values.empty() ? 0 : values[static_cast<std::size_t>(flat)];
}

Spot spot_of(const Image& image, std::int64_t flat) {
  return {value_on(image, axes::wid_in_wg(), flat), value_on(image, axes::laneid(), flat),
          value_on(image, axes::m(), flat)};
}

// The first element that the witness has elsewhere, in words; "" if there is none.
template <typename Witness>
std::string first_difference(const Fragment& fragment, Witness&& witness) {
  for (int row = 0; row < fragment.rows; ++row) {
    for (int col = 0; col < fragment.cols; ++col) {
      const Spot ours = spot_of(fragment, row, col);
      const Spot theirs = witness(row, col);
      if (ours == theirs) continue;
      return fmt::format(
          "({}, {}): warp {} lane {} slot {}, the witness has warp {} lane {} slot {}", row, col,
          ours.warp, ours.lane, ours.slot, theirs.warp, theirs.lane, theirs.slot);
    }
  }
  return "";
}

// Compares with a layout over exactly the fragment's rows and columns.
std::string difference_from(const Fragment& fragment, const Layout& layout) {
  if (layout.size() != std::int64_t{fragment.rows} * fragment.cols) return "the sizes differ";
  const Image image = layout::enumerate(layout).value();
  return first_difference(
      fragment, [&](int row, int col) { return spot_of(image, row * fragment.cols + col); });
}

// --- mma -----------------------------------------------------------------------------------------

int bits_of(std::string_view type, std::string_view kind) {
  if (type == "f64") return 64;
  if (type == "f32" || type == "s32" || type == "tf32") return 32;
  if (type == "f16" || type == "bf16") return 16;
  if (type == "b1") return 1;
  const bool half_bytes = type == "u4" || type == "s4" || kind.starts_with("kind::mxf4");
  return half_bytes ? 4 : 8;
}

layout::MmaShape shape_of(std::string_view word) {
  const auto k = word.find('k');
  return {word.starts_with("m16") ? 16 : 8, number_in(word.substr(0, k)), number_in(word)};
}

Layout mma_layout(char operand, const Binding& binding) {
  const std::string slot = fmt::format("{}type", static_cast<char>(operand - 'A' + 'a'));
  const int bits = bits_of(binding.word(*SlotName::find(slot)).text(), binding.word("kind").text());
  return layout::mma_fragment(operand, shape_of(binding.word("shape").text()), bits).value();
}

// All bindings of the catalogue that have fragments, of one mnemonic.
template <typename Visit>
void for_each_fragmented(std::string_view mnemonic, Visit&& visit) {
  for (const Form* form : forms_of(mnemonic)) {
    if (form->mnemonic.text() != mnemonic) continue;
    for_each_binding(*form, [&](const Binding& binding) {
      const std::vector<Fragment> fragments = fragments_of(binding);
      if (!fragments.empty()) visit(binding, fragments);
    });
  }
}

TEST(Fragments, OfEveryDenseMmaAreTheLayouts) {
  int compared = 0;
  for_each_fragmented("mma", [&](const Binding& binding, const std::vector<Fragment>& fragments) {
    if (binding.has("sp")) return;
    for (const char operand : {'A', 'B', 'C', 'D'}) {
      const Fragment* fragment = find(fragments, std::string(1, static_cast<char>(operand + 32)));
      ASSERT_NE(fragment, nullptr) << binding.opcode();
      EXPECT_EQ(difference_from(*fragment, mma_layout(operand, binding)), "")
          << operand << " of " << binding.opcode();
    }
    ++compared;
  });
  EXPECT_GT(compared, 100);
}

// B, C and D of a sparse product are those of the dense one; A is half as wide.
TEST(Fragments, OfASparseProductAreThoseOfTheDenseOne) {
  const auto dense = fragments_of(bound("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
  const auto sparse =
      fragments_of(bound("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
  for (const std::string_view operand : {"b", "c", "d"}) {
    EXPECT_EQ(find(sparse, operand)->places, find(dense, operand)->places) << operand;
  }
}

// --- ldmatrix, stmatrix, movmatrix ---------------------------------------------------------------

TEST(Fragments, OfM8n8AreTheLayouts) {
  for (const std::string_view name : {"ldmatrix", "stmatrix"}) {
    for (const int num : {1, 2, 4}) {
      for (const bool trans : {false, true}) {
        const Binding binding = bound(
            fmt::format("{}.sync.aligned.m8n8.x{}{}.shared.b16", name, num, trans ? ".trans" : ""));
        const Fragment fragment = fragments_of(binding).at(0);
        const Image image =
            layout::enumerate(layout::ldmatrix_fragment(num, trans).value()).value();
        for (int matrix = 0; matrix < num; ++matrix) {  // in register `matrix`
          const auto witness = [&](int row, int col) {
            Spot spot = spot_of(image, row * 8 * num + 8 * matrix + col);
            spot.slot -= 2 * matrix;
            return spot;
          };
          EXPECT_EQ(first_difference(fragment, witness), "")
              << binding.opcode() << ", matrix " << matrix;
        }
      }
    }
  }
}

// --- wgmma ---------------------------------------------------------------------------------------

TEST(Fragments, OfWgmmaAccumulatorsAreTheLayouts) {
  for (const std::string_view type : {"f16", "f32"}) {
    for (int n = 8; n <= 256; n += 8) {
      const Binding binding =
          bound(fmt::format("wgmma.mma_async.sync.aligned.m64n{}k16.{}.f16.f16", n, type));
      const Fragment d = fragments_of(binding).at(0);
      const Layout layout =
          layout::parse_layout(
              fmt::format("S[(4,2,8,{},4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]", n / 8))
              .value();
      EXPECT_EQ(difference_from(d, layout), "") << binding.opcode();
    }
  }
}

// A 64-row accumulator lies in registers as tcgen05.ld.16x256b reads one.
TEST(Fragments, OfWgmmaAndOfTensorMemoryAgree) {
  for (int n = 8; n <= 256; n *= 2) {
    const Binding binding =
        bound(fmt::format("wgmma.mma_async.sync.aligned.m64n{}k16.f32.f16.f16", n));
    const Layout layout = layout::tcgen05_atom("16x256b", 64, n, 32).value();
    EXPECT_EQ(difference_from(fragments_of(binding).at(0), layout), "") << binding.opcode();
  }
}

// --- tcgen05.ld, tcgen05.st ----------------------------------------------------------------------

TEST(Fragments, OfTensorMemoryAreTheLayouts) {
  for (const std::string_view name : {"tcgen05.ld", "tcgen05.st"}) {
    for_each_fragmented(name, [&](const Binding& binding, const std::vector<Fragment>& fragments) {
      const Fragment& fragment = fragments.at(0);
      const bool by_row = binding.word("shape") == "32x32b";
      const Layout layout =
          layout::tcgen05_atom(binding.word("shape").text(), by_row ? 128 : 64, fragment.cols, 32)
              .value();
      const Image image = layout::enumerate(layout).value();
      for (int warp = 0; warp < 4; ++warp) {
        const auto witness = [&](int row, int col) -> Spot {
          const std::int64_t flat = (warp * fragment.rows + row) * fragment.cols + col;
          if (!by_row) {
            const Spot spot = spot_of(image, flat);
            return {spot.warp - warp, spot.lane, spot.slot};
          }
          const std::int64_t thread = value_on(image, axes::tid_in_wg(), flat);
          return {thread / 32 - warp, thread % 32, value_on(image, axes::m(), flat)};
        };
        EXPECT_EQ(first_difference(fragment, witness), "") << binding.opcode() << ", warp " << warp;
      }
    });
  }
}

// --- laws over the catalogue ---------------------------------------------------------------------

// How many elements are at each place of the fragment, all lanes and registers: 1 everywhere.
bool holds_each_place_once(const Fragment& fragment) {
  const int warps = fragment.by_warp ? 4 : 1;
  std::vector<int> seen(static_cast<std::size_t>(warps * 32 * fragment.regs * fragment.parts), 0);
  for (const FragmentPlace& place : fragment.places) {
    const int index =
        ((place.warp * 32 + place.lane) * fragment.regs + place.reg) * fragment.parts + place.part;
    if (place.lane >= 32 || place.reg >= fragment.regs || place.part >= fragment.parts)
      return false;
    ++seen.at(static_cast<std::size_t>(index));
  }
  return std::ranges::all_of(seen, [](int count) { return count == 1; });
}

int registers_of(const Binding& binding, std::string_view operand) {
  for (const OperandSpec& spec : binding.form().operands) {
    if (spec.name == operand) return count_of(spec, binding).value_or(1);
  }
  return 0;
}

TEST(Fragments, EveryElementHasOnePlace) {
  for (const std::string_view name :
       {"mma", "ldmatrix", "stmatrix", "movmatrix", "tcgen05.ld", "tcgen05.st"}) {
    for_each_fragmented(name, [&](const Binding& binding, const std::vector<Fragment>& fragments) {
      for (const Fragment& fragment : fragments) {
        EXPECT_TRUE(holds_each_place_once(fragment))
            << fragment.operand << " of " << binding.opcode();
      }
    });
  }
}

// The registers of a fragment are those that the form's operand of that name lists. ldmatrix and
// its kin show one of their matrices.
TEST(Fragments, RegistersAreThoseOfTheOperand) {
  std::set<std::string> wrong;  // one line for each way to be wrong
  for (const std::string_view name :
       {"mma", "ldmatrix", "stmatrix", "movmatrix", "tcgen05.ld", "tcgen05.st"}) {
    for_each_fragmented(name, [&](const Binding& binding, const std::vector<Fragment>& fragments) {
      const bool many = binding.form().family == "matrix" && binding.has("num");
      for (const Fragment& fragment : fragments) {
        const int have = fragment.regs * (many ? binding.number("num") : 1);
        const int want = registers_of(binding, fragment.operand);
        if (have == want) continue;
        wrong.insert(fmt::format("operand {} of {}: {} registers, the form lists {}",
                                 fragment.operand, binding.opcode(), have, want));
      }
    });
  }
  EXPECT_TRUE(wrong.empty()) << wrong.size() << " bindings, first of them " << *wrong.begin();
}

// --- values read off the manual ------------------------------------------------------------------

struct Known {
  std::string_view operand;
  int row, col;
  FragmentPlace place;  // warp, lane, register, part
};

void expect_places(std::string_view opcode, const std::vector<Known>& known) {
  const std::vector<Fragment> fragments = fragments_of(bound(opcode));
  for (const auto& [operand, row, col, place] : known) {
    const Fragment* fragment = find(fragments, operand);
    ASSERT_NE(fragment, nullptr) << operand << " of " << opcode;
    EXPECT_EQ(fragment->at(row, col), place)
        << operand << "(" << row << ", " << col << ") of " << opcode;
  }
}

TEST(Fragments, OfM8n8AsInTheManual) {
  expect_places("ldmatrix.sync.aligned.m8n8.x1.shared.b16", {{"d", 0, 0, {0, 0, 0, 0}},
                                                             {"d", 0, 1, {0, 0, 0, 1}},
                                                             {"d", 0, 7, {0, 3, 0, 1}},
                                                             {"d", 1, 0, {0, 4, 0, 0}},
                                                             {"d", 7, 7, {0, 31, 0, 1}}});
  expect_places("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16", {{"d", 0, 0, {0, 0, 0, 0}},
                                                                   {"d", 1, 0, {0, 0, 0, 1}},
                                                                   {"d", 7, 0, {0, 3, 0, 1}},
                                                                   {"d", 0, 1, {0, 4, 0, 0}},
                                                                   {"d", 0, 7, {0, 28, 0, 0}}});
}

// Rows of memory run along the bytes of a register.
TEST(Fragments, OfByteMatricesAsInTheManual) {
  expect_places("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", {{"d", 0, 0, {0, 0, 0, 0}},
                                                                    {"d", 3, 0, {0, 0, 0, 3}},
                                                                    {"d", 4, 0, {0, 1, 0, 0}},
                                                                    {"d", 0, 1, {0, 4, 0, 0}},
                                                                    {"d", 0, 8, {0, 0, 1, 0}},
                                                                    {"d", 15, 15, {0, 31, 1, 3}}});
  expect_places("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8", {{"r", 0, 0, {0, 0, 0, 0}},
                                                                   {"r", 1, 0, {0, 0, 0, 1}},
                                                                   {"r", 0, 8, {0, 0, 0, 2}},
                                                                   {"r", 2, 0, {0, 1, 0, 0}},
                                                                   {"r", 0, 1, {0, 4, 0, 0}},
                                                                   {"r", 7, 15, {0, 31, 0, 3}}});
}

TEST(Fragments, OfM16n8k16AsInTheManual) {
  expect_places("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                {{"a", 0, 0, {0, 0, 0, 0}},   // a0
                 {"a", 8, 0, {0, 0, 1, 0}},   // a2
                 {"a", 0, 8, {0, 0, 2, 0}},   // a4
                 {"a", 8, 9, {0, 0, 3, 1}},   // a7
                 {"a", 3, 6, {0, 15, 0, 0}},  // g = 3, t = 3
                 {"a", 15, 15, {0, 31, 3, 1}},
                 {"b", 1, 0, {0, 0, 0, 1}},  // b1
                 {"b", 8, 0, {0, 0, 1, 0}},  // b2
                 {"b", 2, 0, {0, 1, 0, 0}},
                 {"b", 0, 1, {0, 4, 0, 0}},
                 {"b", 15, 7, {0, 31, 1, 1}},
                 {"c", 0, 1, {0, 0, 1, 0}},  // c1
                 {"c", 8, 0, {0, 0, 2, 0}},  // c2
                 {"c", 5, 2, {0, 21, 0, 0}},
                 {"d", 15, 7, {0, 31, 3, 0}}});
  expect_places("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
                {{"c", 0, 1, {0, 0, 0, 1}}, {"d", 8, 1, {0, 0, 1, 1}}});
}

TEST(Fragments, OfM8n8k4InDoublesAsInTheManual) {
  expect_places("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", {{"a", 3, 2, {0, 14, 0, 0}},
                                                                    {"b", 2, 3, {0, 14, 0, 0}},
                                                                    {"c", 1, 3, {0, 5, 1, 0}},
                                                                    {"d", 7, 7, {0, 31, 1, 0}}});
}

TEST(Fragments, OfM16n8k32InBytesAsInTheManual) {
  expect_places("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
                {{"a", 0, 3, {0, 0, 0, 3}},    // a3
                 {"a", 8, 0, {0, 0, 1, 0}},    // a4
                 {"a", 0, 16, {0, 0, 2, 0}},   // a8
                 {"a", 9, 21, {0, 5, 3, 1}},   // g = 1, t = 1, a13
                 {"b", 3, 0, {0, 0, 0, 3}},    // b3
                 {"b", 21, 2, {0, 9, 1, 1}},   // g = 2, t = 1, b5
                 {"c", 8, 1, {0, 0, 3, 0}}});  // c3
}

TEST(Fragments, OfTensorMemoryAsInTheManual) {
  expect_places("tcgen05.st.sync.aligned.16x64b.x2.b32", {{"r", 0, 0, {0, 0, 0, 0}},
                                                          {"r", 8, 0, {0, 1, 0, 0}},
                                                          {"r", 0, 1, {0, 2, 0, 0}},
                                                          {"r", 1, 0, {0, 4, 0, 0}},
                                                          {"r", 0, 2, {0, 0, 1, 0}},
                                                          {"r", 15, 3, {0, 31, 1, 0}}});
  expect_places(
      "tcgen05.st.sync.aligned.16x128b.x1.b32",
      {{"r", 0, 3, {0, 3, 0, 0}}, {"r", 8, 0, {0, 0, 1, 0}}, {"r", 15, 3, {0, 31, 1, 0}}});
  expect_places("tcgen05.st.sync.aligned.16x256b.x1.b32", {{"r", 0, 1, {0, 0, 1, 0}},
                                                           {"r", 8, 0, {0, 0, 2, 0}},
                                                           {"r", 0, 7, {0, 3, 1, 0}},
                                                           {"r", 15, 7, {0, 31, 3, 0}}});
}

TEST(Fragments, OnlyMatrixInstructionsHaveThem) {
  EXPECT_TRUE(fragments_of(bound("add.f32")).empty());
  EXPECT_TRUE(fragments_of(bound("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32")).empty());
  EXPECT_TRUE(fragments_of(bound("tcgen05.ld.sync.aligned.16x32bx2.x1.b32")).empty());
}

// --- the comparison itself -----------------------------------------------------------------------

TEST(Fragments, AWrongFormulaIsNoticed) {
  const Binding binding = bound("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  const Layout right = mma_layout('A', binding);
  Fragment a = *find(fragments_of(binding), "a");
  ASSERT_EQ(difference_from(a, right), "");
  // Registers 1 and 2 exchanged, as if A went right before it goes down.
  for (FragmentPlace& place : a.places) {
    if (place.reg == 1 || place.reg == 2) place.reg = static_cast<std::int16_t>(3 - place.reg);
  }
  EXPECT_EQ(difference_from(a, right),
            "(0, 8): warp 0 lane 0 slot 2, the witness has warp 0 lane 0 slot 4");
  EXPECT_TRUE(holds_each_place_once(a));
  a.places[1] = a.places[0];
  EXPECT_FALSE(holds_each_place_once(a));
}

}  // namespace
}  // namespace ww::isa
