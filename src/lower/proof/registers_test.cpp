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

TEST(ProofRegisters, KeepOtherWidthsBeside) {
  Registers registers;
  registers.put_beside({kOne, 0, 0, 16}, 1);
  registers.put_beside({kOne, 0, 0, 32}, 2);
  EXPECT_EQ(registers.at({kOne, 0, 0, 16}), 1U);
  EXPECT_EQ(registers.at({kOne, 0, 0, 32}), 2U);
}

}  // namespace
}  // namespace ww::lower::proof_registers_test
