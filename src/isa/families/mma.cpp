// SPDX-License-Identifier: Apache-2.0
// mma: D = A*B + C by one warp, all operands in registers, dense and with 2:4 structured sparsity
// of A (`.sp`). PTX manual, "Matrix multiply-accumulate operation using mma instruction" and the
// same "with sparse matrix A". Which lane holds which element is the business of the simulator;
// here a fragment is so many registers.
//
// ptxas takes the type of a fragment from its first register and lets a stray literal, or `_` in D,
// pass behind it. The rows take registers, and literals where C is a number per register.
#include <fmt/format.h>

#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::mma_rows {
namespace {

// How many registers a fragment takes: its elements are dealt evenly to 32 lanes. C and D are of 32
// or 64 bits wherever a row asks.
int registers(const Binding& binding, std::string_view operand) {
  const auto [m, n, k] = product_shape(binding.word("shape"));
  if (operand == "d" || operand == "c") return m * n / 32;
  const bool is_a = operand == "a";
  const SlotName type = is_a ? SlotName("atype") : "btype";
  int elements = (is_a ? m : n) * k / 32;
  if (is_a && binding.has("sp")) elements /= 2;  // the other half are zeros and not stored
  return elements * element_bits(binding, type) / (binding.word(type) == "f64" ? 64 : 32);
}

constexpr Rule kRowCol{"", "alayout=row blayout=col", "A is `.row` and B is `.col` in this shape"};
constexpr Rule kNarrowDepth{"shape=m16n8k16", "atype=$fp8 btype=$fp8",
                            "6- and 4-bit floats have the shape `.m16n8k32` only"};
constexpr Rule kScaleEvery32{"scale_vec=scale_vec::2X", "stype=ue8m0",
                             "two scales per row (`.scale_vec::2X`) are `.ue8m0`"};
constexpr Rule kScaleEvery16{"scale_vec=scale_vec::4X", "stype=ue4m3",
                             "four scales per row (`.scale_vec::4X`) are `.ue4m3`"};

// --- block scales ---

// An operand {byte-id, thread-id}; registers are not looked into.
std::string bad_ids(const Operand& ids, std::string_view matrix, int byte_step, int threads) {
  const Operand& byte = ids.parts[0];
  const Operand& thread = ids.parts[1];
  if (byte.kind == OperandKind::Integer &&
      (byte.value < 0 || byte.value > 3 || byte.value % byte_step != 0)) {
    return fmt::format("byte {} of the scales of {} does not start a group of {}", byte.value,
                       matrix, byte_step);
  }
  if (thread.kind == OperandKind::Integer && (thread.value < 0 || thread.value >= threads)) {
    return fmt::format("the scales of {} come from thread 0..{} of a group, not {}", matrix,
                       threads - 1, thread.value);
  }
  return "";
}

// A scale is a register, in braces or not: the row lists both, and one of them must be there.
// `scale_vec::NX` takes N consecutive bytes of it, which start at a multiple of N. The registers of
// A and B must be declared `.b32` in these rows, whatever the element: hence `.e4m3x4`.
std::string check_scales(const Binding& binding, std::span<const Operand> operands) {
  const std::size_t first = binding.has("sp") ? 6 : 4;
  const auto is_pair = [&](std::size_t i) { return operands[i].parts.size() == 2; };
  if (operands.size() != first + 4 || !is_pair(first + 1) || !is_pair(first + 3)) {
    return "A and B each need a scale and a pair {byte id, thread id}";
  }
  int bytes = number_in(binding.word("scale_vec"));
  if (bytes == 0) bytes = binding.word("kind") == "kind::mxf4" ? 2 : 1;
  std::string reason = bad_ids(operands[first + 1], "A", bytes, 2);
  return reason.empty() ? bad_ids(operands[first + 3], "B", bytes, 4) : reason;
}

constexpr Row kRows[] = {
    // --- dense: half precision ---
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m8n8k4 alayout=row|col blayout=row|col dtype=f16 atype=f16 "
              "btype=f16 ctype=f16",
     .operands = ">d{4}:f16x2 a{2}:f16x2/r b{2}:f16x2/r c{4}:f16x2",
     .gates = {{"", Feature::Sm75, 64}},
     .about = "four 8x8x4 products of halves, one per eight lanes; emulated from sm_80 on"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m8n8k4 alayout=row|col blayout=row|col dtype=f32 atype=f16 "
              "btype=f16 ctype=f16",
     .operands = ">d{8}:f32 a{2}:f16x2/r b{2}:f16x2/r c{4}:f16x2",
     .gates = {{"", Feature::Sm75, 64}},
     .about = "four 8x8x4 products of halves that widen the accumulator"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m8n8k4 alayout=row|col blayout=row|col dtype=f32 atype=f16 "
              "btype=f16 ctype=f32",
     .operands = ">d{8}:f32 a{2}:f16x2/r b{2}:f16x2/r c{8}:f32",
     .gates = {{"", Feature::Sm75, 64}},
     .about = "four 8x8x4 products of halves, single-precision accumulator"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m16n8k8|m16n8k16 alayout=row|col blayout=row|col dtype=f16 "
              "atype=f16 btype=f16 ctype=f16",
     .operands = ">d{2}:f16x2 a{*}:f16x2/r b{*}:f16x2/r c{2}:f16x2",
     .gates = {{"", Feature::Sm75, 65}, {"shape=m16n8k16", Feature::Sm80, 70}},
     .rules = {kRowCol},
     .count = registers,
     .about = "halves, half-precision accumulator"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m16n8k8|m16n8k16 alayout=row|col blayout=row|col dtype=f32 "
              "atype=f16 btype=f16 ctype=f32",
     .operands = ">d{4}:f32 a{*}:f16x2/r b{*}:f16x2/r c{4}:f32",
     .gates = {{"", Feature::Sm75, 65}, {"shape=m16n8k16", Feature::Sm80, 70}},
     .rules = {kRowCol},
     .count = registers,
     .about = "halves, single-precision accumulator"},

    // --- dense: other floats ---
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m16n8k4|m16n8k8 alayout=row|col blayout=row|col dtype=f32 "
              "atype=tf32 btype=tf32 ctype=f32",
     .operands = ">d{4}:f32 a{*}:tf32/r b{*}:tf32/r c{4}:f32",
     .gates = {{"", Feature::Sm80, 70}},
     .rules = {kRowCol},
     .count = registers,
     .about = "single precision cut to 10 bits of mantissa"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m16n8k8|m16n8k16 alayout=row|col blayout=row|col dtype=f32 "
              "atype=bf16 btype=bf16 ctype=f32",
     .operands = ">d{4}:f32 a{*}:bf16x2/r b{*}:bf16x2/r c{4}:f32",
     .gates = {{"", Feature::Sm80, 70}},
     .rules = {kRowCol},
     .count = registers,
     .about = "brain floats, single-precision accumulator"},
    // Not in the manual: ptxas 13.0 takes these two, and the code it emits multiplies nothing.
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m8n8k4 alayout=row|col blayout=row|col dtype=f32 atype=bf16 "
              "btype=bf16 ctype=f32",
     .operands = ">d{8}:f32 a{2}:bf16x2/r b{2}:bf16x2/r c{8}:f32",
     .gates = {{"", Feature::Sm80, 70}},
     .about = "assembles, but does not multiply: never to be used"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m8n8k4 alayout=row|col blayout=row|col dtype=f32 atype=tf32 "
              "btype=tf32 ctype=f32",
     .operands = ">d{8}:f32 a{4}:tf32/r b{4}:tf32/r c{8}:f32",
     .gates = {{"", Feature::Sm80, 70}},
     .about = "assembles, but does not multiply: never to be used"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m16n8k16|m16n8k32 alayout=row|col blayout=row|col dtype=f16 "
              "atype=$fp8 btype=$fp8 ctype=f16",
     .operands = ">d{2}:f16x2 a{*}:b32/r b{*}:b32/r c{2}:f16x2",
     .gates = {{"", Feature::Sm89, 87}},
     .rules = {kRowCol},
     .count = registers,
     .about = "8-bit floats, half-precision accumulator"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m16n8k16|m16n8k32 alayout=row|col blayout=row|col dtype=f32 "
              "atype=$fp8 btype=$fp8 ctype=f32",
     .operands = ">d{4}:f32 a{*}:b32/r b{*}:b32/r c{4}:f32",
     .gates = {{"", Feature::Sm89, 84}, {"shape=m16n8k16", Feature::Sm89, 87}},
     .rules = {kRowCol},
     .count = registers,
     .about = "8-bit floats, single-precision accumulator"},
    // The manual has m16n8k32 only, and sm_120a only: ptxas takes pairs of 8-bit floats in both
    // shapes wherever it knows the word.
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m16n8k16|m16n8k32 alayout=row|col blayout=row|col "
              "kind=kind::f8f6f4 dtype=f16 atype=$fp864 btype=$fp864 ctype=f16",
     .operands = ">d{2}:f16x2 a{*}:b32/r b{*}:b32/r c{2}:f16x2",
     .gates = {{"", Feature::MmaFp8Kind, 87},
               {"atype=e3m2|e2m3|e2m1", Feature::MmaBlockScale, 87},
               {"btype=e3m2|e2m3|e2m1", Feature::MmaBlockScale, 87}},
     .rules = {kRowCol, kNarrowDepth},
     .count = registers,
     .about = "8-, 6- and 4-bit floats in bytes, half-precision accumulator"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m16n8k16|m16n8k32 alayout=row|col blayout=row|col "
              "kind=kind::f8f6f4 dtype=f32 atype=$fp864 btype=$fp864 ctype=f32",
     .operands = ">d{4}:f32 a{*}:b32/r b{*}:b32/r c{4}:f32",
     .gates = {{"", Feature::MmaFp8Kind, 86},
               {"shape=m16n8k16", Feature::MmaFp8Kind, 87},
               {"atype=e3m2|e2m3|e2m1", Feature::MmaBlockScale, 87},
               {"btype=e3m2|e2m3|e2m1", Feature::MmaBlockScale, 87}},
     .rules = {kRowCol, kNarrowDepth},
     .count = registers,
     .about = "8-, 6- and 4-bit floats in bytes, single-precision accumulator"},

    // --- dense: block scales ---
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m16n8k64 alayout=row|col blayout=row|col kind=kind::mxf4 "
              "block_scale scale_vec?=scale_vec::2X dtype=f32 atype=e2m1 btype=e2m1 ctype=f32 "
              "stype=ue8m0",
     .operands = ">d{4}:f32 a{*}:e4m3x4/r b{*}:e4m3x4/r c{4}:f32 sa?:b32/r sa?{1}:b32/r ida{2}:u16 "
                 "sb?:b32/r sb?{1}:b32/r idb{2}:u16",
     .gates = {{"", Feature::MmaBlockScale, 87}},
     .rules = {kRowCol},
     .count = registers,
     .verify = check_scales,
     .about = "4-bit floats, a power-of-two scale for every 32"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m16n8k64 alayout=row|col blayout=row|col kind=kind::mxf4nvf4 "
              "block_scale scale_vec=scale_vec::2X|scale_vec::4X dtype=f32 atype=e2m1 btype=e2m1 "
              "ctype=f32 stype=ue8m0|ue4m3",
     .operands = ">d{4}:f32 a{*}:e4m3x4/r b{*}:e4m3x4/r c{4}:f32 sa?:b32/r sa?{1}:b32/r ida{2}:u16 "
                 "sb?:b32/r sb?{1}:b32/r idb{2}:u16",
     .gates = {{"", Feature::MmaBlockScale, 87}},
     .rules = {kRowCol, kScaleEvery32, kScaleEvery16},
     .count = registers,
     .verify = check_scales,
     .about = "4-bit floats, a power-of-two scale for every 32 or a `.ue4m3` scale for every 16"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m16n8k32 alayout=row|col blayout=row|col kind=kind::mxf8f6f4 "
              "block_scale scale_vec?=scale_vec::1X dtype=f32 atype=$fp864 btype=$fp864 ctype=f32 "
              "stype=ue8m0",
     .operands = ">d{4}:f32 a{*}:e4m3x4/r b{*}:e4m3x4/r c{4}:f32 sa?:b32/r sa?{1}:b32/r ida{2}:u16 "
                 "sb?:b32/r sb?{1}:b32/r idb{2}:u16",
     .gates = {{"", Feature::MmaBlockScale, 87}},
     .rules = {kRowCol},
     .count = registers,
     .verify = check_scales,
     .about = "8-, 6- and 4-bit floats in bytes, a power-of-two scale for every 32"},

    // --- dense: double precision, integers, bits ---
    // The rounding is not in the manual.
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m8n8k4|m16n8k4|m16n8k8|m16n8k16 alayout=row|col blayout=row|col "
              "rnd?=$rnd dtype=f64 atype=f64 btype=f64 ctype=f64",
     .operands = ">d{*}:b64 a{*}:b64 b{*}:b64 c{*}:b64",
     .gates = {{"", Feature::Sm80, 70}, {"shape!=m8n8k4", Feature::Sm90, 78}},
     .rules = {kRowCol},
     .count = registers,
     .about = "double precision"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m8n8k16|m16n8k16|m16n8k32 alayout=row|col blayout=row|col "
              "satfinite? dtype=s32 atype=u8|s8 btype=u8|s8 ctype=s32",
     .operands = ">d{*}:s32 a{*}:b32/r b{*}:b32/r c{*}:s32",
     .gates = {{"", Feature::Sm75, 65}, {"shape!=m8n8k16", Feature::Sm80, 70}},
     .rules = {kRowCol},
     .count = registers,
     .about = "bytes, 32-bit accumulator that wraps, or stops at its limits with `.satfinite`"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m8n8k32|m16n8k32|m16n8k64 alayout=row|col blayout=row|col "
              "satfinite? dtype=s32 atype=u4|s4 btype=u4|s4 ctype=s32",
     .operands = ">d{*}:s32 a{*}:b32/r b{*}:b32/r c{*}:s32",
     .gates = {{"", Feature::Sm75, 65}, {"shape!=m8n8k32", Feature::Sm80, 70}},
     .rules = {kRowCol},
     .count = registers,
     .about = "4-bit integers; emulated from sm_90 on"},
    {.mnemonic = "mma",
     .slots = "sync aligned shape=m8n8k128|m16n8k128|m16n8k256 alayout=row|col blayout=row|col "
              "dtype=s32 atype=b1 btype=b1 ctype=s32 op=xor|and popc",
     .operands = ">d{*}:s32 a{*}:b32/r b{*}:b32/r c{*}:s32",
     .gates = {{"", Feature::Sm75, 70},
               {"shape!=m8n8k128", Feature::Sm80, 70},
               {"op=and", Feature::Sm80, 71}},
     .rules = {kRowCol},
     .count = registers,
     .about = "single bits: counts the ones of the exclusive or, or of the and"},

    // --- sparse: half precision ---
    {.mnemonic = "mma",
     .slots = "sp=sp|sp::ordered_metadata sync aligned shape=m16n8k16 alayout=row|col "
              "blayout=row|col dtype=f16 atype=f16 btype=f16 ctype=f16",
     .operands = ">d{2}:f16x2 a{*}:f16x2/r b{*}:f16x2/r c{2}:f16x2 e:b32/r #f(0..3)",
     .gates = {{"", Feature::Sm80, 71}, {"sp=sp::ordered_metadata", Feature::Sm80, 85}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: halves, half-precision accumulator"},
    {.mnemonic = "mma",
     .slots = "sp=sp|sp::ordered_metadata sync aligned shape=m16n8k32 alayout=row|col "
              "blayout=row|col dtype=f16 atype=f16 btype=f16 ctype=f16",
     .operands = ">d{2}:f16x2 a{*}:f16x2/r b{*}:f16x2/r c{2}:f16x2 e:b32/r #f(0..1)",
     .gates = {{"", Feature::Sm80, 71}, {"sp=sp::ordered_metadata", Feature::Sm80, 85}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: halves, half-precision accumulator, twice as deep"},
    // The manual allows selectors 0 and 1 for m16n8k32 here too; ptxas 13.0 takes four.
    {.mnemonic = "mma",
     .slots = "sp=sp|sp::ordered_metadata sync aligned shape=m16n8k16|m16n8k32 alayout=row|col "
              "blayout=row|col dtype=f32 atype=f16 btype=f16 ctype=f32",
     .operands = ">d{4}:b32 a{*}:f16x2/r b{*}:f16x2/r c{4}:b32/r e:b32/r #f(0..3)",
     .gates = {{"", Feature::Sm80, 71}, {"sp=sp::ordered_metadata", Feature::Sm80, 85}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: halves, single-precision accumulator"},

    // --- sparse: other floats ---
    {.mnemonic = "mma",
     .slots = "sp=sp|sp::ordered_metadata sync aligned shape=m16n8k16 alayout=row|col "
              "blayout=row|col dtype=f32 atype=bf16 btype=bf16 ctype=f32",
     .operands = ">d{4}:b32 a{*}:b32/r b{*}:b32/r c{4}:b32/r e:b32/r #f(0..3)",
     .gates = {{"", Feature::Sm80, 71}, {"sp=sp::ordered_metadata", Feature::Sm80, 85}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: brain floats, single-precision accumulator"},
    {.mnemonic = "mma",
     .slots = "sp=sp|sp::ordered_metadata sync aligned shape=m16n8k32 alayout=row|col "
              "blayout=row|col dtype=f32 atype=bf16 btype=bf16 ctype=f32",
     .operands = ">d{4}:b32 a{*}:b32/r b{*}:b32/r c{4}:b32/r e:b32/r #f(0..1)",
     .gates = {{"", Feature::Sm80, 71}, {"sp=sp::ordered_metadata", Feature::Sm80, 85}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: brain floats, single-precision accumulator, twice as deep"},
    {.mnemonic = "mma",
     .slots = "sp=sp|sp::ordered_metadata sync aligned shape=m16n8k8 alayout=row|col "
              "blayout=row|col dtype=f32 atype=tf32 btype=tf32 ctype=f32",
     .operands = ">d{4}:b32 a{*}:b32/r b{*}:b32/r c{4}:b32/r e:b32/r #f(0..3)",
     .gates = {{"", Feature::Sm80, 71}, {"sp=sp::ordered_metadata", Feature::Sm80, 85}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: single precision cut to 10 bits of mantissa"},
    {.mnemonic = "mma",
     .slots = "sp=sp|sp::ordered_metadata sync aligned shape=m16n8k16 alayout=row|col "
              "blayout=row|col dtype=f32 atype=tf32 btype=tf32 ctype=f32",
     .operands = ">d{4}:b32 a{*}:b32/r b{*}:b32/r c{4}:b32/r e:b32/r #f(0..1)",
     .gates = {{"", Feature::Sm80, 71}, {"sp=sp::ordered_metadata", Feature::Sm80, 85}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: single precision cut to 10 bits of mantissa, twice as deep"},
    {.mnemonic = "mma",
     .slots = "sp=sp|sp::ordered_metadata sync aligned shape=m16n8k64 alayout=row|col "
              "blayout=row|col dtype=f32 atype=$fp8 btype=$fp8 ctype=f32",
     .operands = ">d{4}:f32 a{*}:b32/r b{*}:b32/r c{4}:f32 e:b32/r #f(0)",
     .gates = {{"", Feature::Sm89, 84}, {"sp=sp::ordered_metadata", Feature::Sm89, 85}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: 8-bit floats, single-precision accumulator"},
    // Without the kind only in the manual's list of what `.kind::f8f6f4` brings; ptxas takes it so.
    {.mnemonic = "mma",
     .slots = "sp=sp::ordered_metadata sync aligned shape=m16n8k64 alayout=row|col "
              "blayout=row|col dtype=f16 atype=$fp8 btype=$fp8 ctype=f16",
     .operands = ">d{2}:f16x2 a{*}:b32/r b{*}:b32/r c{2}:f16x2 e:b32/r #f(0)",
     .gates = {{"", Feature::MmaBlockScale, 87}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: 8-bit floats, half-precision accumulator"},
    {.mnemonic = "mma",
     .slots = "sp=sp::ordered_metadata sync aligned shape=m16n8k64 alayout=row|col "
              "blayout=row|col kind=kind::f8f6f4 dtype=f16 atype=$fp864 btype=$fp864 ctype=f16",
     .operands = ">d{2}:f16x2 a{*}:b32/r b{*}:b32/r c{2}:f16x2 e:b32/r #f(0)",
     .gates = {{"", Feature::MmaBlockScale, 87}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: 8-, 6- and 4-bit floats in bytes, half-precision accumulator"},
    {.mnemonic = "mma",
     .slots = "sp=sp::ordered_metadata sync aligned shape=m16n8k64 alayout=row|col "
              "blayout=row|col kind=kind::f8f6f4 dtype=f32 atype=$fp864 btype=$fp864 ctype=f32",
     .operands = ">d{4}:f32 a{*}:b32/r b{*}:b32/r c{4}:f32 e:b32/r #f(0)",
     .gates = {{"", Feature::MmaFp8Kind, 86},
               {"atype=e3m2|e2m3|e2m1", Feature::MmaBlockScale, 87},
               {"btype=e3m2|e2m3|e2m1", Feature::MmaBlockScale, 87}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: 8-, 6- and 4-bit floats in bytes, single-precision accumulator"},

    // --- sparse: block scales ---
    {.mnemonic = "mma",
     .slots = "sp=sp::ordered_metadata sync aligned shape=m16n8k128 alayout=row|col "
              "blayout=row|col kind=kind::mxf4 block_scale scale_vec?=scale_vec::2X dtype=f32 "
              "atype=e2m1 btype=e2m1 ctype=f32 stype=ue8m0",
     .operands =
         ">d{4}:f32 a{*}:e4m3x4/r b{*}:e4m3x4/r c{4}:f32 e:b32/r #f(0) sa?:b32/r sa?{1}:b32/r "
         "ida{2}:u16 sb?:b32/r sb?{1}:b32/r idb{2}:u16",
     .gates = {{"", Feature::MmaSparseMxf4, 87}},
     .rules = {kRowCol},
     .count = registers,
     .verify = check_scales,
     .about = "sparse A: 4-bit floats, a power-of-two scale for every 32"},
    {.mnemonic = "mma",
     .slots = "sp=sp::ordered_metadata sync aligned shape=m16n8k128 alayout=row|col "
              "blayout=row|col kind=kind::mxf4nvf4 block_scale "
              "scale_vec=scale_vec::2X|scale_vec::4X dtype=f32 atype=e2m1 btype=e2m1 ctype=f32 "
              "stype=ue8m0|ue4m3",
     .operands =
         ">d{4}:f32 a{*}:e4m3x4/r b{*}:e4m3x4/r c{4}:f32 e:b32/r #f(0) sa?:b32/r sa?{1}:b32/r "
         "ida{2}:u16 sb?:b32/r sb?{1}:b32/r idb{2}:u16",
     .gates = {{"", Feature::MmaSparseMxf4, 87}},
     .rules = {kRowCol, kScaleEvery32, kScaleEvery16},
     .count = registers,
     .verify = check_scales,
     .about = "sparse A: 4-bit floats, a power-of-two scale for every 32 or a `.ue4m3` scale for "
              "every 16"},
    {.mnemonic = "mma",
     .slots = "sp=sp::ordered_metadata sync aligned shape=m16n8k64 alayout=row|col "
              "blayout=row|col kind=kind::mxf8f6f4 block_scale scale_vec?=scale_vec::1X dtype=f32 "
              "atype=$fp864 btype=$fp864 ctype=f32 stype=ue8m0",
     .operands =
         ">d{4}:f32 a{*}:e4m3x4/r b{*}:e4m3x4/r c{4}:f32 e:b32/r #f(0) sa?:b32/r sa?{1}:b32/r "
         "ida{2}:u16 sb?:b32/r sb?{1}:b32/r idb{2}:u16",
     .gates = {{"", Feature::MmaBlockScale, 87}},
     .rules = {kRowCol},
     .count = registers,
     .verify = check_scales,
     .about = "sparse A: 8-, 6- and 4-bit floats in bytes, a power-of-two scale for every 32"},

    // --- sparse: integers ---
    {.mnemonic = "mma",
     .slots = "sp=sp|sp::ordered_metadata sync aligned shape=m16n8k32 alayout=row|col "
              "blayout=row|col satfinite? dtype=s32 atype=u8|s8 btype=u8|s8 ctype=s32",
     .operands = ">d{4}:s32 a{*}:b32/r b{*}:b32/r c{4}:s32 e:b32/r #f(0..1)",
     .gates = {{"", Feature::Sm80, 71}, {"sp=sp::ordered_metadata", Feature::Sm80, 85}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: bytes, 32-bit accumulator"},
    {.mnemonic = "mma",
     .slots = "sp=sp|sp::ordered_metadata sync aligned shape=m16n8k64 alayout=row|col "
              "blayout=row|col satfinite? dtype=s32 atype=u8|s8 btype=u8|s8 ctype=s32",
     .operands = ">d{4}:s32 a{*}:b32/r b{*}:b32/r c{4}:s32 e:b32/r #f(0)",
     .gates = {{"", Feature::Sm80, 71}, {"sp=sp::ordered_metadata", Feature::Sm80, 85}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: bytes, 32-bit accumulator, twice as deep"},
    {.mnemonic = "mma",
     .slots = "sp=sp|sp::ordered_metadata sync aligned shape=m16n8k64 alayout=row|col "
              "blayout=row|col satfinite? dtype=s32 atype=u4|s4 btype=u4|s4 ctype=s32",
     .operands = ">d{4}:s32 a{*}:b32/r b{*}:b32/r c{4}:s32 e:b32/r #f(0..1)",
     .gates = {{"", Feature::Sm80, 71}, {"sp=sp::ordered_metadata", Feature::Sm80, 85}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: 4-bit integers, 32-bit accumulator"},
    {.mnemonic = "mma",
     .slots = "sp=sp|sp::ordered_metadata sync aligned shape=m16n8k128 alayout=row|col "
              "blayout=row|col satfinite? dtype=s32 atype=u4|s4 btype=u4|s4 ctype=s32",
     .operands = ">d{4}:s32 a{*}:b32/r b{*}:b32/r c{4}:s32 e:b32/r #f(0)",
     .gates = {{"", Feature::Sm80, 71}, {"sp=sp::ordered_metadata", Feature::Sm80, 85}},
     .rules = {kRowCol},
     .count = registers,
     .about = "sparse A: 4-bit integers, 32-bit accumulator, twice as deep"},
};

}  // namespace

constinit const FamilyRows family{
    "mma", "mma: matrix multiply-accumulate by one warp on registers, dense and sparse", kRows};

}  // namespace ww::isa::mma_rows
