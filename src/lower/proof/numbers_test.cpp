// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/numbers.h"

#include <gtest/gtest.h>

namespace ww::lower::proof_numbers_test {
namespace {

constexpr ir::BufferId kOne{1}, kTwo{2};

TEST(ProofRegisters, HoldWhatWasPutThere) {
  Registers registers;
  // In the table of registers, beyond it, before it, and at no multiple of the width.
  const RegisterPlace places[] = {
      {kOne, 0, 0, 32},    {kOne, 0, 32, 32},      {kOne, 7, 0, 32},   {kOne, 1023, 8128, 32},
      {kOne, 0, 8160, 32}, {kOne, 0, 1 << 30, 32}, {kOne, 0, -32, 32}, {kOne, 0, 10016, 32},
      {kTwo, 0, 0, 32},    {kTwo, 3, 72, 32}};
  for (const RegisterPlace& place : places) EXPECT_EQ(registers.at(place), std::nullopt);
  Number number = 100;
  for (const RegisterPlace& place : places) registers.put(place, number++);
  number = 100;
  for (const RegisterPlace& place : places) EXPECT_EQ(registers.at(place), number++) << place.bit;
  registers.change_all([](Number x) { return x + 1; });
  number = 101;
  for (const RegisterPlace& place : places) EXPECT_EQ(registers.at(place), number++) << place.bit;
  EXPECT_EQ(registers.at({kOne, 1, 0, 32}), std::nullopt);
  EXPECT_EQ(registers.at({kOne, 0, 0, 16}), std::nullopt);
}

TEST(ProofRegisters, ForgetOtherWidthsThere) {
  for (const std::int64_t from : {0, 1 << 20}) {
    Registers registers;
    registers.put({kOne, 0, from, 16}, 1);
    registers.put({kOne, 0, from + 16, 16}, 2);
    registers.put({kOne, 0, from + 32, 16}, 3);
    registers.put({kOne, 1, from, 16}, 4);
    registers.put({kTwo, 0, from, 16}, 5);
    registers.put({kOne, 0, from, 32}, 6);
    EXPECT_EQ(registers.at({kOne, 0, from, 16}), std::nullopt);
    EXPECT_EQ(registers.at({kOne, 0, from + 16, 16}), std::nullopt);
    EXPECT_EQ(registers.at({kOne, 0, from + 32, 16}), 3U);
    EXPECT_EQ(registers.at({kOne, 1, from, 16}), 4U);
    EXPECT_EQ(registers.at({kTwo, 0, from, 16}), 5U);
    EXPECT_EQ(registers.at({kOne, 0, from, 32}), 6U);
    registers.put({kOne, 0, from + 16, 16}, 7);  // half of it
    EXPECT_EQ(registers.at({kOne, 0, from, 32}), std::nullopt);
    EXPECT_EQ(registers.at({kOne, 0, from + 16, 16}), 7U);
  }
}

TEST(ProofRegisters, AreWrittenAndReadByPlace) {
  Registers registers;
  Registers::Width& width = registers.width(kOne, 32);
  const auto place = width.room_at(96, 4);
  ASSERT_TRUE(place.has_value());
  for (std::size_t t = 0; t < 3; ++t) width.put_in_table(t, *place, 10 + t);
  EXPECT_FALSE(width.room_at(40, 4).has_value());    // at no multiple of the width
  EXPECT_FALSE(width.room_at(8160, 4).has_value());  // beyond the registers of a thread
  EXPECT_EQ(width.put_beside(2, 96, 20), 12U);
  EXPECT_EQ(width.put_beside(3, 96, 21), std::nullopt);
  const auto table = width.table();
  const Number wanted[] = {10, 11, 20, 21};
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(registers.at({kOne, t, 96, 32}), wanted[t]);
    ASSERT_NE(table.find(t, *width.place_of(96)), nullptr);
    EXPECT_EQ(*table.find(t, *width.place_of(96)), wanted[t]);
  }
  EXPECT_EQ(table.find(0, *width.place_of(64)), nullptr);
  EXPECT_EQ(table.find(1000, *width.place_of(96)), nullptr);
}

// Elements of another width must be forgotten, which takes `put`.
TEST(ProofRegisters, AreNotWrittenByPlaceBesideOtherWidths) {
  Registers registers;
  registers.put({kOne, 0, 0, 16}, 1);
  EXPECT_FALSE(registers.width(kOne, 32).room_at(0, 1).has_value());
}

TEST(ProofRegisters, KeepOtherWidthsBeside) {
  Registers registers;
  registers.put_beside({kOne, 0, 0, 16}, 1);
  registers.put_beside({kOne, 0, 0, 32}, 2);
  EXPECT_EQ(registers.at({kOne, 0, 0, 16}), 1U);
  EXPECT_EQ(registers.at({kOne, 0, 0, 32}), 2U);
}

TEST(NumberMap, HoldsWhatWasPut) {
  NumberMap<int> map;
  EXPECT_EQ(map.find(0), nullptr);
  for (int i = 0; i < 5000; ++i) map.put(mixed(static_cast<Number>(i)), i);
  for (int i = 0; i < 5000; i += 3) map.put(mixed(static_cast<Number>(i)), -i);
  for (int i = 0; i < 5000; ++i) {
    const int* found = map.find(mixed(static_cast<Number>(i)));
    ASSERT_NE(found, nullptr) << i;
    EXPECT_EQ(*found, i % 3 == 0 ? -i : i);
  }
  EXPECT_EQ(map.find(mixed(5000)), nullptr);
}

TEST(NumberMap, RoomMadeBeforeKeepsWhatIsThere) {
  NumberMap<int> map;
  map.put(7, 1);
  for (const std::size_t room : {10U, 3000U, 5U}) {
    map.reserve(room);
    ASSERT_NE(map.find(7), nullptr);
    EXPECT_EQ(*map.find(7), 1);
    EXPECT_EQ(map.find(8), nullptr);
  }
}

// Keys that all belong in one place.
TEST(NumberMap, KeysMayMeet) {
  NumberMap<int> map;
  for (Number i = 0; i < 300; ++i) map.put(i << 32U, static_cast<int>(i));
  for (Number i = 0; i < 300; ++i) EXPECT_EQ(*map.find(i << 32U), static_cast<int>(i));
  EXPECT_EQ(map.find(Number{300} << 32U), nullptr);
}

ThreadNumbers numbers(std::size_t count, Number salt) {
  ThreadNumbers out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(mixed(salt, i));
  return out;
}

// Eight columns at a time, then the rest.
TEST(NumberMatrix, AddsProducts) {
  constexpr std::size_t kRows = 3, kDepth = 5;
  for (const std::size_t cols : {1U, 7U, 8U, 16U, 19U}) {
    const ThreadNumbers a = numbers(kRows * kDepth, 1), b = numbers(kDepth * cols, 2);
    const ThreadNumbers before = numbers(kRows * cols, 3);
    ThreadNumbers d = before;
    add_product(a, b, kDepth, cols, d);
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t j = 0; j < cols; ++j) {
        Number sum = before[i * cols + j];
        for (std::size_t k = 0; k < kDepth; ++k) sum += a[i * kDepth + k] * b[k * cols + j];
        EXPECT_EQ(d[i * cols + j], sum) << i << ", " << j << " of " << cols;
      }
  }
}

TEST(NumberMatrix, Turns) {
  EXPECT_EQ(turned({1, 2, 3, 4, 5, 6}, 3), (ThreadNumbers{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(turned({1, 2, 3}, 1), (ThreadNumbers{1, 2, 3}));
}

}  // namespace
}  // namespace ww::lower::proof_numbers_test
