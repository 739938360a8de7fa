// SPDX-License-Identifier: Apache-2.0
// mma.sp in every form and with every selector: elements of A, B and D are placed by the catalogue's
// fragments, metadata as the manual's figures have it, and D is compared with the product of the whole
// A. Numbers are small, so that any order of adding gives the same sum; the order in which an H200 adds
// has its own test.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "isa/catalogue.h"
#include "isa/fragment.h"
#include "num/float_format.h"
#include "num/matrix_unit.h"
#include "sim/test_run.h"

namespace ww::sim::mma_sparse_test {
namespace {

using num::DType;

constexpr unsigned kRows = 16, kColumns = 8;

/// Of an opcode: what its modifiers say about A, B and D.
struct SparseForm {
  explicit SparseForm(const isa::Binding& form)
      : binding(form),
        a(form.word("atype").text()),
        b(form.word("btype").text()),
        d(form.word("dtype").text()) {
    const std::vector<isa::Fragment> all = isa::fragments_of(form);
    const auto named = [&](std::string_view name) {
      return *std::ranges::find(all, name, &isa::Fragment::operand);
    };
    of_a = named("a");
    of_b = named("b");
    of_d = named("d");
  }
  [[nodiscard]] unsigned k() const { return static_cast<unsigned>(of_b.rows); }
  [[nodiscard]] unsigned kept() const { return static_cast<unsigned>(of_a.cols); }
  [[nodiscard]] bool in_bytes() const { return binding.word("kind").text().ends_with("f8f6f4"); }
  [[nodiscard]] unsigned kept_of_group() const {
    return of_a.parts == 8 ? 4 : of_a.parts == 1 ? 1 : 2;
  }
  [[nodiscard]] unsigned groups() const { return kept() / kept_of_group(); }
  [[nodiscard]] unsigned selectors() const { return 16 / groups(); }
  [[nodiscard]] unsigned scales() const {
    if (!binding.has("block_scale")) return 0;
    return binding.word("scale_vec").text().ends_with("4X") ? 4 : in_bytes() ? 1 : 2;
  }

  isa::Binding binding;
  std::string_view a, b, d;
  isa::Fragment of_a, of_b, of_d;
};

DType float_type(std::string_view word) {
  constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"f16", DType::Float16},       {"bf16", DType::Bfloat16},     {"tf32", DType::Tfloat32},
      {"e4m3", DType::Float8E4M3fn}, {"e5m2", DType::Float8E5M2},   {"e3m2", DType::Float6E3M2fn},
      {"e2m3", DType::Float6E2M3fn}, {"e2m1", DType::Float4E2M1fn}, {"f32", DType::Float32}};
  return std::ranges::find(kTypes, word, &std::pair<std::string_view, DType>::first)->second;
}

std::uint32_t bits_of(std::string_view type, int value, bool in_byte) {
  if (type.ends_with('8') || type == "s32") return static_cast<std::uint32_t>(value);
  if (type.ends_with('4') && type.size() == 2) return static_cast<std::uint32_t>(value) & 0xFU;
  const auto bits = static_cast<std::uint32_t>(num::encode(float_type(type), value));
  return in_byte && type == "e2m1" ? bits << 2U : bits;
}

/// Registers of 32 lanes, elements put in one by one.
class Lanes {
 public:
  explicit Lanes(unsigned regs) : regs_(regs), words_(std::size_t{32} * regs) {}
  void put(const isa::Fragment& f, unsigned first, unsigned row, unsigned column,
           std::uint32_t bits) {
    const isa::FragmentPlace& at = f.at(static_cast<int>(row), static_cast<int>(column));
    const unsigned width = 32 / static_cast<unsigned>(f.parts);
    const std::uint32_t mask = width == 32 ? ~0U : (1U << width) - 1;
    word(static_cast<unsigned>(at.lane), first + static_cast<unsigned>(at.reg)) |=
        (bits & mask) << (static_cast<unsigned>(at.part) * width);
  }
  std::uint32_t& word(unsigned lane, unsigned reg) { return words_[lane * regs_ + reg]; }
  [[nodiscard]] const std::vector<std::uint32_t>& words() const { return words_; }

 private:
  unsigned regs_;
  std::vector<std::uint32_t> words_;
};

using Codes = std::array<std::vector<unsigned>, kRows>;  // of each group of a row

/// The metadata of a lane. Of 16 and 32 bits, a lane has four groups of two rows: with four groups to a
/// row one lane of a quad has all, with eight a pair of lanes. Of narrower elements, a lane has eight
/// groups of one row: with eight groups a pair of lanes has all, with sixteen all lanes.
std::uint32_t metadata_word(const Codes& codes, bool is_narrow, unsigned lane, unsigned selector,
                            std::uint32_t elsewhere) {
  const unsigned g = lane / 4, t = lane % 4;
  const auto lanes = static_cast<unsigned>(codes[0].size()) / 4;  // of a quad
  if (t / lanes != selector) return elsewhere;
  std::uint32_t word = 0;
  for (unsigned nibble = 0; nibble < 8; ++nibble) {
    const unsigned row = g + 8 * (is_narrow ? t % 2 : nibble / 4);
    const unsigned group = is_narrow ? t % lanes / 2 * 8 + nibble : t % lanes * 4 + nibble % 4;
    word |= codes[row][group] << (4 * nibble);
  }
  return word;
}

class SparseProduct {
 public:
  SparseProduct(const isa::Binding& binding, unsigned selector, std::uint32_t seed)
      : form_(binding), selector_(selector), random_(seed) {
    for (unsigned row = 0; row < kRows; ++row) fill_row(row);
    b_.resize(std::size_t{form_.k()} * kColumns);
    c_.resize(std::size_t{kRows} * kColumns);
    for (int& x : b_) x = value(form_.b);
    for (int& x : c_) x = between(-30, 30);
    for (unsigned& exponent : scale_a_) exponent = static_cast<unsigned>(between(0, 2));
    for (unsigned& exponent : scale_b_) exponent = static_cast<unsigned>(between(0, 2));
  }

  /// Changes the metadata of one group, but not what is expected.
  void change_metadata(unsigned row, unsigned group, unsigned code) { codes_[row][group] = code; }
  void leave_undefined(Mask lanes) { undefined_ = lanes; }
  /// Numbers with many bits, so that the order of adding matters; D of f32.
  void take_long_numbers() {
    const auto bits = [&](std::string_view type) {
      const auto any = static_cast<std::uint32_t>(random_());
      if (type == "f16") return (any & 0x83FFU) | (9 + any / 0x10000 % 14) << 10U;
      if (type == "f32") return (any & 0x807F'FFFFU) | (120 + any / 0x800000 % 12) << 23U;
      return (any & 0x7FU) == 0x7F ? 1U : any & 0xFFU;  // e4m3 but NaN
    };
    for (auto& row : long_a_)
      for (unsigned i = 0; i < form_.kept(); ++i) row.push_back(bits(form_.a));
    for (std::size_t i = 0; i < b_.size(); ++i) long_b_.push_back(bits(form_.b));
    for (std::size_t i = 0; i < c_.size(); ++i) long_c_.push_back(bits(form_.d));
  }

  /// Rows of D that differ from the product; what was found in `findings`.
  std::vector<unsigned> run() {
    TestRun test(kernel(), 2, target());
    if (!test.errors().empty()) {
      ADD_FAILURE() << test.errors();
      return {};
    }
    test.launch.block = {32};
    test.input(inputs()).output<std::uint32_t>(std::size_t{32} * d_regs());
    test.run();
    findings = test.findings();
    return compare(test.read<std::uint32_t>(1));
  }

  std::string findings;

 private:
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  int value(std::string_view type) {
    const int low = type.starts_with('u') ? 0 : -3;
    return between(low, 3);
  }
  // Which elements the row keeps, and their values.
  void fill_row(unsigned row) {
    constexpr std::array<unsigned, 6> kPairs = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
    const unsigned each = form_.kept_of_group();
    for (unsigned group = 0; group < form_.groups(); ++group) {
      const auto code = each == 1 ? (between(0, 1) == 0 ? 0x4U : 0xEU)
                                  : kPairs[static_cast<std::size_t>(between(0, 5))];
      codes_[row].push_back(code);
      for (const unsigned place : {code & 3U, code >> 2U}) {
        if (each == 1 && place % 2 != 0) continue;  // halves 0 and 1, or 2 and 3
        for (unsigned i = 0; i < std::max(1U, each / 2); ++i) {
          const unsigned inside = each == 1 ? place / 2 : place * (each / 2) + i;
          kept_[row].push_back(group * 2 * each + inside);
          values_[row].push_back(value(form_.a));
        }
      }
    }
  }

  [[nodiscard]] unsigned d_regs() const { return static_cast<unsigned>(form_.of_d.regs); }
  [[nodiscard]] unsigned a_regs() const { return static_cast<unsigned>(form_.of_a.regs); }
  [[nodiscard]] unsigned b_regs() const { return static_cast<unsigned>(form_.of_b.regs); }
  [[nodiscard]] unsigned all_regs() const { return a_regs() + b_regs() + d_regs() + 3; }
  [[nodiscard]] std::string_view target() const {
    const isa::Word kind = form_.binding.word("kind");
    return kind.empty() && !(form_.d == "f16" && form_.a != "f16") ? "sm_90a" : "sm_120a";
  }

  [[nodiscard]] std::uint32_t a_bits(unsigned row, unsigned i) const {
    if (!long_a_[row].empty()) return long_a_[row][i];
    return bits_of(form_.a, values_[row][i], form_.in_bytes());
  }
  [[nodiscard]] std::uint32_t b_bits(unsigned i) const {
    return long_b_.empty() ? bits_of(form_.b, b_[i], form_.in_bytes()) : long_b_[i];
  }
  [[nodiscard]] std::uint32_t c_bits(unsigned i) const {
    return long_c_.empty() ? bits_of(form_.d, c_[i], false) : long_c_[i];
  }

  // A, B, C, metadata, scales of A and of B.
  std::vector<std::uint32_t> inputs() {
    Lanes lanes(all_regs());
    for (unsigned row = 0; row < kRows; ++row) {
      for (unsigned i = 0; i < form_.kept(); ++i) lanes.put(form_.of_a, 0, row, i, a_bits(row, i));
      for (unsigned column = 0; column < kColumns; ++column)
        lanes.put(form_.of_d, a_regs() + b_regs(), row, column, c_bits(row * kColumns + column));
    }
    for (unsigned k = 0; k < form_.k(); ++k) {
      for (unsigned column = 0; column < kColumns; ++column)
        lanes.put(form_.of_b, a_regs(), k, column, b_bits(k * kColumns + column));
    }
    const unsigned metadata = a_regs() + b_regs() + d_regs();
    for (unsigned lane = 0; lane < 32; ++lane) {
      lanes.word(lane, metadata) = metadata_word(codes_, form_.of_a.parts >= 4, lane, selector_,
                                                 static_cast<std::uint32_t>(random_()));
      put_scales(lanes, lane, metadata + 1);
    }
    return lanes.words();
  }
  // Thread 1 of A and 2 of B, bytes from the first.
  void put_scales(Lanes& lanes, unsigned lane, unsigned reg) const {
    const bool is_ue4m3 = form_.binding.word("stype") == "ue4m3";
    const auto scale = [&](unsigned exponent) {
      return is_ue4m3 ? (7U + exponent) << 3U : 127U + exponent;
    };
    for (unsigned s = 0; s < form_.scales(); ++s) {
      if (lane % 4 >= 2)
        lanes.word(lane, reg) |= scale(scale_a_[(lane / 4 + 8 * (lane % 2)) * 4 + s]) << (8 * s);
      if (lane % 4 == 2) lanes.word(lane, reg + 1) |= scale(scale_b_[lane / 4 * 4 + s]) << (8 * s);
    }
  }

  [[nodiscard]] std::string kernel() const {
    const auto list = [](unsigned first, unsigned count) {
      std::string text;
      for (unsigned r = 0; r < count; ++r)
        text += fmt::format("{}%r{}", text.empty() ? "" : ",", first + r);
      return "{" + text + "}";
    };
    const unsigned c = 20 + a_regs() + b_regs(), metadata = c + d_regs();
    std::string body = fmt::format(
        "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, {}; add.u64 %d2, %d1, %a0;\n", 4 * all_regs());
    for (unsigned r = 0; r < all_regs(); ++r) {
      if (r == metadata - 20) body += lanes_guard();
      body += fmt::format("{}ld.global.b32 %r{}, [%d2+{}];\n", r == metadata - 20 ? "@%p1 " : "",
                          20 + r, 4 * r);
    }
    body += fmt::format("{} {}, {}, {}, {}, %r{}, {}", form_.binding.opcode(), list(80, d_regs()),
                        list(20, a_regs()), list(20 + a_regs(), b_regs()), list(c, d_regs()),
                        metadata, selector_);
    if (form_.scales() != 0)
      body += fmt::format(", %r{}, {{0, 1}}, %r{}, {{0, 2}}", metadata + 1, metadata + 2);
    body += fmt::format(";\nmul.wide.u32 %d1, %r1, {}; add.u64 %d2, %d1, %a1;\n", 4 * d_regs());
    for (unsigned r = 0; r < d_regs(); ++r)
      body += fmt::format("st.global.b32 [%d2+{}], %r{};\n", 4 * r, 80 + r);
    return body;
  }
  // Lanes that load metadata.
  [[nodiscard]] std::string lanes_guard() const {
    return fmt::format("shr.u32 %r2, 0x{:x}, %r1; and.b32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0;\n",
                       ~undefined_);
  }

  [[nodiscard]] int expected(unsigned row, unsigned column) const {
    int sum = c_[row * kColumns + column];
    for (unsigned i = 0; i < form_.kept(); ++i) {
      int product = values_[row][i] * b_[kept_[row][i] * kColumns + column];
      if (form_.scales() != 0) {
        const unsigned s = i / (form_.kept() / form_.scales());
        product <<= scale_a_[row * 4 + s] + scale_b_[column * 4 + s];
      }
      sum += product;
    }
    return sum;
  }
  [[nodiscard]] std::uint32_t expected_bits(unsigned row, unsigned column) const {
    if (long_c_.empty()) return bits_of(form_.d, expected(row, column), false);
    std::vector<std::uint32_t> a, b;
    for (unsigned i = 0; i < form_.kept(); ++i) {
      a.push_back(a_bits(row, i));
      b.push_back(b_bits(kept_[row][i] * kColumns + column));
    }
    const std::uint32_t c = c_bits(row * kColumns + column);
    return form_.a == "f16" ? num::dot_f32(num::kHopper16, DType::Float16, DType::Float16, a, b, c)
                            : sum_of_halves(a, b, c);
  }
  // e4m3 becomes f16; elements of the lower halves of registers are added first, then those of the upper
  // halves, then C with a rounding.
  static std::uint32_t sum_of_halves(const std::vector<std::uint32_t>& a,
                                     const std::vector<std::uint32_t>& b, std::uint32_t c) {
    std::uint32_t sum = 0;
    for (const unsigned half : {0U, 2U}) {
      std::vector<std::uint32_t> x, y;
      for (unsigned i = 0; i < a.size(); ++i) {
        if (i % 4 / 2 * 2 != half) continue;
        const auto wide = [](std::uint32_t bits) {
          return static_cast<std::uint32_t>(
              num::encode(DType::Float16, num::decode(DType::Float8E4M3fn, bits)));
        };
        x.push_back(wide(a[i]));
        y.push_back(wide(b[i]));
      }
      sum = num::dot_f32(num::kHopper16, DType::Float16, DType::Float16, x, y, sum);
    }
    return std::bit_cast<std::uint32_t>(std::bit_cast<float>(sum) + std::bit_cast<float>(c));
  }
  [[nodiscard]] std::vector<unsigned> compare(const std::vector<std::uint32_t>& out) const {
    std::vector<unsigned> rows;
    const unsigned width = 32 / static_cast<unsigned>(form_.of_d.parts);
    const std::uint32_t mask = width == 32 ? ~0U : (1U << width) - 1;
    for (unsigned row = 0; row < kRows; ++row) {
      for (unsigned column = 0; column < kColumns; ++column) {
        const isa::FragmentPlace& at =
            form_.of_d.at(static_cast<int>(row), static_cast<int>(column));
        const std::uint32_t word =
            out[static_cast<unsigned>(at.lane) * d_regs() + static_cast<unsigned>(at.reg)];
        const std::uint32_t seen = (word >> (static_cast<unsigned>(at.part) * width)) & mask;
        if (seen == (expected_bits(row, column) & mask)) continue;
        if (rows.empty() || rows.back() != row) rows.push_back(row);
      }
    }
    return rows;
  }

  SparseForm form_;
  unsigned selector_;
  std::mt19937 random_;
  Codes codes_;
  std::array<std::vector<unsigned>, kRows> kept_;
  std::array<std::vector<int>, kRows> values_;
  std::vector<int> b_, c_;
  std::array<std::vector<std::uint32_t>, kRows> long_a_;
  std::vector<std::uint32_t> long_b_, long_c_;
  std::array<unsigned, kRows * 4> scale_a_{};
  std::array<unsigned, kColumns * 4> scale_b_{};
  Mask undefined_ = 0;
};

template <typename Visit>
void for_each_sparse(const Visit& visit) {
  for (const isa::Form* form : isa::forms_of("mma")) {
    if (!form->slot_index("sp")) continue;
    isa::for_each_binding(*form, [&](const isa::Binding& binding) {
      if (binding.word("alayout") == "row" && binding.word("blayout") == "col") visit(binding);
    });
  }
}

isa::Binding binding_of(std::string_view opcode) {
  std::vector<isa::Binding> found;
  for_each_sparse([&](const isa::Binding& binding) {
    if (binding.opcode() == opcode) found.push_back(binding);
  });
  EXPECT_EQ(found.size(), 1U) << opcode;
  return found.front();
}

TEST(MmaSparse, EveryFormFollowsTheFragments) {
  unsigned forms = 0;
  for_each_sparse([&](const isa::Binding& binding) {
    for (unsigned selector = 0; selector < SparseForm(binding).selectors(); ++selector) {
      SparseProduct product(binding, selector, 7 + forms);
      EXPECT_EQ(product.run(), std::vector<unsigned>()) << binding.opcode() << " " << selector;
      EXPECT_EQ(product.findings, "") << binding.opcode();
    }
    ++forms;
  });
  EXPECT_GT(forms, 100U);
}

constexpr std::string_view kHalves =
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32";

// As on an H200: 16 products in one step, whichever elements are kept; e4m3 in halves of its registers.
TEST(MmaSparse, AddsInTheOrderOfTheHardware) {
  for (const std::string_view opcode :
       {kHalves,
        std::string_view("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16."
                         "f16.f32"),
        std::string_view("mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32")}) {
    SparseProduct product(binding_of(opcode), 0, 9);
    product.take_long_numbers();
    EXPECT_EQ(product.run(), std::vector<unsigned>()) << opcode;
    EXPECT_EQ(product.findings, "");
  }
}

TEST(MmaSparse, AnotherPlaceIsAnotherProduct) {
  SparseProduct product(binding_of(kHalves), 1, 3);
  product.change_metadata(11, 6, 0x4);
  const std::vector<unsigned> rows = product.run();
  SparseProduct other(binding_of(kHalves), 1, 3);
  other.change_metadata(11, 6, 0xE);
  EXPECT_EQ(rows.empty() ? other.run() : rows, std::vector<unsigned>{11});
  EXPECT_EQ(product.findings, "");
}

// ptxas takes them.
TEST(MmaSparse, SelectorsThatAShapeDoesNotHaveAreRefused) {
  TestRun test(
      "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, "
      "{%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, %r5, 2;",
      0);
  EXPECT_NE(test.errors().find("sparsity selector 2; this shape has 0 and 1, and an H200 takes "
                               "others for illegal instructions"),
            std::string::npos)
      << test.errors();
}

// --- metadata that the manual does not allow -----------------------------------------------------

std::string found_with(std::string_view opcode, unsigned code) {
  SparseProduct product(binding_of(opcode), 0, 5);
  product.change_metadata(9, 2, code);
  product.run();
  return product.findings;
}

TEST(MmaSparse, EqualPlacesAreFound) {
  for (const std::string_view opcode :
       {std::string_view("mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"), kHalves}) {
    for (const unsigned code : {0x0U, 0x5U, 0xAU, 0xFU}) {
      const std::string found = found_with(opcode, code);
      EXPECT_NE(
          found.find(fmt::format("row 9 of A has metadata 0b{:04b} for elements 8 to 11", code)),
          std::string::npos)
          << found;
    }
  }
}

TEST(MmaSparse, DescendingPlacesAreFoundWhereTheyMustAscend) {
  constexpr std::string_view kAnyOrder = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32";
  EXPECT_EQ(found_with(kAnyOrder, 0x1), "");
  const std::string found = found_with(kHalves, 0x1);
  EXPECT_NE(found.find("row 9 of A has metadata 0b0001 for elements 8 to 11; it has two places in "
                       "ascending order"),
            std::string::npos)
      << found;
}

TEST(MmaSparse, Tf32HasTwoCodes) {
  const std::string found =
      found_with("mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 0xD);
  EXPECT_NE(
      found.find("row 9 of A has metadata 0b1101 for elements 4 to 5; it is 0b0100 or 0b1110"),
      std::string::npos)
      << found;
}

TEST(MmaSparse, MetadataOfOtherLanesMayBeUndefined) {
  SparseProduct product(binding_of(kHalves), 0, 5);
  product.leave_undefined(0xCCCCCCCC);
  EXPECT_EQ(product.run(), std::vector<unsigned>());
  EXPECT_EQ(product.findings, "");
  SparseProduct missing(binding_of(kHalves), 0, 5);
  missing.leave_undefined(0x20);
  missing.run();
  EXPECT_NE(missing.findings.find("uninit"), std::string::npos) << missing.findings;
}

}  // namespace
}  // namespace ww::sim::mma_sparse_test
