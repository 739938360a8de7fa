// SPDX-License-Identifier: Apache-2.0
// Two elements at a time: `add.rn.f16x2` and its like, where a thread has both in one word of its
// registers. Each half is rounded as the instruction for one element rounds it, so the bits are the
// same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lower/elementwise/packed_cast.h"
#include "lower/elementwise/problem.h"

namespace ww::lower {

/// The instruction for a primitive, on words of two elements.
struct PackedOp {
  std::string opcode;                   // "add.rn.f16x2"
  num::DType word;                      // an unsigned integer as wide as two elements
  bool has_zero = false;                // the second operand is 0: relu
  std::optional<PackedCast> cast = {};  // of `cast`, with its own words

  /// The word of an operand, or of the destination; nothing where it is taken by element.
  [[nodiscard]] std::optional<num::DType> word_of(const OperandPlaces& side, bool is_dst) const;
  /// For `explain`.
  [[nodiscard]] std::vector<std::string> opcodes() const;
};

/// Nothing where the target has none, or operands are converted: sources and destination must have
/// the type in which the primitive computes, except in `cast`.
std::optional<PackedOp> packed_op(const Call& call, num::DType type, num::DType dst,
                                  std::span<const ElementwiseSource> sources);

/// Can elements of the operand, at registers in these steps, be taken two at a time? Steps 2k and
/// 2k + 1 must be the halves of a word.
bool are_pairs(const Call& call, const OperandPlaces& side, std::span<const std::int64_t> slots);
/// The words of such steps.
std::vector<std::int64_t> words_of_pairs(std::span<const std::int64_t> slots);

/// A view of a buffer's registers, of so many elements, by words.
ir::BufferId word_view(CodeWriter& code, ir::BufferId buffer, num::DType word,
                       std::int64_t elements);
/// A register that holds a value twice, as a word of a view.
ir::ExprId both_halves(CodeWriter& code, num::DType word, ir::ExprId value);
/// Writes the instruction: words of views.
void write_packed(CodeWriter& code, const PackedOp& op, ir::ExprId to,
                  std::span<const ir::ExprId> from);

}  // namespace ww::lower
