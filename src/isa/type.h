// SPDX-License-Identifier: Apache-2.0
// PTX types: the words after the dot, and which declared register an instruction type accepts.
// Registers are raw bits; the rule is about spelling, and is ptxas's (`add.f32` takes a `.b32` or
// `.f32` register but no `.u32` one).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "isa/words.h"
#include "num/dtype.h"

namespace ww::isa {

enum class Type : std::uint8_t {
#define WW_TYPE(name, text, cls, bits, declared, number) name,
#include "isa/types.def"
#undef WW_TYPE
};

enum class TypeClass : std::uint8_t { Pred, Bits, Unsigned, Signed, Float, Other };

struct TypeInfo {
  std::string_view name;  // without the dot: "f16x2"
  TypeClass cls;
  int bits;           // of the register that holds one value
  bool declarable;    // as the type of a register or variable
  num::DType number;  // the type of one number: Float16 of "f16x2"
};

const TypeInfo& info(Type type);
/// The type spelled `word` (no dot), if it is one.
std::optional<Type> parse_type(std::string_view word);
/// The type that the word names, if it names one.
std::optional<Type> parse_type(Word word);
/// Whether it holds a whole number or plain bits: `.b`, `.u` and `.s` types.
bool is_whole(Type type);
/// The `.b` type of that width: 8, 16, 32, 64 or 128 bits, or 1 for predicates.
Type bits_type(int bits);

/// How a register's width must relate to the instruction's type: ld, st and cvt take wider ones.
enum class Width : std::uint8_t { Exact, OrWider };

/// Whether a register declared as `declared` fits an operand of type `wanted`.
bool accepts(Type wanted, Type declared, Width width = Width::Exact);

}  // namespace ww::isa
