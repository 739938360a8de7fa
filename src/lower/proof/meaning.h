// SPDX-License-Identifier: Apache-2.0
// What an elementwise primitive means, in numbers that stand for values. An element has a number by
// its operand and name, a constant by its type and value; what is computed from numbers is a hash
// of them, of the operation and of its type, in the order of the operands.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/elementwise.h"
#include "ir/simplify/fold.h"
#include "lower/call.h"
#include "lower/elementwise/cast_form.h"
#include "lower/proof/registers.h"

namespace ww::lower {

/// The hashes, which what the code does and what the call means are both made of.
namespace hashes {

using ir::ExprOp;
using num::DType;

enum Tag : Number { kElement, kScalar, kConstant, kCast, kOperator, kCall, kChoice, kInstruction };

/// What a hash begins with, which is the same for all elements.
[[gnu::always_inline]] inline Number begun(Tag tag, Number what, DType type) {
  return chained(chained(tag, what), static_cast<Number>(type));
}
[[gnu::always_inline]] inline Number hashed(Tag tag, Number what, DType type,
                                            std::initializer_list<Number> args) {
  Number out = begun(tag, what, type);
  for (const Number arg : args) out = chained(out, arg);
  return out;
}
inline Number number_of(const ir::Constant& constant) {
  const bool is_real = is_float(constant.dtype);
  return hashed(
      kConstant, 0, constant.dtype,
      {is_real ? std::bit_cast<Number>(constant.real) : static_cast<Number>(constant.integer)});
}
inline Number cast(DType from, DType to, Number x) {
  return from == to ? x : hashed(kCast, static_cast<Number>(from), to, {x});
}
inline Number operated(ExprOp op, DType type, Number a, Number b) {
  return hashed(kOperator, static_cast<Number>(op), type, {a, b});
}
inline Number changed(ExprOp op, DType type, Number a) {
  return hashed(kOperator, static_cast<Number>(op), type, {a});
}
inline Number called(ir::Intrinsic callee, DType type, std::initializer_list<Number> args) {
  return hashed(kCall, static_cast<Number>(callee), type, args);
}

/// What all that a PTX instruction gives begins with.
inline Number begun(std::string_view opcode, DType type) {
  Number out = begun(kInstruction, opcode.size(), type);
  for (; !opcode.empty(); opcode.remove_prefix(std::min(opcode.size(), sizeof(Number)))) {
    Number word = 0;
    std::memcpy(&word, opcode.data(), std::min(opcode.size(), sizeof(Number)));
    out = chained(out, word);
  }
  return out;
}
/// What a PTX instruction gives.
inline Number instructed(std::string_view opcode, DType type, std::span<const Number> args) {
  Number out = begun(opcode, type);
  for (const Number arg : args) out = chained(out, arg);
  return out;
}

/// Does it convert into a word of two elements?
inline bool is_of_two(std::string_view opcode) {
  const bool may_be = !opcode.empty() && opcode[0] == 'c';  // asked for every element
  return may_be && opcode.starts_with("cvt.") && opcode.find("x2") != std::string_view::npos;
}
/// The name under which such a conversion is known for each of them.
inline std::string of_one(std::string_view opcode) {
  std::string out(opcode);
  if (is_of_two(opcode)) out.erase(out.find("x2"), 2);
  return out;
}

}  // namespace hashes

/// What the primitive reads: a region, or a scalar.
struct ElementwiseOperand {
  num::DType type = num::DType::Float32;
  std::optional<RegionElements> elements = {};
  std::vector<std::int64_t> extents = {};  // of the region
  std::optional<ir::Constant> constant = {};
  ir::ExprId scalar = {};  // known at run time only
  Number number = 0;       // of the scalar; of elements, what tells this operand from others
  bool is_left_out = false;

  /// What the numbers of its elements begin with.
  [[nodiscard]] Number begun() const { return hashes::begun(hashes::kElement, number, type); }
  /// The number of an element.
  [[nodiscard, gnu::always_inline]] static Number number_of(Number begun, std::int64_t name) {
    return chained(begun, static_cast<Number>(name));
  }
};

/// Which element of a source goes into an element of the destination.
class Stretch {
 public:
  Stretch(const std::vector<std::int64_t>& into, const std::vector<std::int64_t>& from);
  [[nodiscard]] std::int64_t operator()(std::int64_t x) const;

 private:
  struct Digit {
    std::int64_t extent, scale;
  };
  bool is_alike_ = false;
  std::vector<Digit> steps_;  // from the last dimension on
};

/// The numbers that the table of ir/elementwise.h gives.
class ElementwiseMeaning {
 public:
  /// `extents` of the destination.
  ElementwiseMeaning(const Call& call, const std::vector<ElementwiseOperand>& operands,
                     const std::vector<std::int64_t>& extents, const SharedNumbers& shared);

  /// Of element x of the destination.
  [[nodiscard]] Number of(std::int64_t x) const;

 private:
  [[nodiscard]] Number as(num::DType type, std::size_t i, std::int64_t x) const;
  [[nodiscard]] Number converted(const ir::Constant& constant, num::DType type) const;
  [[nodiscard]] Number own(std::size_t i, std::int64_t x) const;
  [[nodiscard]] Number truth(std::size_t i, std::int64_t x) const;
  [[nodiscard]] Number chosen(std::int64_t x) const;
  [[nodiscard]] Number decided(std::int64_t x) const;
  [[nodiscard]] Number compared(std::int64_t x) const;
  [[nodiscard]] Number computed(std::int64_t x) const;
  [[nodiscard]] Number of_number(Number x) const;
  [[nodiscard]] Number fused(Number a, Number b, Number c) const;
  [[nodiscard]] Number argument(std::int64_t x) const;
  [[nodiscard]] Number function(Number x) const;
  [[nodiscard]] Number cast(Number x) const;
  [[nodiscard]] Number fast(Number x, Number y) const;  // of float32

  ir::TileOp op_;
  const std::vector<ElementwiseOperand>& operands_;
  const SharedNumbers& shared_;
  num::DType dst_, in_;
  bool is_fast_;
  std::optional<CastForm> cast_ = {};  // of `cast`
  std::vector<Stretch> stretches_;     // by operand
  std::vector<Number> begun_;          // by operand: its elements' numbers
  /// Constants that were converted: few, and each is asked for with every element.
  struct Converted {
    num::DType from, to;
    std::int64_t integer;
    std::uint64_t real;  // its bits
    Number number;
  };
  mutable std::vector<Converted> converted_;
};

}  // namespace ww::lower
