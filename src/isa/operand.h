// SPDX-License-Identifier: Apache-2.0
// An instruction's operands as the catalogue sees them: names already looked up (which register
// type, which state space), text positions kept for messages. Readers of PTX text make these.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/diag.h"
#include "isa/type.h"

namespace ww::isa {

/// Where an address points. Generic covers the windows of all others; Tensor is tensor memory,
/// which only tcgen05 instructions address.
enum class Space : std::uint8_t {
  Generic,
  Global,
  Shared,
  SharedCluster,
  Local,
  Const,
  Param,
  Tensor
};

/// The word in an opcode or declaration ("shared::cta"); nullopt if it is not a state space.
std::optional<Space> parse_space(std::string_view word);
std::optional<Space> parse_space(Word word);
std::string_view name_of(Space space);

enum class OperandKind : std::uint8_t {
  Register,
  Part,     // %r1.b2: parts of a register (form.h)
  Special,  // %tid.x
  Integer,  // 5, 0x1f
  Decimal,  // 1.5
  F32Bits,  // 0f3F800000
  F64Bits,  // 0d3FF0000000000000
  Symbol,   // a variable, or its address plus an offset
  Label,
  Targets,  // a `.branchtargets`
  Function,
  Callees,     // a `.calltargets` or `.callprototype`
  Sink,        // _
  Vector,      // {a, b}
  Address,     // [base+offset], [map, {c0, c1}]
  Pair,        // d|p
  List,        // (a, b), in calls
  Undeclared,  // a name that nothing declares
};

struct Operand {
  OperandKind kind = OperandKind::Integer;
  Type type = Type::B32;           // Register, Part, Special; Symbol: of its elements
  std::uint8_t lanes = 1;          // Register: 2 or 4 for `.reg .v4 …` used whole
  Space space = Space::Generic;    // Symbol
  bool negated = false;            // !p
  bool has_offset = false;         // Register, Special, Symbol, Function: `r+4`
  bool is_array = false;           // Symbol
  bool is_indexed = false;         // Symbol: `table[4]`
  std::int64_t value = 0;          // Integer; the offset in bytes; F32Bits, F64Bits
  std::string_view text;           // the name or number as written
  std::string_view selection{};    // Part: "b2"
  std::span<const Operand> parts;  // Vector, List: elements; Pair: two; Address: base, coordinates
  Span span;
};

/// One instruction of a module. The guard is not an operand; it is a predicate or absent.
struct Instruction {
  std::string_view opcode;  // "ld.global.v4.b32"
  std::span<const Operand> operands;
  Span span;  // the opcode's place in the text
};

}  // namespace ww::isa
