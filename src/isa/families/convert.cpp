// SPDX-License-Identifier: Apache-2.0
// Conversions between all number formats. PTX manual, "cvt", "cvt.pack". Two-source packs put the
// first source into the high half.
#include <fmt/format.h>

#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::convert_rows {
namespace {

bool is_integer(Type type) {
  return info(type).cls == TypeClass::Unsigned || info(type).cls == TypeClass::Signed;
}

// Which rounding a conversion needs: to an integer one of .rni .rzi .rmi .rpi, to a float that
// cannot hold every source value one of .rn .rz .rm .rp, otherwise none; a float of the same type
// may be rounded to an integer.
enum class Rounding { None, Integer, Float, MaybeInteger, MaybeFloat };

Rounding rounding_of(Type to, Type from) {
  if (is_integer(to)) return is_integer(from) ? Rounding::None : Rounding::Integer;
  if (is_integer(from)) return Rounding::Float;
  if (to == from) return Rounding::MaybeInteger;
  if (info(to).bits < info(from).bits) return Rounding::Float;
  // ptxas 13.0 leaves the choice where bf16 takes part and nothing narrows.
  return to == Type::Bf16 || from == Type::Bf16 ? Rounding::MaybeFloat : Rounding::None;
}

// Whether every value of an integer type is one of the other, so that nothing can saturate.
bool holds_all(Type to, Type from) {
  const bool to_signed = info(to).cls == TypeClass::Signed;
  const bool from_signed = info(from).cls == TypeClass::Signed;
  if (from_signed && !to_signed) return false;
  const int to_bits = info(to).bits - (to_signed ? 1 : 0);
  const int from_bits = info(from).bits - (from_signed ? 1 : 0);
  return to_bits >= from_bits;
}

std::string rounding_fits(const Binding& binding, std::span<const Operand>) {
  const Type to = binding.type("dtype");
  const Type from = binding.type("atype");
  const Word rnd = binding.word("rnd");
  const bool integer = rnd.is_one_of({"rni", "rzi", "rmi", "rpi"});
  const std::string what = fmt::format("`cvt.{}.{}`", info(to).name, info(from).name);
  if (binding.has("sat") && is_integer(to) && is_integer(from) && holds_all(to, from)) {
    return fmt::format("{} cannot overflow and takes no `.sat`", what);
  }
  switch (rounding_of(to, from)) {
    case Rounding::None:
      return rnd.empty() ? "" : fmt::format("{} is exact and takes no rounding", what);
    case Rounding::Integer:
      return integer ? "" : fmt::format("{} needs one of `.rni`, `.rzi`, `.rmi`, `.rpi`", what);
    case Rounding::Float:
      return !rnd.empty() && !integer
                 ? ""
                 : fmt::format("{} needs one of `.rn`, `.rz`, `.rm`, `.rp`", what);
    case Rounding::MaybeFloat:
      return !integer ? "" : fmt::format("{} does not round to an integer", what);
    case Rounding::MaybeInteger:
      return rnd.empty() || integer ? ""
                                    : fmt::format("{} rounds to an integer or not at all", what);
  }
  return "";
}

#define NUMBERS "u8|u16|u32|u64|s8|s16|s32|s64|f16|f32|f64"
#define FP8X2 "e4m3x2|e5m2x2"
#define FP6X2 "e2m3x2|e3m2x2"

constexpr Rule kFtz{"ftz dtype!=f32", "atype=f32", "`.ftz` is for conversions from or to `.f32`"};
constexpr Gate kFp8{"", Feature::Sm89, 81, 0, {Feature::Sm90, 78}};
constexpr Gate kNarrow{"", Feature::NarrowFloats, 86};
constexpr Gate kRandom{"", Feature::RandomRounding, 87};

constexpr Row kRows[] = {
    {.mnemonic = "cvt",
     .slots = "rnd?=$cvtrnd ftz? sat? dtype=" NUMBERS " atype=" NUMBERS,
     .operands = ">d:dtype/w a:atype/ws",
     .rules = {kFtz},
     .verify = rounding_fits,
     .about = "converts a number"},
    {.mnemonic = "cvt",
     .slots = "rnd?=$cvtrnd ftz? dtype=bf16 atype=" NUMBERS "|bf16",
     .operands = ">d:bf16 a:atype",
     .gates = {{"atype=f32", Feature::Sm80, 70}, {"atype!=f32", Feature::Sm90, 78}},
     .rules = {{"ftz", "atype=f32", kFtz.reason}},
     .verify = rounding_fits,
     .about = "converts a number to bf16"},
    {.mnemonic = "cvt",
     .slots = "rnd?=$cvtrnd ftz? dtype=" NUMBERS " atype=bf16",
     .operands = ">d:dtype a:bf16",
     .gates = {{"dtype=f32", Feature::Sm80, 71},
               {"dtype!=f32", Feature::Sm90, 78},
               {"ftz", Feature::Sm90, 78}},
     .rules = {{"ftz", "dtype=f32", kFtz.reason}},
     .verify = rounding_fits,
     .about = "converts a number from bf16"},
    {.mnemonic = "cvt",
     .slots = "rnd=rn|rz relu? satfinite? dtype=f16|bf16 atype=f32",
     .operands = ">d:dtype/w a:f32",
     .gates = {{"dtype=bf16", Feature::Sm80, 70},
               {"relu", Feature::Sm80, 70},
               {"satfinite", Feature::Sm75, 81}},
     .about = "to half precision, with clamping at 0 or at the largest number"},
    {.mnemonic = "cvt",
     .slots = "rnd=rn|rz relu? satfinite? dtype=f16x2|bf16x2 atype=f32",
     .operands = ">d:dtype a:f32 b:f32",
     .gates = {{"", Feature::Sm80, 70}, {"satfinite", Feature::Sm80, 81}},
     .about = "two numbers to a pair of halves, the first one high"},
    {.mnemonic = "cvt",
     .slots = "rs relu? satfinite? dtype=f16x2|bf16x2 atype=f32",
     .operands = ">d:dtype a:f32 b:f32 random:b32/r",
     .gates = {kRandom},
     .about = "two numbers to a pair of halves, rounded by chance"},
    {.mnemonic = "cvt",
     .slots = "rna satfinite? dtype=tf32 atype=f32",
     .operands = ">d:b32 a:f32",
     .gates = {{"", Feature::Sm80, 70}, {"satfinite", Feature::Sm80, 81}},
     .about = "to tf32, ties away from zero"},
    {.mnemonic = "cvt",
     .slots = "rnd=rn|rz satfinite? relu? dtype=tf32 atype=f32",
     .operands = ">d:b32 a:f32",
     .gates = {{"", Feature::Sm90, 78}, {"satfinite", Feature::Sm100, 86}},
     .about = "to tf32"},
    // fp8
    {.mnemonic = "cvt",
     .slots = "rn satfinite relu? dtype=" FP8X2 " atype=f32",
     .operands = ">d:dtype a:f32 b:f32",
     .gates = {kFp8},
     .about = "two numbers to a pair of fp8, the first one high"},
    {.mnemonic = "cvt",
     .slots = "rn satfinite relu? dtype=" FP8X2 " atype=f16x2",
     .operands = ">d:dtype a:f16x2",
     .gates = {kFp8},
     .about = "a pair of halves to a pair of fp8"},
    {.mnemonic = "cvt",
     .slots = "rn relu? dtype=f16x2 atype=" FP8X2,
     .operands = ">d:f16x2 a:atype",
     .gates = {kFp8},
     .about = "a pair of fp8 to a pair of halves"},
    {.mnemonic = "cvt",
     .slots = "rs relu? satfinite dtype=e4m3x4|e5m2x4 atype=f32",
     .operands = ">d:dtype a{4}:f32 random:b32/r",
     .gates = {kRandom},
     .about = "four numbers to fp8, rounded by chance"},
    // fp4
    {.mnemonic = "cvt",
     .slots = "rn satfinite relu? dtype=e2m1x2 atype=f32",
     .operands = ">d:e2m1x2 a:f32 b:f32",
     .gates = {kNarrow},
     .about = "two numbers to a pair of fp4 in a byte"},
    {.mnemonic = "cvt",
     .slots = "rn relu? dtype=f16x2 atype=e2m1x2",
     .operands = ">d:f16x2 a:e2m1x2",
     .gates = {kNarrow},
     .about = "a pair of fp4 to a pair of halves"},
    {.mnemonic = "cvt",
     .slots = "rs relu? satfinite dtype=e2m1x4 atype=f32",
     .operands = ">d:dtype a{4}:f32 random:b32/r",
     .gates = {kRandom},
     .about = "four numbers to fp4, rounded by chance"},
    // fp6
    {.mnemonic = "cvt",
     .slots = "rn satfinite relu? dtype=" FP6X2 " atype=f32",
     .operands = ">d:dtype a:f32 b:f32",
     .gates = {kNarrow},
     .about = "two numbers to a pair of fp6"},
    {.mnemonic = "cvt",
     .slots = "rn relu? dtype=f16x2 atype=" FP6X2,
     .operands = ">d:f16x2 a:atype",
     .gates = {kNarrow},
     .about = "a pair of fp6 to a pair of halves"},
    {.mnemonic = "cvt",
     .slots = "rs relu? satfinite dtype=e2m3x4|e3m2x4 atype=f32",
     .operands = ">d:dtype a{4}:f32 random:b32/r",
     .gates = {kRandom},
     .about = "four numbers to fp6, rounded by chance"},
    // scale factors
    {.mnemonic = "cvt",
     .slots = "rnd=rz|rp satfinite? dtype=ue8m0x2 atype=f32",
     .operands = ">d:dtype a:f32 b:f32",
     .gates = {kNarrow},
     .about = "two numbers to a pair of powers of two"},
    {.mnemonic = "cvt",
     .slots = "rnd=rz|rp satfinite? dtype=ue8m0x2 atype=bf16x2",
     .operands = ">d:dtype a:bf16x2",
     .gates = {kNarrow},
     .about = "a pair of bf16 to a pair of powers of two"},
    {.mnemonic = "cvt",
     .slots = "rn dtype=bf16x2 atype=ue8m0x2",
     .operands = ">d:bf16x2 a:atype",
     .gates = {kNarrow},
     .about = "a pair of powers of two to a pair of bf16"},
    // packing integers
    {.mnemonic = "cvt.pack",
     .slots = "sat dtype=u16|s16 atype=s32",
     .operands = ">d:b32 a:s32 b:s32",
     .gates = {{"", Feature::Sm75, 65}},
     .about = "two integers to a pair of halves, clamped"},
    {.mnemonic = "cvt.pack",
     .slots = "sat dtype=u2|s2|u4|s4|u8|s8 atype=s32 ctype=b32",
     .operands = ">d:b32 a:s32 b:s32 c:b32",
     .gates = {{"", Feature::Sm75, 65}},
     .about = "two integers, clamped, below the shifted bits of c"},
};

}  // namespace

constinit const FamilyRows family{"convert", "cvt: between all number formats", kRows};

}  // namespace ww::isa::convert_rows
