// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async: its modifiers are decoded once and kept in the op. The instruction itself
// locates and checks its operands (wgmma_operands.cpp); the wait for its group reads and multiplies
// them (wgmma_product.cpp).
#pragma once

#include <cstdint>

#include "sim/decode/decoder.h"
#include "sim/memory/matrix_descriptor.h"
#include "sim/ops/matrix_product.h"
#include "sim/ops/register_matrix.h"
#include "sim/ops/shared_matrix.h"
#include "sim/run/unit.h"

namespace ww::sim {

constexpr unsigned kProductRows = 64;  // of A and D
constexpr unsigned kPartRows = 16;     // of them, of one warp

struct WgmmaForm {
  ProductRule rule{};
  unsigned n = 8;
  RegisterMatrix a{}, d{};  // of one warp
  bool a_in_registers = false;
  bool a_is_mn_major = false, b_is_mn_major = false;
  bool negates_a = false, negates_b = false;
  unsigned selector = 0;
  bool negates_scale = false;  // the predicate that says whether D is added to
};

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
