// SPDX-License-Identifier: Apache-2.0
// What an mma instruction is, read from its modifiers once and kept in the op.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "num/half_lanes.h"
#include "num/matrix_tile.h"
#include "sim/decode/decoder.h"

namespace ww::sim {

enum class MmaKind : std::uint8_t { F32, F16, F64, S32, Bits, Scaled, Quads };

struct MmaForm {
  MmaKind kind = MmaKind::F32;
  num::DType a{}, b{};
  num::TileShape shape{};
  unsigned bits = 16;  // of an element in its register
  unsigned a_regs = 0, b_regs = 0, d_regs = 0;
  bool in_bytes = false;  // fp6 and fp4 that take a byte each
  bool saturates = false, is_xor = false;
  num::Rounding rounding = num::Rounding::NearestEven;
  num::DType scale_type{};
  unsigned scale_count = 0;
  bool is_sparse = false;
  bool is_ordered = false;  // places in metadata ascend
  unsigned selector = 0;    // of lanes with metadata

  /// Elements of a row of A as it is stored.
  [[nodiscard]] unsigned a_length() const {
    return static_cast<unsigned>(shape.k) / (is_sparse ? 2 : 1);
  }
  /// For single bits `shape.k` counts words.
  [[nodiscard]] num::TileShape bit_shape() const { return {shape.m, shape.n, shape.k * 32}; }
};

/// The form of an mma other than m8n8k4 of halves, but for its selector.
std::optional<MmaForm> form_in(Decode& in);
/// Places of the scale factors and their selectors: scale, byte, thread of A, then of B. Operand
/// `first` is the first of them.
void add_scale_places(Decode& in, std::size_t first, std::vector<Place>& places);

/// A form fits into the 64 bits of Op::imm.
void pack_form(const MmaForm& form, Op& op);
MmaForm unpack_form(const Op& op);

}  // namespace ww::sim
