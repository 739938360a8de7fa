// SPDX-License-Identifier: Apache-2.0
// Logic and shifts. PTX manual, "Logic and shift instructions".
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::logic_rows {
namespace {

constexpr Row kRows[] = {
    {.mnemonic = "and",
     .slots = "type=pred|$bits",
     .operands = ">d:type a:type b:type",
     .about = "a and b"},
    {.mnemonic = "or",
     .slots = "type=pred|$bits",
     .operands = ">d:type a:type b:type",
     .about = "a or b"},
    {.mnemonic = "xor",
     .slots = "type=pred|$bits",
     .operands = ">d:type a:type b:type",
     .about = "either a or b"},
    {.mnemonic = "not",
     .slots = "type=pred|$bits",
     .operands = ">d:type a:type",
     .about = "every bit turned"},
    {.mnemonic = "cnot",
     .slots = "type=$bits",
     .operands = ">d:type a:type",
     .about = "1 if a is 0, else 0"},
    {.mnemonic = "lop3",
     .slots = "type=b32",
     .operands = ">d:b32 a:b32 b:b32 c:b32 #table",
     .about = "any function of three bits, given as its truth table"},
    {.mnemonic = "lop3",
     .slots = "op=or|and type=b32",
     .operands = ">d|p:b32/_ a:b32 b:b32 c:b32 #table q:pred",
     .gates = {{"", Feature::Sm75, 82}},
     .about = "any function of three bits, and whether the result is not 0"},
    {.mnemonic = "shf",
     .slots = "dir=l|r mode=clamp|wrap type=b32",
     .operands = ">d:b32 a:b32 b:b32 c:u32",
     .about = "shifts a pair of words and keeps one"},
    {.mnemonic = "shl",
     .slots = "type=$bits",
     .operands = ">d:type a:type b:u32",
     .about = "shifts left"},
    {.mnemonic = "shr",
     .slots = "type=$bits|$int",
     .operands = ">d:type a:type b:u32",
     .about = "shifts right, keeping the sign of signed types"},
};

}  // namespace

constinit const FamilyRows family{"logic", "and, or, xor, not, lop3, shifts", kRows};

}  // namespace ww::isa::logic_rows
