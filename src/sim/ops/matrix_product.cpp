// SPDX-License-Identifier: Apache-2.0
#include "sim/ops/matrix_product.h"

#include <algorithm>

#include "sim/ops/float_modes.h"

namespace ww::sim {
namespace {

using num::DType;
using num::TileShape;

// The numbers that a slot names. A wmma without a type multiplies halves.
DType number_in(const Decode& in, SlotName slot) {
  return isa::info(parse_type(in.word(slot)).value_or(isa::Type::F16)).number;
}

// Of a dense A, all of k at once.
void multiply_tile(const RunContext& context, const ProductRule& rule, TileShape shape,
                   const BlockFactors& in, std::uint32_t* sums) {
  const bool exact = context.options->exact_matrix;
  switch (rule.kind) {
    case SumKind::F64:
      return;
    case SumKind::S32:
      return num::product_s32(rule.saturates, rule.a, rule.b, shape, in.a, in.b, sums);
    case SumKind::Bits:
      return num::product_b1(rule.is_xor ? num::BitOp::Xor : num::BitOp::And,
                             {shape.m, shape.n, shape.k * 32}, in.a, in.b, sums);
    case SumKind::Scaled:
      return num::product_scaled(
          context.matrix, exact, rule.a, rule.b, shape, in.a, in.b,
          {rule.scale_type, static_cast<int>(rule.scale_count), in.scales_a, in.scales_b}, sums);
    case SumKind::F32:
    case SumKind::F16:
      break;
  }
  const auto multiply = rule.kind == SumKind::F16 ? num::product_f16 : num::product_f32;
  if (!rule.has_fp8_unit || !context.matrix.fp8_in_halves)
    return multiply(context.matrix, exact, rule.a, rule.b, shape, in.a, in.b, sums);
  num::MatrixMode mode = context.matrix;
  mode.fp8_in_halves = false;
  multiply(mode, exact, rule.a, rule.b, shape, in.a, in.b, sums);
}

void multiply_in_steps(const RunContext& context, const ProductRule& rule, TileShape shape,
                       const BlockFactors& in, std::uint32_t* sums) {
  shape.k = static_cast<int>(rule.step);
  for (unsigned first = 0; first < rule.k; first += rule.step) {
    alignas(64) std::array<std::uint32_t, kBlockRows * num::kMaxTileK> a;
    alignas(64) std::array<std::uint32_t, kBlockColumns * num::kMaxTileK> b;
    for (unsigned i = 0; i < kBlockRows * rule.step; ++i)
      a[i] = in.a[i / rule.step * rule.k + first + i % rule.step];
    for (unsigned i = 0; i < kBlockColumns * rule.step; ++i)
      b[i] = in.b[i / rule.step * rule.k + first + i % rule.step];
    multiply_tile(context, rule, shape, {a.data(), b.data()}, sums);
  }
}

// Each row meets elements of B of its own: it is the first one of a tile, of which no other counts.
void multiply_sparse(const RunContext& context, const ProductRule& rule, const BlockFactors& in,
                     std::uint32_t* sums) {
  constexpr unsigned kTileRows = 8;
  const SparseRows rows = rule.sparse_rows();
  const TileShape shape{kTileRows, kBlockColumns, static_cast<int>(rows.kept)};
  alignas(64) std::array<std::uint32_t, kTileRows * kMaxKept> line{};
  alignas(64) std::array<std::uint32_t, kBlockColumns * kMaxKept> columns{};
  std::array<std::uint8_t, kTileRows * 4> scales{};
  for (unsigned row = 0; row < kBlockRows; ++row) {
    std::copy_n(in.a + std::size_t{row} * rows.kept, rows.kept, line.begin());
    take_columns(rows, in.metadata[row], in.b, columns.data());
    if (in.scales_a != nullptr)
      std::copy_n(in.scales_a + std::size_t{row} * rule.scale_count, rule.scale_count,
                  scales.begin());
    alignas(64) std::array<std::uint32_t, kTileRows * kBlockColumns> tile{};
    std::uint32_t* const own = sums + std::size_t{row} * kBlockColumns;
    std::copy_n(own, kBlockColumns, tile.begin());
    multiply_tile(
        context, rule, shape,
        {.a = line.data(), .b = columns.data(), .scales_a = scales.data(), .scales_b = in.scales_b},
        tile.data());
    std::copy_n(tile.begin(), kBlockColumns, own);
  }
}

}  // namespace

ProductRule rule_in(const Decode& in) {
  const Word kind = in.word("kind"), dtype = in.word("dtype");
  ProductRule rule{.a = number_in(in, "atype"),
                   .b = number_in(in, "btype"),
                   .bits = static_cast<unsigned>(isa::element_bits(in.form, "atype")),
                   .k = static_cast<unsigned>(isa::product_shape(in.word("shape")).k),
                   .is_sparse = in.has("sp"),
                   .saturates = in.has("satfinite"),
                   .is_xor = in.word("op") == "xor",
                   .rounding = kRoundings[rounding_index(in.word("rnd"))]};
  if (in.has("block_scale")) {
    const bool in_bytes = kind == "kind::mxf8f6f4";
    rule.kind = SumKind::Scaled;
    rule.scale_type = number_in(in, "stype");
    rule.scale_count = in.word("scale_vec") == "scale_vec::4X" ? 4 : in_bytes ? 1 : 2;
  } else if (dtype == "f64") {
    rule.kind = SumKind::F64;
  } else if (in.word("atype") == "b1") {
    rule.kind = SumKind::Bits;
    rule.bits = 32;
    rule.k /= 32;
  } else if (dtype == "s32") {
    rule.kind = SumKind::S32;
  } else if (dtype == "f16" && in.word("ctype") != "f32") {
    rule.kind = SumKind::F16;
  }
  return rule;
}

void multiply_block(const RunContext& context, const ProductRule& rule, unsigned rows,
                    const BlockFactors& in, std::uint32_t* sums) {
  if (rule.is_sparse) return multiply_sparse(context, rule, in, sums);
  const TileShape shape{static_cast<int>(rows), kBlockColumns, static_cast<int>(rule.k)};
  rule.step == 0 ? multiply_tile(context, rule, shape, in, sums)
                 : multiply_in_steps(context, rule, shape, in, sums);
}

std::optional<num::WarpgroupProduct> whole_product(const RunContext& context,
                                                   const ProductRule& rule, unsigned rows,
                                                   unsigned columns, num::ColumnOrder order,
                                                   const std::uint32_t* a, const std::uint32_t* b) {
  const bool halves = rule.kind == SumKind::F16;
  if (rule.is_sparse || (!halves && rule.kind != SumKind::F32)) return std::nullopt;
  const num::MatrixMode& mode = context.matrix;
  const num::MatrixUnit& unit = rule.bits == 32   ? mode.tf32
                                : rule.bits == 16 ? (halves ? mode.half_result : mode.half)
                                : halves          ? mode.fp8_half_result
                                                  : mode.fp8;
  return num::WarpgroupProduct(unit, context.options->exact_matrix,
                               {.a = rule.a,
                                .b = rule.b,
                                .result = halves ? DType::Float16 : DType::Float32,
                                .rows = static_cast<int>(rows),
                                .columns = static_cast<int>(columns),
                                .k = static_cast<int>(rule.k),
                                .order = order},
                               a, b);
}

}  // namespace ww::sim
