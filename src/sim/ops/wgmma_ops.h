// SPDX-License-Identifier: Apache-2.0
// What a wgmma.mma_async is, read from its modifiers once and kept in the op, and what of it is
// done when: at the instruction its operands are looked up and checked (wgmma_operands.cpp), at the
// wait for its group they are read and multiplied (wgmma_product.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/decode/decoder.h"
#include "sim/memory/matrix_descriptor.h"
#include "sim/ops/mma_forms.h"
#include "sim/ops/shared_matrix.h"
#include "sim/ops/sparse_rows.h"
#include "sim/run/unit.h"

namespace ww::sim {

constexpr unsigned kProductRows = 64;  // of A and D
constexpr unsigned kPartRows = 16;     // of them, of one warp
constexpr unsigned kLineBytes = 32;    // of a row of A as it is stored

struct WgmmaForm {
  MmaKind kind = MmaKind::F32;
  num::DType a{}, b{};
  unsigned n = 8;
  unsigned bits = 16;  // of an element; single bits go 32 to an element
  bool a_in_registers = false;
  bool saturates = false;
  bool a_is_mn_major = false, b_is_mn_major = false;
  bool negates_a = false, negates_b = false;
  bool is_sparse = false;
  unsigned selector = 0;

  /// Elements of a stored row of A, and of a column of B.
  [[nodiscard]] unsigned a_length() const { return kLineBytes * 8 / bits; }
  [[nodiscard]] unsigned k() const { return a_length() * (is_sparse ? 2 : 1); }
  [[nodiscard]] unsigned d_registers() const { return kind == MmaKind::F16 ? n / 4 : n / 2; }
};

inline SparseRows sparse_rows(const WgmmaForm& form) { return {form.bits, form.a_length()}; }

std::optional<WgmmaForm> wgmma_form(Decode& in);
/// A form fits into the 64 bits of Op::imm.
void pack_form(const WgmmaForm& form, Op& op);
WgmmaForm unpack_wgmma(const Op& op);

/// Where an op has its operands: registers of D and then of A in Program::places, the rest in Op::p.
constexpr std::size_t kDescA = 0, kDescB = 1, kScaleD = 2, kMetadata = 3;

/// The operands in shared memory, by their descriptors.
SharedMatrix matrix_a(const WgmmaForm& form, std::uint64_t descriptor);
SharedMatrix matrix_b(const WgmmaForm& form, std::uint64_t descriptor);
/// The chunks of A and B of a product: finds and checks them, and marks them as being read.
void begin_product(Warp& warp, const WgmmaForm& form, PendingProduct& product);
/// Reads the operands for all warps that came, and ends the reading.
void read_product(PendingProduct& product);
/// Multiplies for one of them. The operands have been read.
void multiply_part(const PendingProduct& product, const ProductPart& part);

}  // namespace ww::sim
