// SPDX-License-Identifier: Apache-2.0
// Operands: what stands between the commas of an instruction, and also the values of initialisers
// and debug sections. Most are one node (`%r1`, `-4`, `sm+8`). A list (`{a, b}`, `[base, {x, y}]`,
// `(a, b)`, `d|p`) has children, which lie side by side in the same pool, before their parent:
//
//     st.global.v2.b32 [%rd1+8], {%r1, %r2};
//
//        0                   1    2    3             4
//     …  NameOffset(%rd1,8)  %r1  %r2  Address[0,1)  Vector[1,3)  …
//                                      '- the two operands -----'
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "ptx/names.h"

namespace ww::ptx {

/// A run of elements of some pool.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

enum class OperandKind : std::uint8_t {
  // One node. What it uses of Operand follows the colon.
  Name,        // `%r1`, `%tid.x`, `%v.x`, `sm`, `$L__BB0_1`, `WARP_SZ`: name
  NameOffset,  // `sm+4`, `%rd1+-8`: name; bits and spelling of the offset
  Index,       // `table[4]`: name; bits and spelling of the index
  NotName,     // `!%p1`: name
  Sink,        // `_`
  Int,         // `7`, `-1`, `0xFFU`: bits, spelling
  F32,         // `0f3F800000`: the low 32 bits
  F64,         // `0d3FF0000000000000`: bits
  Decimal,     // `1.5`, `-1e-3`: name is the text, sign included
  Generic,     // `generic(sym)`, `generic(sym)+4` in an initialiser: as NameOffset
  // With children.
  Vector,      // `{a, b}`; also the braces of an initialiser, which may be empty or nest
  Address,     // `[base]`, `[base, {x, y}]`: the base is Name, NameOffset or Int
  List,        // `(a, b)`, `()`: results or arguments of a call
  Pair,        // `d|p`: two
  Mask,        // `0xFF00(sym+4)` in an initialiser: an Int, then Name, NameOffset or Generic
  Difference,  // `end-begin` in a debug section: two Names
};

constexpr bool has_children(OperandKind kind) { return kind >= OperandKind::Vector; }

enum class Radix : std::uint8_t { Decimal, Hex, Octal, Binary };

/// How an integer was written, so that it prints the same way.
struct Spelling {
  Radix radix = Radix::Decimal;
  bool minus = false;         // a minus sign before the magnitude
  bool has_u_suffix = false;  // `7U`

  friend bool operator==(const Spelling&, const Spelling&) = default;
};

/// One node. Integers are kept as their 64 bits in two's complement whatever their sign; whether
/// they fit the instruction's type is not known here.
struct Operand {
  OperandKind kind = OperandKind::Sink;
  Spelling spelling{};
  std::uint32_t offset = 0;  // where it stands in the text read, and how long it is there;
  std::uint32_t length = 0;  // 0 and 0 when it was built
  NameId name = kNoName;
  std::uint64_t bits = 0;

  [[nodiscard]] std::int64_t value() const { return static_cast<std::int64_t>(bits); }
  /// Where the children are in the operand's pool; has_children(kind) must hold.
  [[nodiscard]] Range children() const {
    return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32U)};
  }
};

/// `%r1`
Operand name_operand(NameId name);
/// `sm+4`; with offset 0, too: `sm+0` and `sm` are written and compared differently.
Operand name_offset(NameId name, std::int64_t offset);
/// `!%p1`
Operand not_name(NameId name);
/// `_`
Operand sink();
/// `-4`, in decimal
Operand int_operand(std::int64_t value);
/// `0xFFFFFFFF`
Operand hex_operand(std::uint64_t value);
/// `0f3F800000`, exact
Operand f32_operand(float value);
/// `0d3FF0000000000000`, exact
Operand f64_operand(double value);

/// Nodes that own their children. A list operand is only meaningful with the pool that made it.
class OperandPool {
 public:
  /// Copies the children in and gives the node for them. The node itself is not stored: it is in
  /// the caller's hand, who puts it into another list or into an instruction. `kind` must have
  /// children, and those children that have children must come from this pool.
  Operand make(OperandKind kind, std::span<const Operand> children);
  Operand make(OperandKind kind, std::initializer_list<Operand> children) {
    return make(kind, std::span(children.begin(), children.size()));
  }
  /// Copies the operands in; used for the top level of an instruction.
  Range append(std::span<const Operand> operands);

  [[nodiscard]] std::span<const Operand> at(Range range) const {
    return std::span(nodes_).subspan(range.first, range.count);
  }
  [[nodiscard]] std::span<Operand> at(Range range) {
    return std::span(nodes_).subspan(range.first, range.count);
  }
  [[nodiscard]] std::span<const Operand> children(const Operand& list) const {
    return at(list.children());
  }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  void clear() { nodes_.clear(); }

 private:
  [[nodiscard]] bool holds(std::span<const Operand> operands) const;

  std::vector<Operand> nodes_;
};

}  // namespace ww::ptx
