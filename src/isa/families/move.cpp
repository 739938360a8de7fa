// SPDX-License-Identifier: Apache-2.0
// mov in all its meanings: copies, vectors, special registers, addresses of variables and
// functions, and packing into or unpacking from wider registers. PTX manual, "Data movement: mov,
// prmt".
#include <fmt/format.h>

#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::move_rows {
namespace {

constexpr Gate kB128{"", Feature::Sm75, 83};

std::string too_long(const Binding& binding) {
  const int bits = info(binding.type("type")).bits;
  if (bits * binding.number("vec") <= 128) return "";
  return fmt::format("`.{}.{}` is {} bits; a vector holds 128", binding.word("vec"),
                     binding.word("type"), bits * binding.number("vec"));
}

// ptxas: `_` among sources leaves their part of the result undefined. It takes it for `.b32` alone,
// and what the elements are must be known before the first constant.
std::string sinks(const Binding& binding, std::span<const Operand> operands) {
  for (const Operand& operand : operands.subspan(1)) {
    bool has_sink = false;
    for (const Operand& part : operand.parts) has_sink |= part.kind == OperandKind::Sink;
    if (!has_sink) continue;
    if (binding.word("type") != "b32")
      return fmt::format("`_` is not a value; only `.b32` takes it, the type is `.{}`",
                         binding.word("type"));
    for (const Operand& part : operand.parts) {
      if (part.kind == OperandKind::Register || part.kind == OperandKind::Special) break;
      if (part.kind == OperandKind::Sink) continue;
      if (operand.parts[0].kind == OperandKind::Sink)
        return "a list that begins with `_` has a constant before its first register";
    }
  }
  return "";
}

// ptxas takes a number with a point for 64 bits, whatever the type is, and cuts those.
std::string cut(const Binding& binding, std::span<const Operand> operands) {
  if (std::string problem = too_long(binding); !problem.empty()) return problem;
  const int bits = info(binding.type("type")).bits;
  const OperandKind kind = operands[1].kind;
  const bool is_double = kind == OperandKind::Decimal || kind == OperandKind::F64Bits;
  if ((is_double && bits != 64) || (kind == OperandKind::F32Bits && bits != 32))
    return fmt::format("`{}` is not a constant of {} bits, which are to be cut into {} parts",
                       operands[1].text, bits, binding.number("vec"));
  return "";
}

// ptxas: the elements of a list are all integers or all floats; `.bN` registers go with both.
std::string alike(const Binding& binding, std::span<const Operand> operands) {
  if (std::string problem = too_long(binding); !problem.empty()) return problem;
  if (std::string problem = sinks(binding, operands); !problem.empty()) return problem;
  for (const Operand& operand : operands) {
    bool has_float = false;
    bool has_integer = false;
    for (const Operand& part : operand.parts) {
      const bool is_typed = part.kind == OperandKind::Register || part.kind == OperandKind::Special;
      const TypeClass cls = info(part.type).cls;
      has_float |= is_typed
                       ? cls == TypeClass::Float
                       : part.kind == OperandKind::Decimal || part.kind == OperandKind::F32Bits ||
                             part.kind == OperandKind::F64Bits;
      has_integer |= is_typed ? cls == TypeClass::Signed || cls == TypeClass::Unsigned
                              : part.kind == OperandKind::Integer;
    }
    if (has_float && has_integer) return "the list mixes integers and floating-point numbers";
  }
  return "";
}

constexpr Row kRows[] = {
    {.mnemonic = "mov",
     .slots = "type=$move",
     .operands = ">d:type a:type/sy",
     .gates = {{"type=b128", Feature::Sm75, 83}},
     .about = "copies a register, special register, constant, or the address of a variable"},
    {.mnemonic = "mov",
     .slots = "vec=v2|v4 type=b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64",
     .operands = ">d{vec}:type/_ a{vec}:type/s_",
     .verify = alike,
     .about = "copies two or four registers, or a vector register"},
    // Not in the manual. ptxas takes 16-bit types, too, and an H200 then leaves other bits in the
    // parts: those are refused.
    {.mnemonic = "mov",
     .slots = "vec=v2|v4 type=b32|b64|u32|u64|s32|s64|f32|f64",
     .operands = ">d{vec}:type/_ a:type/s",
     .verify = cut,
     .about = "cuts the bits of one value into two or four parts, each filled up with zeros"},
    // Not in the manual. ptxas takes wider types, too, and an H200 then keeps the low byte of b32 and
    // stranger bits of b64 and b128: those are refused.
    {.mnemonic = "mov",
     .slots = "type=b16",
     .operands = ">d:type a{1}:type",
     .about = "packs one register, which copies it"},
    {.mnemonic = "mov",
     .slots = "type=b16",
     .operands = ">d{1}:type/_ a:type",
     .about = "unpacks one register, which copies it"},
    // packing: the first part goes to the low bits
    {.mnemonic = "mov",
     .slots = "type=b16",
     .operands = ">d:b16 a{2}:b8",
     .about = "packs two bytes"},
    {.mnemonic = "mov",
     .slots = "type=b32",
     .operands = ">d:b32 a{2}:b16/_",
     .verify = sinks,
     .about = "packs two halves"},
    {.mnemonic = "mov",
     .slots = "type=b32",
     .operands = ">d:b32 a{4}:b8/_",
     .verify = sinks,
     .about = "packs four bytes"},
    {.mnemonic = "mov",
     .slots = "type=b64",
     .operands = ">d:b64 a{2}:b32",
     .about = "packs two words"},
    {.mnemonic = "mov",
     .slots = "type=b64",
     .operands = ">d:b64 a{4}:b16",
     .about = "packs four halves"},
    {.mnemonic = "mov",
     .slots = "type=b128",
     .operands = ">d:b128 a{2}:b64",
     .gates = {kB128},
     .about = "packs two 64-bit values"},
    {.mnemonic = "mov",
     .slots = "type=b128",
     .operands = ">d:b128 a{4}:b32",
     .gates = {kB128},
     .about = "packs four words"},
    // unpacking: parts that are not wanted may be dropped
    {.mnemonic = "mov",
     .slots = "type=b16",
     .operands = ">d{2}:b8/_ a:b16",
     .about = "unpacks two bytes"},
    {.mnemonic = "mov",
     .slots = "type=b32",
     .operands = ">d{2}:b16/_ a:b32",
     .about = "unpacks two halves"},
    {.mnemonic = "mov",
     .slots = "type=b32",
     .operands = ">d{4}:b8/_ a:b32",
     .about = "unpacks four bytes"},
    {.mnemonic = "mov",
     .slots = "type=b64",
     .operands = ">d{2}:b32/_ a:b64",
     .about = "unpacks two words"},
    {.mnemonic = "mov",
     .slots = "type=b64",
     .operands = ">d{4}:b16/_ a:b64",
     .about = "unpacks four halves"},
    {.mnemonic = "mov",
     .slots = "type=b128",
     .operands = ">d{2}:b64/_ a:b128",
     .gates = {kB128},
     .about = "unpacks two 64-bit values"},
    {.mnemonic = "mov",
     .slots = "type=b128",
     .operands = ">d{4}:b32/_ a:b128",
     .gates = {kB128},
     .about = "unpacks four words"},
    {.mnemonic = "prmt",
     .slots = "type=b32 mode?=f4e|b4e|rc8|ecl|ecr|rc16",
     .operands = ">d:b32 a:b32 b:b32 c:b32",
     .about = "picks four of eight bytes"},
};

}  // namespace

constinit const FamilyRows family{"move", "mov and prmt: copies, packing, permuting bytes", kRows};

}  // namespace ww::isa::move_rows
