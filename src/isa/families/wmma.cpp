// SPDX-License-Identifier: Apache-2.0
// wmma: the older interface to tensor cores. A warp loads fragments from memory, multiplies them and
// stores the sum; which lane holds which element is not the program's business. PTX manual, "Matrix
// multiply-accumulate operations using wmma instructions".
//
// ptxas takes the type of a fragment from its first register and lets a literal pass behind it. The
// rows take registers, and literals where C is an integer.
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::wmma_rows {
namespace {

// Registers of a fragment: its elements are dealt evenly to 32 lanes. Halves of A and B are held by
// several lanes, eight registers whatever the shape.
int registers(const Binding& binding, std::string_view operand) {
  const auto [m, n, k] = product_shape(binding.word("shape"));
  const Word matrix = binding.word("matrix");
  const bool is_sum = operand == "c" || operand == "d" || matrix.is_one_of({"c", "d"});
  const bool is_a = operand == "a" || matrix == "a";
  const SlotName own = !is_sum ? SlotName("atype") : operand == "c" ? SlotName("ctype") : "dtype";
  const SlotName slot = binding.has(own) ? own : "type";
  const Word type = binding.word(slot);
  if (!is_sum && (type == "f16" || type.empty())) return 8;
  const int elements = is_sum ? m * n : is_a ? m * k : n * k;
  return elements * element_bits(binding, slot) / (32 * (type == "f64" ? 64 : 32));
}

constexpr Gate kCta{"space=shared::cta", Feature::Sm75, 78};

constexpr Rule kRowA{"matrix=a", "layout=row", "A of this type is `.row`"};
constexpr Rule kColB{"matrix=b", "layout=col", "B of this type is `.col`"};
constexpr Rule kUnsigned8{"atype=u8", "btype=u8", "A and B have one type"};
constexpr Rule kSigned8{"atype=s8", "btype=s8", "A and B have one type"};
constexpr Rule kUnsigned4{"atype=u4", "btype=u4", "A and B have one type"};
constexpr Rule kSigned4{"atype=s4", "btype=s4", "A and B have one type"};

constexpr Row kRows[] = {
    // --- loads ---
    {.mnemonic = "wmma.load",
     .slots = "matrix=a|b sync aligned layout=row|col shape=m16n16k16|m8n32k16|m32n8k16 "
              "space?=global|shared|shared::cta type=f16",
     .operands = ">r{*}:f16x2 [p:space] stride?:u32",
     .gates = {kCta},
     .count = registers,
     .about = "a tile of halves"},
    {.mnemonic = "wmma.load",
     .slots = "matrix=a|b sync aligned layout=row|col shape=m16n16k16|m8n32k16|m32n8k16 "
              "space?=global|shared|shared::cta type=bf16|u8|s8",
     .operands = ">r{*}:b32 [p:space] stride?:u32",
     .gates = {{"type=bf16", Feature::Sm80, 70}, kCta},
     .count = registers,
     .about = "a tile of brain floats or bytes"},
    {.mnemonic = "wmma.load",
     .slots = "matrix=a|b sync aligned layout=row|col shape=m16n16k8 "
              "space?=global|shared|shared::cta type=tf32",
     .operands = ">r{*}:b32 [p:space] stride?:u32",
     .gates = {{"", Feature::Sm80, 70}, kCta},
     .count = registers,
     .about = "a tile of single-precision numbers, cut to 10 bits of mantissa when multiplied"},
    {.mnemonic = "wmma.load",
     .slots = "matrix=a|b sync aligned layout=row|col shape=m8n8k4 "
              "space?=global|shared|shared::cta type=f64",
     .operands = ">r{*}:b64 [p:space] stride?:u32",
     .gates = {{"", Feature::Sm80, 70}, kCta},
     .count = registers,
     .about = "a tile of doubles"},
    {.mnemonic = "wmma.load",
     .slots = "matrix=a|b sync aligned layout=row|col shape=m8n8k32 "
              "space?=global|shared|shared::cta type=u4|s4",
     .operands = ">r{*}:b32 [p:space] stride?:u32",
     .gates = {kCta},
     .rules = {kRowA, kColB},
     .count = registers,
     .about = "a tile of 4-bit integers"},
    {.mnemonic = "wmma.load",
     .slots = "matrix=a|b sync aligned layout=row|col shape=m8n8k128 "
              "space?=global|shared|shared::cta type=b1",
     .operands = ">r{*}:b32 [p:space] stride?:u32",
     .gates = {kCta},
     .rules = {kRowA, kColB},
     .count = registers,
     .about = "a tile of bits"},
    {.mnemonic = "wmma.load",
     .slots = "matrix=c sync aligned layout=row|col shape=m16n16k16|m8n32k16|m32n8k16 "
              "space?=global|shared|shared::cta type=f16",
     .operands = ">r{*}:f16x2 [p:space] stride?:u32",
     .gates = {kCta},
     .count = registers,
     .about = "sums as halves"},
    {.mnemonic = "wmma.load",
     .slots = "matrix=c sync aligned layout=row|col shape=m16n16k16|m8n32k16|m32n8k16|m16n16k8 "
              "space?=global|shared|shared::cta type=f32",
     .operands = ">r{*}:f32 [p:space] stride?:u32",
     .gates = {{"shape=m16n16k8", Feature::Sm80, 70}, kCta},
     .count = registers,
     .about = "sums in single precision"},
    {.mnemonic = "wmma.load",
     .slots = "matrix=c sync aligned layout=row|col "
              "shape=m16n16k16|m8n32k16|m32n8k16|m8n8k32|m8n8k128 "
              "space?=global|shared|shared::cta type=s32",
     .operands = ">r{*}:s32 [p:space] stride?:u32",
     .gates = {kCta},
     .count = registers,
     .about = "integer sums"},
    {.mnemonic = "wmma.load",
     .slots = "matrix=c sync aligned layout=row|col shape=m8n8k4 "
              "space?=global|shared|shared::cta type=f64",
     .operands = ">r{*}:b64 [p:space] stride?:u32",
     .gates = {{"", Feature::Sm80, 70}, kCta},
     .count = registers,
     .about = "sums in double precision"},
    // --- stores ---
    {.mnemonic = "wmma.store",
     .slots = "matrix=d sync aligned layout=row|col shape=m16n16k16|m8n32k16|m32n8k16 "
              "space?=global|shared|shared::cta type=f16",
     .operands = "[p:space] r{*}:f16x2/r stride?:u32",
     .gates = {kCta},
     .count = registers,
     .about = "stores sums as halves"},
    {.mnemonic = "wmma.store",
     .slots = "matrix=d sync aligned layout=row|col shape=m16n16k16|m8n32k16|m32n8k16|m16n16k8 "
              "space?=global|shared|shared::cta type=f32",
     .operands = "[p:space] r{*}:f32/r stride?:u32",
     .gates = {{"shape=m16n16k8", Feature::Sm80, 70}, kCta},
     .count = registers,
     .about = "stores sums in single precision"},
    {.mnemonic = "wmma.store",
     .slots = "matrix=d sync aligned layout=row|col "
              "shape=m16n16k16|m8n32k16|m32n8k16|m8n8k32|m8n8k128 "
              "space?=global|shared|shared::cta type=s32",
     .operands = "[p:space] r{*}:s32/r stride?:u32",
     .gates = {kCta},
     .count = registers,
     .about = "stores integer sums"},
    {.mnemonic = "wmma.store",
     .slots = "matrix=d sync aligned layout=row|col shape=m8n8k4 "
              "space?=global|shared|shared::cta type=f64",
     .operands = "[p:space] r{*}:b64/r stride?:u32",
     .gates = {{"", Feature::Sm80, 70}, kCta},
     .count = registers,
     .about = "stores sums in double precision"},
    // --- products ---
    {.mnemonic = "wmma.mma",
     .slots = "sync aligned alayout=row|col blayout=row|col shape=m16n16k16|m8n32k16|m32n8k16 "
              "dtype=f16 ctype=f16",
     .operands = ">d{4}:f16x2 a{8}:f16x2/r b{8}:f16x2/r c{4}:f16x2/r",
     .about = "halves, half-precision sums"},
    {.mnemonic = "wmma.mma",
     .slots = "sync aligned alayout=row|col blayout=row|col shape=m16n16k16|m8n32k16|m32n8k16 "
              "dtype=f16 ctype=f32",
     .operands = ">d{4}:f16x2 a{8}:f16x2/r b{8}:f16x2/r c{8}:f32/r",
     .about = "halves, single-precision C, half-precision D"},
    {.mnemonic = "wmma.mma",
     .slots = "sync aligned alayout=row|col blayout=row|col shape=m16n16k16|m8n32k16|m32n8k16 "
              "dtype=f32 ctype=f16",
     .operands = ">d{8}:f32 a{8}:f16x2/r b{8}:f16x2/r c{4}:f16x2/r",
     .about = "halves, half-precision C, single-precision D"},
    {.mnemonic = "wmma.mma",
     .slots = "sync aligned alayout=row|col blayout=row|col shape=m16n16k16|m8n32k16|m32n8k16 "
              "dtype=f32 ctype=f32",
     .operands = ">d{8}:f32 a{8}:f16x2/r b{8}:f16x2/r c{8}:f32/r",
     .about = "halves, single-precision sums"},
    {.mnemonic = "wmma.mma",
     .slots = "sync aligned alayout=row|col blayout=row|col shape=m16n16k16|m8n32k16|m32n8k16 "
              "dtype=f32 atype=bf16 btype=bf16 ctype=f32",
     .operands = ">d{8}:f32 a{*}:b32/r b{*}:b32/r c{8}:f32/r",
     .gates = {{"", Feature::Sm80, 70}},
     .count = registers,
     .about = "brain floats"},
    {.mnemonic = "wmma.mma",
     .slots = "sync aligned alayout=row|col blayout=row|col shape=m16n16k8 "
              "dtype=f32 atype=tf32 btype=tf32 ctype=f32",
     .operands = ">d{8}:f32 a{*}:b32/r b{*}:b32/r c{8}:f32/r",
     .gates = {{"", Feature::Sm80, 70}},
     .count = registers,
     .about = "single precision cut to 10 bits of mantissa"},
    {.mnemonic = "wmma.mma",
     .slots = "sync aligned alayout=row|col blayout=row|col shape=m8n8k4 rnd?=$rnd "
              "dtype=f64 atype=f64 btype=f64 ctype=f64",
     .operands = ">d{2}:b64 a{1}:b64/r b{1}:b64/r c{2}:b64/r",
     .gates = {{"", Feature::Sm80, 70}},
     .about = "double precision"},
    {.mnemonic = "wmma.mma",
     .slots = "sync aligned alayout=row|col blayout=row|col shape=m16n16k16|m8n32k16|m32n8k16 "
              "dtype=s32 atype=u8|s8 btype=u8|s8 ctype=s32 satfinite?",
     .operands = ">d{8}:s32 a{*}:b32/r b{*}:b32/r c{8}:s32",
     .rules = {kUnsigned8, kSigned8},
     .count = registers,
     .about = "bytes, 32-bit sums that wrap, or stop at their limits with `.satfinite`"},
    {.mnemonic = "wmma.mma",
     .slots = "sync aligned alayout=row blayout=col shape=m8n8k32 "
              "dtype=s32 atype=u4|s4 btype=u4|s4 ctype=s32 satfinite?",
     .operands = ">d{2}:s32 a{1}:b32/r b{1}:b32/r c{2}:s32",
     .rules = {kUnsigned4, kSigned4},
     .about = "4-bit integers"},
    {.mnemonic = "wmma.mma",
     .slots = "op=xor|and popc sync aligned alayout=row blayout=col shape=m8n8k128 "
              "dtype=s32 atype=b1 btype=b1 ctype=s32",
     .operands = ">d{2}:s32 a{1}:b32/r b{1}:b32/r c{2}:s32",
     .gates = {{"op=and", Feature::Sm80, 71}},
     .about = "single bits: counts the ones of the exclusive or, or of the and"},
};

}  // namespace

constinit const FamilyRows family{
    "wmma", "wmma.load, mma, store: matrix products of a warp through opaque fragments", kRows};

}  // namespace ww::isa::wmma_rows
