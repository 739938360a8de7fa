// SPDX-License-Identifier: Apache-2.0
// Comparison and selection. PTX manual, "Comparison and selection instructions", and the half
// precision ones.
#include <span>
#include <string>

#include "isa/families.h"
#include "isa/form.h"
#include "isa/operand.h"

namespace ww::isa::compare_rows {
namespace {

#define INT_TYPES "b16|b32|b64|$int"
#define UNORDERED "equ|neu|ltu|leu|gtu|geu|num|nan"
#define HALVES "f16|f16x2|bf16|bf16x2"

// What compares with what: bits only for equality, unsigned types in two spellings, floats also
// unordered.
constexpr Rule kBits{"type=b16|b32|b64", "cmp=eq|ne"};
constexpr Rule kUnordered{"cmp=" UNORDERED, "type=f32|f64"};
constexpr Rule kUnsigned{"cmp=lo|ls|hi|hs", "type=u16|u32|u64"};
constexpr Rule kFtz{"ftz", "type=f32", ""};
constexpr Rule kHalfFtz{"ftz", "type=f16|f16x2", ""};
constexpr Rule kNoFtz{"dtype=bf16", "!ftz", ""};
constexpr Gate kBf16{"type=bf16|bf16x2", Feature::Sm90, 78};
constexpr Gate kBf16Result{"dtype=bf16", Feature::Sm90, 78};

// ptxas 13.0: the second result of a pair is the upper half's; a single half has none.
std::string one_result(const Binding& binding, std::span<const Operand> operands) {
  const bool is_single = binding.word("type") == "f16" || binding.word("type") == "bf16";
  if (!is_single || operands[0].kind != OperandKind::Pair) return "";
  return "a comparison of single halves has one result";
}

constexpr Row kRows[] = {
    {.mnemonic = "set",
     .slots = "cmp=$cmp bool?=$bool ftz? dtype=u32|s32|f32|f16|bf16 type=" INT_TYPES "|f32|f64",
     .operands = ">d:dtype a:type b:type c@bool:pred",
     .gates = {kBf16Result},
     .rules = {kBits, kUnordered, kUnsigned, kFtz, kNoFtz},
     .about = "all ones (or 1.0) where the comparison holds, else 0"},
    {.mnemonic = "set",
     .slots = "cmp=$cmp bool?=$bool ftz? dtype=f16|bf16|f16x2|bf16x2|u16|s16|u32|s32 type=" HALVES,
     .operands = ">d:dtype a:type b:type c@bool:pred",
     .gates = {kBf16, kBf16Result, {"dtype=u16|s16|u32|s32", Feature::Sm75, 65}},
     .rules = {kHalfFtz,
               kNoFtz,
               {"type=f16", "dtype=f16|bf16|u16|s16|u32|s32", ""},
               {"type=bf16", "dtype=bf16|u16|s16|u32|s32", ""},
               {"type=f16x2", "dtype=f16x2|u32|s32", ""},
               {"type=bf16x2", "dtype=bf16x2|u32|s32", ""},
               {"cmp=lo|ls|hi|hs", ""}},
     .about = "half-precision comparison as numbers or masks"},
    {.mnemonic = "setp",
     .slots = "cmp=$cmp bool?=$bool ftz? type=" INT_TYPES "|f32|f64",
     .operands = ">p|q?:pred/_ a:type b:type c@bool:pred",
     .rules = {kBits, kUnordered, kUnsigned, kFtz},
     .about = "whether the comparison holds, and its opposite"},
    {.mnemonic = "setp",
     .slots = "cmp=$cmp bool?=$bool ftz? type=" HALVES,
     .operands = ">p|q?:pred/_ a:type b:type c@bool:pred",
     .gates = {kBf16},
     .rules = {kHalfFtz, {"cmp=lo|ls|hi|hs", ""}},
     .verify = one_result,
     .about = "half-precision comparison; of a pair, one predicate for each half"},
    {.mnemonic = "selp",
     .slots = "type=" INT_TYPES "|f32|f64",
     .operands = ">d:type a:type b:type c:pred",
     .about = "a where the predicate holds, else b"},
    {.mnemonic = "slct",
     .slots = "type=" INT_TYPES "|f32|f64 ctype=s32",
     .operands = ">d:type a:type b:type c:s32",
     .about = "a where c is not negative, else b"},
    {.mnemonic = "slct",
     .slots = "ftz? type=" INT_TYPES "|f32|f64 ctype=f32",
     .operands = ">d:type a:type b:type c:f32",
     .about = "a where c is not negative, else b"},
};

}  // namespace

constinit const FamilyRows family{"compare", "set, setp, selp, slct: comparison and selection",
                                  kRows};

}  // namespace ww::isa::compare_rows
