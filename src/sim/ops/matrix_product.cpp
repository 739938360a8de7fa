// SPDX-License-Identifier: Apache-2.0
#include "sim/ops/matrix_product.h"

#include <algorithm>
#include <iterator>

namespace ww::sim {
namespace {

using num::DType;
using num::TileShape;

struct ElementType {
  std::string_view word;
  DType type;
  unsigned bits;
};
constexpr ElementType kElementTypes[] = {
    {"f16", DType::Float16, 16},      {"bf16", DType::Bfloat16, 16},
    {"tf32", DType::Tfloat32, 32},    {"e4m3", DType::Float8E4M3fn, 8},
    {"e5m2", DType::Float8E5M2, 8},   {"e3m2", DType::Float6E3M2fn, 8},
    {"e2m3", DType::Float6E2M3fn, 8}, {"e2m1", DType::Float4E2M1fn, 8},
    {"s8", DType::Int8, 8},           {"u8", DType::Uint8, 8},
    {"s4", DType::Int4, 4},           {"u4", DType::Uint4, 4},
    {"b1", DType::Uint32, 32},        {"f64", DType::Float64, 64},
    {"ue8m0", DType::Float8E8M0, 8},  {"ue4m3", DType::Float8E4M3fn, 8},
    {"f32", DType::Float32, 32},      {"s32", DType::Int32, 32},
};

// A wmma without a type multiplies halves.
const ElementType& element_type(std::string_view word) {
  return *std::ranges::find(kElementTypes, word.empty() ? "f16" : word, &ElementType::word);
}

num::Rounding rounding_of(std::string_view word) {
  if (word == "rz") return num::Rounding::TowardZero;
  if (word == "rm") return num::Rounding::Down;
  if (word == "rp") return num::Rounding::Up;
  return num::Rounding::NearestEven;
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

unsigned element_bits(std::string_view type) { return element_type(type).bits; }

ProductRule rule_in(const Decode& in) {
  const ElementType& a = element_type(in.word("atype"));
  const std::string_view kind = in.word("kind"), dtype = in.word("dtype");
  ProductRule rule{.a = a.type,
                   .b = element_type(in.word("btype")).type,
                   .bits = a.bits,
                   .k = static_cast<unsigned>(isa::product_shape(in.word("shape")).k),
                   .is_sparse = in.has("sp"),
                   .saturates = in.has("satfinite"),
                   .is_xor = in.word("op") == "xor",
                   .rounding = rounding_of(in.word("rnd"))};
  if (in.has("block_scale")) {
    const bool in_bytes = kind == "kind::mxf8f6f4";
    rule.kind = SumKind::Scaled;
    if (!in_bytes) rule.bits = 4;
    rule.scale_type = element_type(in.word("stype")).type;
    rule.scale_count = in.word("scale_vec").ends_with("4X") ? 4 : in_bytes ? 1 : 2;
  } else if (dtype == "f64") {
    rule.kind = SumKind::F64;
  } else if (in.word("atype") == "b1") {
    rule.kind = SumKind::Bits;
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
