// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/registers.h"

#include <gtest/gtest.h>

namespace ww::lower::proof_registers_test {
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
  {
    Registers::Writer writer(registers, kOne, 32);
    const auto place = writer.place_of(96, 4);
    ASSERT_TRUE(place.has_value());
    for (std::size_t t = 0; t < 3; ++t) writer.put_in_table(t, *place, 10 + t);
    EXPECT_FALSE(writer.place_of(40, 4).has_value());    // at no multiple of the width
    EXPECT_FALSE(writer.place_of(8160, 4).has_value());  // beyond the registers of a thread
    EXPECT_EQ(writer.put_beside({kOne, 2, 96, 32}, 20), 12U);
    EXPECT_EQ(writer.put_beside({kOne, 3, 96, 32}, 21), std::nullopt);
  }
  const Registers::Reader reader(registers, kOne, 32);
  const Number wanted[] = {10, 11, 20, 21};
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(registers.at({kOne, t, 96, 32}), wanted[t]);
    ASSERT_NE(reader.table().find(t, *reader.place_of(96)), nullptr);
    EXPECT_EQ(*reader.table().find(t, *reader.place_of(96)), wanted[t]);
  }
  EXPECT_EQ(reader.table().find(0, *reader.place_of(64)), nullptr);
  EXPECT_EQ(reader.table().find(1000, *reader.place_of(96)), nullptr);
}

// Elements of another width must be forgotten, which takes `put`.
TEST(ProofRegisters, AreNotWrittenByPlaceBesideOtherWidths) {
  Registers registers;
  registers.put({kOne, 0, 0, 16}, 1);
  EXPECT_FALSE(Registers::Writer(registers, kOne, 32).place_of(0, 1).has_value());
}

TEST(ProofRegisters, KeepOtherWidthsBeside) {
  Registers registers;
  registers.put_beside({kOne, 0, 0, 16}, 1);
  registers.put_beside({kOne, 0, 0, 32}, 2);
  EXPECT_EQ(registers.at({kOne, 0, 0, 16}), 1U);
  EXPECT_EQ(registers.at({kOne, 0, 0, 32}), 2U);
}

}  // namespace
}  // namespace ww::lower::proof_registers_test
