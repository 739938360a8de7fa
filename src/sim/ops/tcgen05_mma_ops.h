// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma in three parts: the data of its opcode, kept in the op; its operands, decoded when it
// is issued (tcgen05_mma_operands.cpp); and the product, computed when a thread waits for a later
// tcgen05.commit (tcgen05_mma_product.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "isa/product_descriptor.h"
#include "sim/decode/decoder.h"
#include "sim/ops/matrix_product.h"
#include "sim/ops/shared_matrix.h"
#include "sim/ops/tcgen05_ops.h"
#include "sim/ops/tcgen05_zero_columns.h"

namespace ww::sim {

/// What is done with the collector buffer of A. Values do not depend on it, if it holds this A.
enum class Collector : std::uint8_t { Discard, Fill, Use, LastUse };

struct TensorProductForm {
  isa::ProductForm is;
  bool a_in_tensor = false;
  bool negates_add = false;  // the predicate that says whether D is added
  unsigned scale_d = 0;      // D is divided by that power of two first
  Collector collector = Collector::Discard;
};

/// Where an op has its operands; its addresses are D, then A in tensor memory, then the metadata of a
/// sparse A, then both scales.
constexpr std::size_t kProductDescA = 0, kProductDescB = 1, kInstruction = 2, kAddsD = 3,
                      kZeroColumns = 4;

/// Rows and columns of D that lie in consecutive columns of tensor memory. Row i of them is in lane
/// `lane` + i, or with `is_half` in lane `lane` + i % 16 + i / 16 * 32.
struct DPart {
  unsigned cta = 0;  // 0, or 1: the odd one of a pair
  unsigned row = 0, rows = 0;
  unsigned column = 0, columns = 0;  // of D
  unsigned lane = 0;
  bool is_half = false;

  [[nodiscard]] unsigned lane_of(unsigned i) const {
    return lane + (is_half ? i % 16 + i / 16 * 32 : i);
  }
};

struct TensorProduct {
  TensorProductForm form;
  isa::ProductDescriptor is;
  ProductRule rule;  // of both
  bool adds = false;
  std::array<std::uint32_t, 8> disabled{};  // bit l: lane l of D is left as it is; 128 lanes a CTA
  TensorAddress d, a, metadata, scale_a, scale_b;
  std::uint64_t desc_a = 0, desc_b = 0;
  std::vector<Cta*> ctas;  // one, or a pair by rank
  std::vector<DPart> parts;
  std::vector<unsigned>
      b_columns;  // of .ws: columns of B, where they are not just all (ZeroColumns)
  std::array<MatrixChunks, 2> a_chunks, b_chunks;  // by CTA
  std::array<LineOrigins, 2> a_undefined, b_undefined;

  [[nodiscard]] unsigned rows_each() const { return is.m / static_cast<unsigned>(ctas.size()); }
  [[nodiscard]] unsigned columns_each() const { return is.n / static_cast<unsigned>(ctas.size()); }
  /// Whether the lower and the upper half of the lanes have scales of their own columns of B, as they
  /// have columns of D; else all quarters have all.
  [[nodiscard]] bool splits_scales() const {
    return form.is.is_pair && rows_each() != kTensorLanes;
  }
  [[nodiscard]] unsigned scale_b_lines() const { return splits_scales() ? is.n / 2 : is.n; }
};

/// Columns of tensor memory with a row of A, and with the metadata of a sparse one: where a row has 16
/// groups it is in both, in the row's own lane; where it has 8, the sparsity selector names the column,
/// and lanes r and r + 8 of 16 rows have the first and the last four groups of rows r and r + 8, in
/// their lower and upper halves.
constexpr unsigned kRowColumns = 8, kMetadataColumns = 2;

/// Looks up and checks all operands, and marks them as in use. Whether there is something to do.
bool begin_tensor_product(Warp& warp, unsigned lane, TensorProduct& product);
/// Reads them, multiplies, and ends their use.
void finish_tensor_product(Warp& warp, unsigned lane, const TensorProduct& product);

/// Where undefined elements of a part of D come from: a row of A or a column of B has undefined bytes.
struct UndefinedLines {
  std::vector<OriginId> rows, columns;  // of the part; 0: all of it is defined

  [[nodiscard]] OriginId at(unsigned row, unsigned column) const {
    return rows[row] != 0 ? rows[row] : columns[column];
  }
  [[nodiscard]] bool are_none() const;
};
/// Of operands in shared memory.
UndefinedLines undefined_lines(const TensorProduct& product, const DPart& part);

/// Ends the run: the instruction is legal, but not modelled with these operands.
void refuse_operands(Warp& warp, const std::string& why);

}  // namespace ww::sim
