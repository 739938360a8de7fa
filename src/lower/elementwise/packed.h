// SPDX-License-Identifier: Apache-2.0
// Two elements at a time: `add.rn.f16x2` and its like, where a thread has both in one word of its
// registers. Each half is rounded as the instruction for one element rounds it, so the bits are the
// same.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lower/elementwise/forms.h"
#include "lower/elementwise/problem.h"

namespace ww::lower {

// --- casts ---------------------------------------------------------------------------------------

// Two elements at a time for `cast`, where a thread has both in one word of the registers:
//
//     float32, float16, bfloat16 -> float16, bfloat16, 8 bits     cvt.rn.f16x2.f32 and its like
//     float32, float16, bfloat16 -> 6 bits, 4 bits                cvt.rn.satfinite.e2m1x2.f32, of float32
//     float16                    -> 8 bits                        cvt.rn.satfinite.e4m3x2.f16x2
//     8, 6, 4 bits               -> float16                       cvt.rn.f16x2.e4m3x2
//     8, 6, 4 bits               -> others                        cvt.rn.f16x2.e4m3x2, and on from there
//     powers of two              -> bfloat16                      cvt.rn.bf16x2.ue8m0x2, and on from there
//     what float32 holds         -> powers of two                 cvt.rz.satfinite.ue8m0x2.f32, .bf16x2
//
// Each half is rounded as the conversion of one element rounds it, so the bits are the same.

struct PackedCast {
  num::DType to{};
  std::string unpack = {};  // a word of the source to two halves; empty: it is read by element
  num::DType half = num::DType::Float16;  // of `unpack`
  std::string pack = {};      // to a word of the destination; empty: what is unpacked is enough
  bool packs_halves = false;  // `pack` takes two halves in a word, not two float32

  /// Is the source read, the destination written, by words?
  [[nodiscard]] bool reads_words() const { return !unpack.empty() || packs_halves; }
  [[nodiscard]] bool writes_words() const { return num::bits_of(to) <= 16; }
};

/// Nothing where the types are others, or the target has no such instruction.
std::optional<PackedCast> packed_cast(const Call& call);

/// Where two elements are. Words are missing where they are not used.
struct CastPair {
  ir::ExprId from_word = {}, to_word = {};
  std::array<ir::ExprId, 2> from = {};  // the elements
  ir::BufferId to = {};
  std::array<ir::ExprId, 2> to_index = {};
};

void write_packed_cast(CodeWriter& code, const PackedCast& cast, const CastPair& pair);

// --- all -----------------------------------------------------------------------------------------

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

/// A view of a buffer's registers, of so many elements, by words.
ir::BufferId word_view(CodeWriter& code, ir::BufferId buffer, num::DType word,
                       std::int64_t elements);

/// A register that holds a value twice, as a word of a view.
ir::ExprId both_halves(CodeWriter& code, num::DType word, ir::ExprId value);

/// Writes the instruction: words of views.
void write_packed(CodeWriter& code, const PackedOp& op, ir::ExprId to,
                  std::span<const ir::ExprId> from);

}  // namespace ww::lower
