// SPDX-License-Identifier: Apache-2.0
// Integer ops against the manual's formulas, in 128-bit arithmetic and bit by bit.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/wide.h"
#include "sim/ops/test_warp.h"

namespace ww::sim::ops_integer_test {
namespace {

using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using Int = ww::Wide;
__extension__ using UnsignedInt = unsigned __int128;

// Calls visit.template operator()<T>("u16") for each of the types.
template <typename Visit>
void for_types3264(Visit&& visit) {
  visit.template operator()<U32>("u32");
  visit.template operator()<S32>("s32");
  visit.template operator()<U64>("u64");
  visit.template operator()<S64>("s64");
}
template <typename Visit>
void for_types(Visit&& visit) {
  visit.template operator()<U16>("u16");
  visit.template operator()<S16>("s16");
  for_types3264(visit);
}

template <typename T>
Int product(T a, T b) {
  // Of two 64-bit unsigned numbers all 128 bits count, so it wraps as unsigned.
  return static_cast<Int>(static_cast<UnsignedInt>(Int{a}) * static_cast<UnsignedInt>(Int{b}));
}
template <typename T>
T high(T a, T b) {
  if constexpr (std::is_signed_v<T>) return static_cast<T>(product(a, b) >> (8 * sizeof(T)));
  return static_cast<T>(static_cast<UnsignedInt>(product(a, b)) >> (8 * sizeof(T)));
}
S32 saturated(Int value) {
  return static_cast<S32>(std::clamp<Int>(value, -2147483648LL, 2147483647LL));
}

// What the other tests use finds a wrong result, in all lanes or for one number alone.
TEST(ExpectLanes, FindsPlantedFaults) {
  EXPECT_NONFATAL_FAILURE(
      (expect_lanes<U32, U32, U32>("add.u32", [](U32 a, U32 b) { return a - b; })), "in lane 0 of");
  const auto in_one_lane = [](U32 a, U32 b) { return a == 0xFFFF'FFFFU ? b : a + b; };
  EXPECT_NONFATAL_FAILURE((expect_lanes<U32, U32, U32>("add.u32", in_one_lane)), ", expected ");
}

TEST(IntegerOps, AddsAndSubtracts) {
  for_types([]<typename T>(const std::string& type) {
    expect_lanes<T, T, T>("add." + type, [](T a, T b) { return static_cast<T>(Int{a} + b); });
    expect_lanes<T, T, T>("sub." + type, [](T a, T b) { return static_cast<T>(Int{a} - b); });
  });
  expect_lanes<S32, S32, S32>("add.sat.s32", [](S32 a, S32 b) { return saturated(Int{a} + b); });
  expect_lanes<S32, S32, S32>("sub.sat.s32", [](S32 a, S32 b) { return saturated(Int{a} - b); });
}

TEST(IntegerOps, TakesConstants) {
  expect_lanes<U32, U32>(
      "add.u32", [](U32 a) { return a - 5; }, ", -5");
  expect_lanes<U64, U64>(
      "mul.lo.u64", [](U64 a) { return a * 3; }, ", 3");
}

template <typename H, typename F>
auto halves(F f) {
  return [f](U32 a, U32 b) {
    const auto at = [&](unsigned shift) {
      return static_cast<U32>(static_cast<U16>(
                 f(static_cast<H>(a >> shift & 0xFFFFU), static_cast<H>(b >> shift & 0xFFFFU))))
             << shift;
    };
    return at(0) | at(16);
  };
}

TEST(IntegerOps, WorksOnPackedHalves) {
  const auto add = [](int a, int b) { return a + b; };
  const auto least = [](int a, int b) { return std::min(a, b); };
  const auto most = [](int a, int b) { return std::max(a, b); };
  expect_lanes<U32, U32, U32>("add.u16x2", halves<U16>(add));
  expect_lanes<U32, U32, U32>("add.s16x2", halves<S16>(add));
  expect_lanes<U32, U32, U32>("min.u16x2", halves<U16>(least));
  expect_lanes<U32, U32, U32>("min.s16x2", halves<S16>(least));
  expect_lanes<U32, U32, U32>("max.u16x2", halves<U16>(most));
  expect_lanes<U32, U32, U32>("max.s16x2", halves<S16>(most));
  expect_lanes<U32, U32, U32>(
      "min.relu.s16x2", halves<S16>([](int a, int b) { return std::max(0, std::min(a, b)); }));
  expect_lanes<U32, U32, U32>("max.relu.s16x2", halves<S16>([](int a, int b) {
                                return std::max({0, a, b});
                              }));
}

TEST(IntegerOps, Multiplies) {
  for_types([]<typename T>(const std::string& type) {
    expect_lanes<T, T, T>("mul.lo." + type, [](T a, T b) { return static_cast<T>(product(a, b)); });
    expect_lanes<T, T, T>("mul.hi." + type, high<T>);
    expect_lanes<T, T, T, T>("mad.lo." + type, [](T a, T b, T c) {
      return static_cast<T>(Int{static_cast<T>(product(a, b))} + c);
    });
    expect_lanes<T, T, T, T>("mad.hi." + type,
                             [](T a, T b, T c) { return static_cast<T>(Int{high(a, b)} + c); });
  });
  expect_lanes<S32, S32, S32, S32>(
      "mad.hi.sat.s32", [](S32 a, S32 b, S32 c) { return saturated(Int{high(a, b)} + c); });
}

template <typename T, typename D>
void expect_wide(const std::string& type) {
  expect_lanes<D, T, T>("mul.wide." + type, [](T a, T b) { return static_cast<D>(Int{a} * b); });
  expect_lanes<D, T, T, D>("mad.wide." + type,
                           [](T a, T b, D c) { return static_cast<D>(Int{a} * b + c); });
}
TEST(IntegerOps, MultipliesWide) {
  expect_wide<U16, U32>("u16");
  expect_wide<S16, S32>("s16");
  expect_wide<U32, U64>("u32");
  expect_wide<S32, S64>("s32");
}

// The low 24 bits, with their sign.
Int low24(S32 a) {
  const Int low = a & 0xFFFFFF;
  return low >= 0x800000 ? low - 0x1000000 : low;
}
Int low24(U32 a) { return a & 0xFFFFFFU; }

template <typename T>
void expect_24(const std::string& type) {
  expect_lanes<T, T, T>("mul24.lo." + type,
                        [](T a, T b) { return static_cast<T>(low24(a) * low24(b)); });
  expect_lanes<T, T, T>("mul24.hi." + type,
                        [](T a, T b) { return static_cast<T>(low24(a) * low24(b) >> 16); });
  expect_lanes<T, T, T, T>("mad24.lo." + type,
                           [](T a, T b, T c) { return static_cast<T>(low24(a) * low24(b) + c); });
  expect_lanes<T, T, T, T>("mad24.hi." + type, [](T a, T b, T c) {
    return static_cast<T>((low24(a) * low24(b) >> 16) + c);
  });
}
TEST(IntegerOps, MultipliesTwentyFourBits) {
  expect_24<U32>("u32");
  expect_24<S32>("s32");
  expect_lanes<S32, S32, S32, S32>("mad24.hi.sat.s32", [](S32 a, S32 b, S32 c) {
    return saturated((low24(a) * low24(b) >> 16) + c);
  });
}

TEST(IntegerOps, Divides) {
  for_types([]<typename T>(const std::string& type) {
    expect_lanes<T, T, T>("div." + type, [](T a, T b) {
      return b == 0 ? static_cast<T>(-1) : static_cast<T>(Int{a} / Int{b});
    });
    expect_lanes<T, T, T>("rem." + type, [](T a, T b) {
      return b == 0 ? static_cast<T>(-1) : static_cast<T>(Int{a} % Int{b});
    });
  });
}

TEST(IntegerOps, TakesAbsolutesAndExtremes) {
  for_types([]<typename T>(const std::string& type) {
    expect_lanes<T, T, T>("min." + type, [](T a, T b) { return a < b ? a : b; });
    expect_lanes<T, T, T>("max." + type, [](T a, T b) { return a < b ? b : a; });
    expect_lanes<T, T, T, T>("sad." + type, [](T a, T b, T c) {
      return static_cast<T>(Int{c} + (a < b ? Int{b} - a : Int{a} - b));
    });
    if constexpr (std::is_signed_v<T>) {
      expect_lanes<T, T>("abs." + type, [](T a) { return static_cast<T>(a < 0 ? -Int{a} : a); });
      expect_lanes<T, T>("neg." + type, [](T a) { return static_cast<T>(-Int{a}); });
    }
  });
  expect_lanes<S32, S32, S32>("min.relu.s32",
                              [](S32 a, S32 b) { return std::max(0, std::min(a, b)); });
  expect_lanes<S32, S32, S32>("max.relu.s32", [](S32 a, S32 b) { return std::max({0, a, b}); });
}

// --- carry ---------------------------------------------------------------------------------------

// Two numbers of 128 bits, in two 64-bit or four 32-bit registers each.
struct Longs {
  UnsignedInt a, b;
};
Longs long_numbers(Numbers& numbers) {
  const auto next = [&] {
    return (static_cast<UnsignedInt>(numbers.next<U64>()) << 64U) | numbers.next<U64>();
  };
  return {next(), next()};
}

template <typename T, unsigned kParts>
void expect_chain(const std::string& text, UnsignedInt (*expected)(UnsignedInt, UnsignedInt)) {
  OpsUnderTest ops(text);
  ASSERT_TRUE(ops.ok());
  Numbers numbers;
  for (int round = 0; round < 10; ++round) {
    Longs longs[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
      longs[l] = long_numbers(numbers);
      for (unsigned i = 0; i < kParts; ++i) {
        ops.lanes<T>(register_name<T>(i))[l] = static_cast<T>(longs[l].a >> (8 * sizeof(T) * i));
        ops.lanes<T>(register_name<T>(i + kParts))[l] =
            static_cast<T>(longs[l].b >> (8 * sizeof(T) * i));
      }
    }
    ops.run();
    for (unsigned l = 0; l < kLanes; ++l) {
      const UnsignedInt wanted = expected(longs[l].a, longs[l].b);
      for (unsigned i = 0; i < kParts; ++i) {
        ASSERT_EQ(ops.lanes<T>(register_name<T>(i))[l],
                  static_cast<T>(wanted >> (8 * sizeof(T) * i)));
      }
    }
  }
}

TEST(IntegerOps, CarriesFromWordToWord) {
  const auto sum = [](UnsignedInt a, UnsignedInt b) { return a + b; };
  const auto difference = [](UnsignedInt a, UnsignedInt b) { return a - b; };
  expect_chain<U64, 2>("add.cc.u64 %d0, %d0, %d2; addc.u64 %d1, %d1, %d3;", sum);
  expect_chain<U64, 2>("add.cc.s64 %d0, %d0, %d2; addc.cc.s64 %d1, %d1, %d3;", sum);
  expect_chain<U64, 2>("sub.cc.u64 %d0, %d0, %d2; subc.u64 %d1, %d1, %d3;", difference);
  expect_chain<U32, 4>(
      "add.cc.u32 %r0, %r0, %r4; addc.cc.u32 %r1, %r1, %r5; addc.cc.s32 %r2, %r2, %r6;"
      "addc.u32 %r3, %r3, %r7;",
      sum);
  expect_chain<U32, 4>(
      "sub.cc.u32 %r0, %r0, %r4; subc.cc.s32 %r1, %r1, %r5; subc.cc.u32 %r2, %r2, %r6;"
      "subc.u32 %r3, %r3, %r7;",
      difference);
}

// The flag is that of adding the complement.
TEST(IntegerOps, MixesSumsAndDifferences) {
  OpsUnderTest ops(
      "sub.cc.u32 %r0, %r1, %r2; addc.u32 %r3, 0, 0; add.cc.u32 %r0, %r1, %r2; subc.u32 %r4, 9, "
      "5;");
  ASSERT_TRUE(ops.ok());
  for (unsigned l = 0; l < kLanes; ++l) {
    ops.lanes<U32>("%r1")[l] = l;
    ops.lanes<U32>("%r2")[l] = l < 4 ? 5 : 0xFFFFFFFFU;
  }
  ops.run();
  EXPECT_EQ(ops.lanes<U32>("%r3")[3], 0U);  // 3 - 5 borrows
  EXPECT_EQ(ops.lanes<U32>("%r4")[3], 3U);  // 3 + 5 carries nothing
  EXPECT_EQ(ops.lanes<U32>("%r3")[7], 0U);
  EXPECT_EQ(ops.lanes<U32>("%r4")[7], 4U);
}

// The manual's example: four words of the product of two pairs of words.
TEST(IntegerOps, CarriesThroughProducts) {
  OpsUnderTest ops(
      "mul.lo.u32 %r0, %r4, %r6; mul.hi.u32 %r1, %r4, %r6;"
      "mad.lo.cc.u32 %r1, %r5, %r6, %r1; madc.hi.u32 %r2, %r5, %r6, 0;"
      "mad.lo.cc.u32 %r1, %r4, %r7, %r1; madc.hi.cc.u32 %r2, %r4, %r7, %r2;"
      "addc.u32 %r3, 0, 0;"
      "mad.lo.cc.u32 %r2, %r5, %r7, %r2; madc.hi.u32 %r3, %r5, %r7, %r3;");
  ASSERT_TRUE(ops.ok());
  Numbers numbers;
  UnsignedInt wanted[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    const auto a = numbers.next<U64>();
    const auto b = numbers.next<U64>();
    wanted[l] = static_cast<UnsignedInt>(a) * b;
    ops.lanes<U32>("%r4")[l] = static_cast<U32>(a);
    ops.lanes<U32>("%r5")[l] = static_cast<U32>(a >> 32U);
    ops.lanes<U32>("%r6")[l] = static_cast<U32>(b);
    ops.lanes<U32>("%r7")[l] = static_cast<U32>(b >> 32U);
  }
  ops.run();
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned i = 0; i < 4; ++i) {
      ASSERT_EQ(ops.lanes<U32>(register_name<U32>(i))[l], static_cast<U32>(wanted[l] >> (32 * i)));
    }
  }
}

TEST(IntegerOps, CarriesInItsOwnLanesOnly) {
  OpsUnderTest ops("add.cc.u32 %r0, %r1, %r1; addc.u32 %r2, 0, 0;");
  ASSERT_TRUE(ops.ok());
  for (unsigned l = 0; l < kLanes; ++l) ops.lanes<U32>("%r1")[l] = l % 2 == 0 ? 0x80000000U : 1;
  ops.run(0x0000'FFFF);
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(ops.lanes<U32>("%r2")[l], l < 16 && l % 2 == 0 ? 1U : 0U);
  }
}

// --- bits ----------------------------------------------------------------------------------------

template <typename T>
bool bit(T value, unsigned i) {
  return ((static_cast<U64>(value) >> i) & 1U) != 0;
}
template <typename T>
U32 count_of(T a) {
  U32 n = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i) n += bit(a, i) ? 1U : 0U;
  return n;
}
template <typename T>
U32 highest(T a) {
  for (unsigned i = 8 * sizeof(T); i-- > 0;) {
    if (bit(a, i) != (a < 0)) return i;
  }
  return 0xFFFFFFFFU;
}

TEST(IntegerOps, CountsAndFindsBits) {
  expect_lanes<U32, U32>("popc.b32", count_of<U32>);
  expect_lanes<U32, U64>("popc.b64", count_of<U64>);
  expect_lanes<U32, U32>("clz.b32", [](U32 a) { return 31 - highest(a); });
  expect_lanes<U32, U64>("clz.b64", [](U64 a) { return 63 - highest(a); });
  for_types3264([]<typename T>(const std::string& type) {
    expect_lanes<U32, T>("bfind." + type, highest<T>);
    expect_lanes<U32, T>("bfind.shiftamt." + type, [](T a) {
      const U32 at = highest(a);
      return at == 0xFFFFFFFFU ? at : static_cast<U32>(8 * sizeof(T)) - 1 - at;
    });
  });
}

TEST(IntegerOps, FindsTheNthBit) {
  // As the manual writes it.
  expect_lanes<U32, U32, U32, S32>("fns.b32", [](U32 mask, U32 base, S32 offset) {
    if (base > 31) return 0xFFFFFFFFU;  // undefined there
    if (offset == 0) return bit(mask, base) ? base : 0xFFFFFFFFU;
    auto pos = static_cast<S64>(base);
    S64 count = std::abs(S64{offset}) - 1;
    for (; pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1) {
      if (!bit(mask, static_cast<unsigned>(pos))) continue;
      if (count == 0) return static_cast<U32>(pos);
      --count;
    }
    return 0xFFFFFFFFU;
  });
}

template <typename T>
T reversed(T a) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i) {
    if (bit(a, i)) result |= T{1} << (8 * sizeof(T) - 1 - i);
  }
  return result;
}
TEST(IntegerOps, ReversesBits) {
  expect_lanes<U32, U32>("brev.b32", reversed<U32>);
  expect_lanes<U64, U64>("brev.b64", reversed<U64>);
}

// Modulo 256 as the manual says, but not with 64 bits, where much is as good as more.
template <typename T>
U32 field_number(U32 n) {
  return sizeof(T) == 4 ? n & 0xFFU : std::min(n, 1000U);
}
// The manual's loops.
template <typename T>
T extracted(T a, U32 pos, U32 len) {
  constexpr U32 kTop = 8 * sizeof(T) - 1;
  pos = field_number<T>(pos);
  len = field_number<T>(len);
  const bool sign = std::is_signed_v<T> && len != 0 && bit(a, std::min(pos + len - 1, kTop));
  U64 result = 0;
  for (U32 i = 0; i <= kTop; ++i) {
    const bool one = i < len && pos + i <= kTop ? bit(a, pos + i) : sign;
    result |= static_cast<U64>(one) << i;
  }
  return static_cast<T>(result);
}
template <typename T>
T inserted(T a, T b, U32 pos, U32 len) {
  pos = field_number<T>(pos);
  len = field_number<T>(len);
  for (U32 i = 0; i < len && pos + i < 8 * sizeof(T); ++i) {
    b = static_cast<T>((b & ~(T{1} << (pos + i))) | (static_cast<T>(bit(a, i)) << (pos + i)));
  }
  return b;
}

TEST(IntegerOps, ExtractsAndInsertsFields) {
  for_types3264([]<typename T>(const std::string& type) {
    expect_lanes<T, T, U32, U32>("bfe." + type, extracted<T>);
    for (const auto& [pos, len] :
         {std::pair{4U, 7U}, {0U, 32U}, {60U, 9U}, {3U, 0U}, {255U, 255U}}) {
      expect_lanes<T, T>(
          "bfe." + type, [&](T a) { return extracted(a, pos, len); },
          ", " + std::to_string(pos) + ", " + std::to_string(len));
    }
  });
  expect_lanes<U32, U32, U32, U32, U32>("bfi.b32", inserted<U32>);
  expect_lanes<U64, U64, U64, U32, U32>("bfi.b64", inserted<U64>);
  expect_lanes<U32, U32, U32>(
      "bfi.b32", [](U32 a, U32 b) { return inserted(a, b, 9, 14); }, ", 9, 14");
}

template <bool kWrap>
U32 mask_of(U32 a, U32 b) {
  U64 result = 0;
  if (kWrap) a &= 31, b &= 31;
  for (U64 i = a; i < U64{a} + b && i < 32; ++i) result |= U64{1} << i;
  return static_cast<U32>(result);
}
template <bool kWrap, typename T>
T extended(T a, U32 n) {
  n = kWrap ? n & 31 : std::min(n, 32U);
  U32 result = 0;
  for (U32 i = 0; i < 32 && n != 0; ++i) {
    const bool one = i < n ? bit(a, i) : std::is_signed_v<T> && bit(a, n - 1);
    result |= static_cast<U32>(one) << i;
  }
  return static_cast<T>(result);
}
TEST(IntegerOps, MakesMasksAndExtends) {
  expect_lanes<U32, U32, U32>("bmsk.clamp.b32", mask_of<false>);
  expect_lanes<U32, U32, U32>("bmsk.wrap.b32", mask_of<true>);
  expect_lanes<U32, U32, U32>("szext.clamp.u32", extended<false, U32>);
  expect_lanes<U32, U32, U32>("szext.wrap.u32", extended<true, U32>);
  expect_lanes<S32, S32, U32>("szext.clamp.s32", extended<false, S32>);
  expect_lanes<S32, S32, U32>("szext.wrap.s32", extended<true, S32>);
}

// Part i of `width` bits, as a number.
Int part_of(U32 word, unsigned i, unsigned width, bool is_signed) {
  const Int part = (word >> (i * width)) & ((U64{1} << width) - 1);
  return is_signed && bit(static_cast<U64>(part), width - 1) ? part - (Int{1} << width) : part;
}
TEST(IntegerOps, MultipliesPartsAndAddsThem) {
  for (const bool a_signed : {false, true}) {
    for (const bool b_signed : {false, true}) {
      const std::string types =
          std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
      expect_lanes<U32, U32, U32, U32>("dp4a" + types, [&](U32 a, U32 b, U32 c) {
        Int sum = c;
        for (unsigned i = 0; i < 4; ++i) {
          sum += part_of(a, i, 8, a_signed) * part_of(b, i, 8, b_signed);
        }
        return static_cast<U32>(sum);
      });
      for (const bool is_high : {false, true}) {
        expect_lanes<U32, U32, U32, U32>(
            (is_high ? "dp2a.hi" : "dp2a.lo") + types, [&](U32 a, U32 b, U32 c) {
              Int sum = c;
              for (unsigned i = 0; i < 2; ++i) {
                sum += part_of(a, i, 16, a_signed) * part_of(b, i + (is_high ? 2 : 0), 8, b_signed);
              }
              return static_cast<U32>(sum);
            });
      }
    }
  }
}

}  // namespace
}  // namespace ww::sim::ops_integer_test
