// SPDX-License-Identifier: Apache-2.0
// Matrix products, wherever their operands are: the description of a product, and the sums of a
// block of D of 16 (or 8) rows and 8 columns. The instructions gather operands and scatter sums:
// from registers by register_matrix.h, from shared memory by shared_matrix.h, in tensor memory by
// tcgen05_mma_product.cpp. The sums are those of num/matrix_tile.h and num/warpgroup_product.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "num/matrix_tile.h"
#include "num/warpgroup_product.h"
#include "sim/decode/decoder.h"
#include "sim/ops/sparse_rows.h"
#include "sim/run/unit.h"

namespace ww::sim {

constexpr unsigned kBlockRows = num::kBlockRows, kBlockColumns = num::kBlockColumns;
constexpr unsigned kSumsOfBlock = kBlockRows * kBlockColumns;

enum class SumKind : std::uint8_t { F32, F16, F64, S32, Bits, Scaled };

/// What a product is. Elements of A and B are raw bits, one in the low bits of each word; single
/// bits go 32 to an element.
struct ProductRule {
  SumKind kind = SumKind::F32;
  num::DType a{}, b{};
  unsigned bits = 16;  // that an element of A and B takes where it is stored
  unsigned k = 16;     // elements of a column of B
  unsigned step = 0;   // of them that are added at a time; 0: all
  bool is_sparse = false;
  bool has_fp8_unit = false;  // mma.sync has none and converts to f16
  bool saturates = false, is_xor = false;
  num::Rounding rounding = num::Rounding::NearestEven;
  num::DType scale_type{};
  unsigned scale_count = 0;  // of a row

  /// Elements of a row of A as it is stored.
  [[nodiscard]] unsigned a_length() const { return is_sparse ? k / 2 : k; }
  [[nodiscard]] SparseRows sparse_rows() const { return {bits, a_length()}; }
};

/// The rule that the modifiers of an mma, wmma or wgmma give.
ProductRule rule_in(const Decode& in);

/// The factors of a block: rows of A, and eight columns of B.
struct BlockFactors {
  const std::uint32_t* a;                   // [16][a_length]
  const std::uint32_t* b;                   // [8][k]
  const std::uint64_t* metadata = nullptr;  // of each row of a sparse A
  const std::uint8_t* scales_a = nullptr;   // [16][scale_count]
  const std::uint8_t* scales_b = nullptr;   // [8][scale_count]
};
/// D += A * B for `rows` rows and 8 columns, of all kinds but F64.
void multiply_block(const RunContext& context, const ProductRule& rule, unsigned rows,
                    const BlockFactors& in, std::uint32_t* sums);

/// The product of all rows and columns at once, where that is faster: of floats, if A is dense and
/// there are no scales. A and B must stay until the last block.
std::optional<num::WarpgroupProduct> whole_product(const RunContext& context,
                                                   const ProductRule& rule, unsigned rows,
                                                   unsigned columns, num::ColumnOrder order,
                                                   const std::uint32_t* a, const std::uint32_t* b);

}  // namespace ww::sim
