// SPDX-License-Identifier: Apache-2.0
// The XOR swizzle: its algebra, its split address form, and the bank freedom it exists for.
#include <gtest/gtest.h>

#include "layout/banks.h"
#include "layout/ready_made.h"
#include "layout/swizzle.h"
#include "property/laws.h"

namespace ww::test::laws_swizzle_test {
namespace {

/// All swizzles with small parameters.
std::vector<OSwizzle> all_small_swizzles() {
  std::vector<OSwizzle> out;
  for (int m = 0; m <= 3; ++m) {
    for (int b = 0; b <= 3; ++b) {
      for (int s = b; s <= 4; ++s) {
        for (const bool inner : {true, false}) out.push_back({m, b, s, inner});
      }
    }
  }
  return out;
}

layout::Swizzle built(const OSwizzle& s) {
  return layout::Swizzle::make(s.per_element, s.len, s.atom, s.inner).value();
}

TEST(LawsSwizzle, FollowsTheFormula) {
  for (const OSwizzle& s : all_small_swizzles()) {
    const layout::Swizzle swizzle = built(s);
    for (std::int64_t x = 0; x < 2 * swizzle.period() + 5; ++x)
      ASSERT_EQ(swizzle(x), swizzled(s, x));
  }
}

TEST(LawsSwizzle, IsAnInvolution) {
  for (const OSwizzle& s : all_small_swizzles()) {
    const layout::Swizzle swizzle = built(s);
    for (std::int64_t x = 0; x < 2 * swizzle.period(); ++x) ASSERT_EQ(swizzle(swizzle(x)), x);
  }
}

TEST(LawsSwizzle, PermutesItsBlocksAndNothingSmaller) {
  for (const OSwizzle& s : all_small_swizzles()) {
    const layout::Swizzle swizzle = built(s);
    const std::int64_t block = swizzle.block();
    for (std::int64_t x = 0; x < 2 * swizzle.period(); ++x)
      ASSERT_EQ(swizzle(x) / block, x / block);
    if (s.len == 0) continue;
    bool leaves_half = false;
    for (std::int64_t x = 0; x < 2 * swizzle.period(); ++x) {
      leaves_half = leaves_half || swizzle(x) / (block / 2) != x / (block / 2);
    }
    EXPECT_TRUE(leaves_half);
  }
}

TEST(LawsSwizzle, RepeatsAfterOnePeriod) {
  for (const OSwizzle& s : all_small_swizzles()) {
    const layout::Swizzle swizzle = built(s);
    for (std::int64_t x = 0; x < swizzle.period(); ++x) {
      ASSERT_EQ(swizzle(x + swizzle.period()), swizzle(x) + swizzle.period());
    }
  }
}

TEST(LawsSwizzle, IsLinearOverBits) {
  for (const OSwizzle& s : all_small_swizzles()) {
    const layout::Swizzle swizzle = built(s);
    Rng rng(7);
    for (int round = 0; round < 200; ++round) {
      const std::int64_t a = rng.between(0, 1 << 20);
      const std::int64_t b = rng.between(0, 1 << 20);
      ASSERT_EQ(swizzle(a ^ b), swizzle(a) ^ swizzle(b));
    }
  }
}

TEST(LawsSwizzle, LowBitsNeverMove) {
  for (const OSwizzle& s : all_small_swizzles()) {
    const layout::Swizzle swizzle = built(s);
    const std::int64_t unit = std::int64_t{1} << s.per_element;
    for (std::int64_t x = 0; x < 2 * swizzle.period(); ++x) ASSERT_EQ(swizzle(x) % unit, x % unit);
  }
}

TEST(LawsSwizzle, AnAtomDoesNotCommuteButAPeriodDoes) {
  const layout::Swizzle swizzle = built({3, 3, 3, true});
  EXPECT_NE(swizzle(0 + 64), swizzle(0) + 64);
  EXPECT_EQ(swizzle(0 + 512), swizzle(0) + 512);
}

TEST(LawsSwizzle, LengthZeroIsNone) {
  EXPECT_EQ(built({2, 0, 3, true}), layout::Swizzle{});
  EXPECT_TRUE(built({0, 0, 0, false}).is_none());
}

TEST(LawsSwizzle, BadParametersAreRefused) {
  EXPECT_FALSE(layout::Swizzle::make(-1, 1, 1));
  EXPECT_FALSE(layout::Swizzle::make(0, -1, 1));
  EXPECT_FALSE(layout::Swizzle::make(0, 3, 2));
  EXPECT_FALSE(layout::Swizzle::make(20, 10, 11));
  EXPECT_FALSE(layout::Layout::make(parsed("S[4:-1]").tile(), built({0, 1, 1, true})));
}

// ---- The split form -----------------------------------------------------------------------------

/// (H + (D ^ (((H / atom) & (2^B - 1)) << M))) ^ K, from the public parts.
std::int64_t split_value(const layout::SwizzledAddress& split, const Symbols& symbols) {
  const layout::Swizzle& s = split.swizzle;
  const std::int64_t atom = std::int64_t{1} << (s.per_element() + s.atom());
  const std::int64_t high = value_of(split.high, symbols);
  const std::int64_t mask = (std::int64_t{1} << s.len()) - 1;
  const std::int64_t twist = ((high / atom) & mask) << s.per_element();
  return (high + (value_of(split.low, symbols) ^ twist)) ^ split.constant;
}

/// numbers: M, B, S, then for two symbols (coefficient, largest, divisor), then the constant.
Complaint split_law(const Case& c) {
  const Ints& n = c.numbers;
  if (n.size() != 10 || n[4] < 0 || n[7] < 0 || n[5] < 1 || n[8] < 1) return kFine;
  const OSwizzle s{static_cast<int>(n[0]), static_cast<int>(n[1]), static_cast<int>(n[2]), true};
  const auto swizzle = layout::Swizzle::make(s.per_element, s.len, s.atom);
  if (!swizzle) return kFine;
  const layout::Expr i(layout::Sym::make("i", {0, n[4]}, n[5]).value());
  const layout::Expr j(layout::Sym::make("j", {0, n[7]}, n[8]).value());
  const layout::Expr address = i * n[3] + j * n[6] + n[9];
  const auto split = layout::split_swizzled(address, *swizzle);
  for (std::int64_t vi = 0; vi <= n[4]; vi += n[5]) {
    for (std::int64_t vj = 0; vj <= n[7]; vj += n[8]) {
      const std::int64_t plain = n[3] * vi + n[6] * vj + n[9];
      if (plain < 0)
        return split ? Complaint("an address that may be negative was accepted") : kFine;
      if (!split) continue;
      const Symbols symbols = {{"i", vi}, {"j", vj}};
      const auto by_name = [&](layout::Sym sym) { return symbols.at(std::string(sym.name())); };
      if (split_value(*split, symbols) != swizzled(s, plain) ||
          split->evaluate(by_name) != swizzled(s, plain)) {
        return fmt::format("{} at i = {}, j = {} is {}, should be {}", split->text(), vi, vj,
                           split_value(*split, symbols), swizzled(s, plain));
      }
    }
  }
  // Rows of whole atoms plus a column below the atom, nothing constant: always splits.
  const std::int64_t atom = std::int64_t{1} << (s.per_element + s.atom);
  const bool plain_tile = n[3] == atom && n[6] == 1 && n[7] < atom && n[9] == 0;
  return plain_tile && !split ? Complaint(refusal("split_swizzled", split.error())) : kFine;
}

TEST(LawsSwizzle, SplitFormRandom) {
  int answered = 0;
  for_all(
      1001, 3000,
      [](Rng& rng) {
        const OSwizzle s = random_swizzle(rng);
        const std::int64_t atom = std::int64_t{1} << (s.per_element + s.atom);
        const std::int64_t row = rng.one_in(4) ? rng.between(-4, 80) : atom;
        const std::int64_t step = rng.one_in(2) ? 1 : std::int64_t{1} << rng.between(0, 5);
        const Ints constants = {
            0, 0, 1, 2, 8, 16, atom / 2, atom, atom + 8, 3 * atom, rng.between(0, 500)};
        return Case{
            .operands = {},
            .numbers = {s.per_element, s.len, s.atom, row, rng.between(0, 9), rng.between(1, 2),
                        step, rng.one_in(3) ? rng.between(0, 60) : atom / step - 1,
                        rng.between(1, 4), rng.pick(constants)}};
      },
      [&](const Case& c) {
        const Ints& n = c.numbers;
        const auto complaint = split_law(c);
        const auto swizzle = layout::Swizzle::make(static_cast<int>(n[0]), static_cast<int>(n[1]),
                                                   static_cast<int>(n[2]));
        if (!swizzle || n[4] < 0 || n[7] < 0 || n[5] < 1 || n[8] < 1) return complaint;
        const layout::Expr i(layout::Sym::make("i", {0, n[4]}, n[5]).value());
        const layout::Expr j(layout::Sym::make("j", {0, n[7]}, n[8]).value());
        answered += layout::split_swizzled(i * n[3] + j * n[6] + n[9], *swizzle) ? 1 : 0;
        return complaint;
      });
  EXPECT_GT(answered, 800);
}

TEST(LawsSwizzle, SplitFormOfConstants) {
  for (const OSwizzle& s : all_small_swizzles()) {
    if (!s.inner) continue;
    for (std::int64_t x = 0; x < 600; x += 7) {
      const auto split = layout::split_swizzled(x, built(s));
      ASSERT_TRUE(split) << split.error().text;
      ASSERT_EQ(split_value(*split, {}), swizzled(s, x));
    }
  }
}

TEST(LawsSwizzle, AddressesThatDifferByAConstantShareTheirBase) {
  // (8,8):(64,1) + K under (3,3,3): base ^ K for K below an atom, (base + 512) ^ q beyond a period.
  const layout::Swizzle swizzle = built({3, 3, 3, true});
  const layout::Expr i(layout::Sym::make("i", {0, 7}).value());
  const layout::Expr j(layout::Sym::make("j", {0, 7}).value());
  const layout::Expr base = i * 64 + j;
  const auto plain = layout::split_swizzled(base, swizzle).value();
  for (const std::int64_t k : {8, 16, 24}) {
    const auto split = layout::split_swizzled(base + k, swizzle).value();
    EXPECT_EQ(split.high, plain.high);
    EXPECT_EQ(split.low, plain.low);
    EXPECT_EQ(split.constant, k);
    const auto far = layout::split_swizzled(base + (512 + k), swizzle).value();
    EXPECT_EQ(far.high, plain.high + 512);
    EXPECT_EQ(far.constant, k);
  }
}

TEST(LawsSwizzle, TheOuterDirectionDoesNotSplit) {
  const layout::Expr i(layout::Sym::make("i", {0, 7}).value());
  EXPECT_FALSE(layout::split_swizzled(i * 64, built({3, 3, 3, false})));
}

// ---- Banks --------------------------------------------------------------------------------------

TEST(LawsSwizzle, AnEightRowColumnOf16BytesTouchesEveryBankOnce) {
  using layout::SwizzleMode;
  for (const int bits : {4, 8, 16, 32, 64}) {
    for (const auto& [mode, width] : std::vector<std::pair<SwizzleMode, std::int64_t>>{
             {SwizzleMode::B32, 32}, {SwizzleMode::B64, 64}, {SwizzleMode::B128, 128}}) {
      const std::int64_t cols = width * 8 / bits;
      const OLayout atom = read(layout::mma_atom(mode, bits).value());
      ASSERT_EQ(size_of(atom), 8 * cols);
      const std::int64_t chunk = 128 / bits;
      for (std::int64_t first = 0; first < cols; first += chunk) {
        std::set<std::int64_t> banks;
        std::set<std::int64_t> words;
        for (std::int64_t i = 0; i < 8; ++i) {
          for (std::int64_t j = first; j < first + chunk; ++j) {
            const Place place = place_at_replica_0(atom, i * cols + j);
            const auto where = layout::bank_place(place.contains("m") ? place.at("m") : 0, bits);
            EXPECT_EQ(where.bank, where.byte / 4 % 32);
            EXPECT_EQ(where.line, where.byte / 128);
            for (std::int64_t byte = where.byte; byte < where.byte + (bits + 7) / 8; ++byte) {
              banks.insert(byte / 4 % 32);
              words.insert(byte / 4);
            }
          }
        }
        EXPECT_EQ(banks.size(), 32U) << bits << " bits, " << width << " bytes, column " << first;
        EXPECT_EQ(words.size(), 32U);
      }
    }
  }
}

TEST(LawsSwizzle, UnswizzledColumnsTouchFewBanks) {
  for (const auto& [pitch, want] :
       std::vector<std::pair<std::int64_t, std::size_t>>{{32, 16}, {64, 8}, {128, 4}}) {
    std::set<int> banks;
    for (std::int64_t i = 0; i < 8; ++i) {
      for (std::int64_t byte = 0; byte < 16; ++byte)
        banks.insert(layout::bank_place(i * pitch + byte, 8).bank);
    }
    EXPECT_EQ(banks.size(), want);
  }
}

/// Wavefronts of 4-byte accesses by counting: the most different words wanted from one bank.
TEST(LawsSwizzle, AccessCostOfWordsIsTheBusiestBank) {
  Rng rng(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<layout::LaneAccess> lanes;
    std::map<std::int64_t, std::set<std::int64_t>> words;
    const std::int64_t spread = std::int64_t{1} << rng.between(3, 9);
    for (std::int64_t lane = rng.between(1, 32); lane > 0; --lane) {
      const std::int64_t word = rng.between(0, spread);
      lanes.push_back({4 * word, 4});
      words[word % 32].insert(word);
    }
    std::size_t busiest = 0;
    for (const auto& entry : words) busiest = std::max(busiest, entry.second.size());
    const auto cost = layout::warp_access_cost(lanes);
    ASSERT_TRUE(cost) << cost.error().text;
    EXPECT_EQ(cost->wavefronts, static_cast<std::int64_t>(busiest));
  }
}

}  // namespace
}  // namespace ww::test::laws_swizzle_test
