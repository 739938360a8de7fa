// SPDX-License-Identifier: Apache-2.0
// The product of a wgmma: operands for the four warps at once, D for each. Warp w has rows 16w to 16w + 15 of A and D;
// which lane holds which element of them is index arithmetic (g = lane / 4, t = lane % 4, e
// elements in a register):
//
//   A in registers          register r, element j:  row g + 8 * (r % 2), k = 4e * (r / 2) + e * t + j
//   D, 32 bits              register r:             row g + 8 * (r / 2 % 2), column 8 * (r / 4) + 2t + r % 2
//   D, f16                  register r, half h:     row g + 8 * (r % 2), column 8 * (r / 2) + 2t + h
//
// Sums are kept in blocks of 16 rows and 8 columns, as num/matrix_tile.h has them.
//
// A sparse row keeps half of its elements: sparse_rows.h.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "num/matrix_tile.h"
#include "num/warpgroup_product.h"
#include "sim/ops/shared_matrix.h"
#include "sim/ops/wgmma_ops.h"

namespace ww::sim {
namespace {

constexpr unsigned kSumColumns = 8;
constexpr unsigned kSumBlock = kPartRows * kSumColumns;

// The 32 lanes of a register of a warp's part.
template <typename T>
T* register_of(const ProductPart& part, Place place) {
  return reinterpret_cast<T*>(part.warp->stack.frames.get() + part.frame +
                              place.offset());  // NOLINT: raw bits by design
}
const std::uint32_t* source_of(const ProductPart& part, Place place) {
  if (!place.is_constant()) return register_of<std::uint32_t>(part, place);
  return reinterpret_cast<const std::uint32_t*>(part.warp->constants + place.offset());  // NOLINT
}

// --- operands ------------------------------------------------------------------------------------

// The elements of bytes, one to a word, `step` words apart.
template <typename Element>
void spread_elements(const std::byte* bytes, unsigned count, std::uint32_t* to, std::size_t step) {
  for (unsigned i = 0; i < count; ++i) {
    Element element;
    std::memcpy(&element, bytes + i * sizeof element, sizeof element);
    to[i * step] = element;
  }
}
void spread_elements(unsigned bits, const std::byte* bytes, unsigned count, std::uint32_t* to) {
  if (bits == 8) return spread_elements<std::uint8_t>(bytes, count, to, 1);
  if (bits == 16) return spread_elements<std::uint16_t>(bytes, count, to, 1);
  spread_elements<std::uint32_t>(bytes, count, to, 1);
}

void unpack_registers(const ProductPart& part, const Place* places, const WgmmaForm& form,
                      std::uint32_t* rows) {
  const unsigned each = 32 / form.bits;
  const unsigned k = form.a_length();
  for (unsigned r = 0; r < 4; ++r) {
    const std::uint32_t* values = source_of(part, places[r]);
    for (unsigned l = 0; l < kLanes; ++l) {
      const unsigned row = l / 4 + 8 * (r % 2);
      std::byte bytes[4];
      std::memcpy(bytes, values + l, sizeof bytes);
      spread_elements(form.bits, bytes, each,
                      rows + std::size_t{row} * k + 4 * each * (r / 2) + each * (l % 4));
    }
  }
}

void flip_signs(MatrixWords& words, unsigned bits) {
  for (std::uint32_t& word : words) word ^= 1U << (bits - 1);
}

MatrixWords rows_of_a(const PendingProduct& product, const WgmmaForm& form, const Place* places,
                      const Region& shared) {
  MatrixWords a;
  if (form.a_in_registers) {
    a.resize(std::size_t{kProductRows} * form.a_length());
    for (unsigned w = 0; w < kGroupWarps; ++w) {
      const ProductPart& part = product.parts[w];
      if (part.warp == nullptr) continue;
      unpack_registers(part, places, form, &a[std::size_t{w} * kPartRows * form.a_length()]);
    }
  } else {
    a = unpack_matrix(shared, product.a, kProductRows, form.a_length(),
                      {form.bits, 128 / form.bits}, form.a_is_mn_major);
  }
  if (form.negates_a) flip_signs(a, form.bits);
  return a;
}

// --- sums ----------------------------------------------------------------------------------------

// The registers of block `b` of 8 columns, and its elements.
void gather_block(const ProductPart& part, const Place* d, bool halves, unsigned b,
                  std::uint32_t* sums) {
  if (halves) {
    for (unsigned r = 0; r < 2; ++r) {
      const auto* words = register_of<std::uint32_t>(part, d[2 * b + r]);
      for (unsigned l = 0; l < kLanes; ++l) {
        std::uint32_t* at = sums + (l / 4 + 8 * r) * kSumColumns + 2 * (l % 4);
        at[0] = words[l] & 0xFFFFU;
        at[1] = words[l] >> 16U;
      }
    }
    return;
  }
  for (unsigned r = 0; r < 4; ++r) {
    const auto* words = register_of<std::uint32_t>(part, d[4 * b + r]);
    std::uint32_t* at = sums + std::size_t{r / 2} * 8 * kSumColumns + r % 2;
    for (unsigned l = 0; l < kLanes; ++l) at[2 * std::size_t{l}] = words[l];
  }
}

void scatter_block(const ProductPart& part, const Place* d, bool halves, unsigned b,
                   const std::uint32_t* sums) {
  for (unsigned r = 0; r < (halves ? 2U : 4U); ++r) {
    alignas(64) std::uint32_t words[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
      if (halves) {
        const std::uint32_t* at = sums + (l / 4 + 8 * r) * kSumColumns + 2 * (l % 4);
        words[l] = (at[0] & 0xFFFFU) | (at[1] << 16U);
      } else {
        words[l] = sums[std::size_t{r / 2} * 8 * kSumColumns + r % 2 + 2 * std::size_t{l}];
      }
    }
    const Place place = d[(halves ? 2 : 4) * b + r];
    blend(register_of<std::uint32_t>(part, place), words, part.lanes);
  }
}

// wgmma has a unit for fp8, where mma.sync converts to f16.
num::MatrixMode wgmma_mode(const RunContext& context) {
  num::MatrixMode mode = context.matrix;
  mode.fp8_in_halves = false;
  return mode;
}

void multiply_tile(const RunContext& context, const WgmmaForm& form, num::TileShape shape,
                   const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* sums) {
  const bool exact = context.options->exact_matrix;
  switch (form.kind) {
    case MmaKind::F32:
      return num::product_f32(wgmma_mode(context), exact, form.a, form.b, shape, a, b, sums);
    case MmaKind::F16:
      return num::product_f16(wgmma_mode(context), exact, form.a, form.b, shape, a, b, sums);
    case MmaKind::S32:
      return num::product_s32(form.saturates, form.a, form.b, shape, a, b, sums);
    case MmaKind::Bits:
      return num::product_b1(num::BitOp::And, {shape.m, shape.n, shape.k * 32}, a, b, sums);
    case MmaKind::F64:
    case MmaKind::Scaled:
    case MmaKind::Quads:
      return;  // wgmma has no such forms
  }
}

void multiply_sparse(const RunContext& context, const WgmmaForm& form,
                     const std::uint32_t* metadata, const std::uint32_t* a, const std::uint32_t* b,
                     std::uint32_t* sums) {
  const SparseRows rows = sparse_rows(form);
  multiply_rows(
      rows, kPartRows,
      [&](unsigned row) { return metadata_of_row(rows, metadata, row, form.selector); }, a, b, sums,
      [&](unsigned, const num::TileShape& shape, const std::uint32_t* line,
          const std::uint32_t* columns,
          std::uint32_t* tile) { multiply_tile(context, form, shape, line, columns, tile); });
}

// Floating-point products of dense matrices, of all warps.
std::optional<num::WarpgroupProduct> dense_product(const RunContext& context, const WgmmaForm& form,
                                                   const MatrixWords& a, const MatrixWords& b) {
  const bool halves = form.kind == MmaKind::F16;
  if (form.is_sparse || (form.kind != MmaKind::F32 && !halves)) return std::nullopt;
  const num::MatrixMode& mode = context.matrix;
  const num::MatrixUnit& unit = form.bits == 8    ? halves ? mode.fp8_half_result : mode.fp8
                                : form.bits == 32 ? mode.tf32
                                : halves          ? mode.half_result
                                                  : mode.half;
  return num::WarpgroupProduct(unit, context.options->exact_matrix,
                               {.a = form.a,
                                .b = form.b,
                                .result = halves ? num::DType::Float16 : num::DType::Float32,
                                .rows = kProductRows,
                                .columns = static_cast<int>(form.n),
                                .k = static_cast<int>(form.k()),
                                .order = num::ColumnOrder::EvenOdd},
                               a.data(), b.data());
}

constexpr std::ptrdiff_t kQuad = 4;  // lanes that hold a row of a block

// Adds to the registers of a block of f32 where they are, or to copies if only some lanes take part.
void add_singles(const num::WarpgroupProduct& dense, const ProductPart& part, const Place* d, int i,
                 int j) {
  const bool in_place = part.lanes == kAllLanes;
  alignas(64) std::uint32_t copies[4][kLanes];
  num::BlockPlace at{{}, kQuad};
  for (unsigned r = 0; r < 4; ++r) {
    auto* const words = register_of<std::uint32_t>(part, d[r]);
    at.at[r] = in_place ? words : copies[r];
    if (!part.adds) {
      std::fill_n(at.at[r], kLanes, 0U);
    } else if (!in_place) {
      std::copy_n(words, kLanes, copies[r]);
    }
  }
  dense.add_to(i, j, at);
  for (unsigned r = 0; !in_place && r < 4; ++r)
    blend(register_of<std::uint32_t>(part, d[r]), copies[r], part.lanes);
}

// The same of f16: a register has an even and an odd column.
void add_halves(const num::WarpgroupProduct& dense, const ProductPart& part, const Place* d, int i,
                int j) {
  alignas(64) std::uint32_t sums[4][kLanes] = {};
  for (unsigned r = 0; part.adds && r < 2; ++r) {
    const auto* const words = register_of<std::uint32_t>(part, d[r]);
    for (unsigned l = 0; l < kLanes; ++l) {
      sums[2 * r][l] = words[l] & 0xFFFFU;
      sums[2 * r + 1][l] = words[l] >> 16U;
    }
  }
  dense.add_to(i, j, {{sums[0], sums[1], sums[2], sums[3]}, kQuad});
  for (unsigned r = 0; r < 2; ++r) {
    alignas(64) std::uint32_t words[kLanes];
    for (unsigned l = 0; l < kLanes; ++l)
      words[l] = (sums[2 * r][l] & 0xFFFFU) | (sums[2 * r + 1][l] << 16U);
    blend(register_of<std::uint32_t>(part, d[r]), words, part.lanes);
  }
}

void multiply_dense(const num::WarpgroupProduct& dense, const ProductPart& part, const Place* d,
                    const WgmmaForm& form) {
  const auto i = static_cast<int>(part.warp->index % kGroupWarps);
  for (unsigned block = 0; block < form.n / kSumColumns; ++block) {
    const auto j = static_cast<int>(block);
    form.kind == MmaKind::F16 ? add_halves(dense, part, d + 2 * std::size_t{block}, i, j)
                              : add_singles(dense, part, d + 4 * std::size_t{block}, i, j);
  }
}

}  // namespace

struct ProductOperands {
  MatrixWords a, b;
  std::optional<num::WarpgroupProduct> dense;
};

void read_product(PendingProduct& product) {
  const auto* const first =
      std::ranges::find_if(product.parts, [](const ProductPart& p) { return p.warp != nullptr; });
  Warp& warp = *first->warp;
  const Op& op = warp.program->ops[product.op];
  const WgmmaForm form = unpack_wgmma(op);
  const Place* a = &warp.program->places[op.extra] + form.d_registers();
  const Region& shared = warp.cta->shared;
  const auto read = std::make_shared<ProductOperands>();
  read->a = rows_of_a(product, form, a, shared);
  read->b = unpack_matrix(shared, product.b, form.n, form.k(), {form.bits, 128 / form.bits},
                          form.b_is_mn_major);
  if (form.negates_b) flip_signs(read->b, form.bits);
  read->dense = dense_product(warp.unit->context, form, read->a, read->b);
  product.operands = read;
  unmark_chunks(warp, shared, product.a);
  unmark_chunks(warp, shared, product.b);
}

void multiply_part(const PendingProduct& product, const ProductPart& part) {
  const Op& op = part.warp->program->ops[product.op];
  const WgmmaForm form = unpack_wgmma(op);
  const ProductOperands& operands = *product.operands;
  const RunContext& context = part.warp->unit->context;
  const Place* d = &part.warp->program->places[op.extra];
  if (operands.dense) return multiply_dense(*operands.dense, part, d, form);
  const bool halves = form.kind == MmaKind::F16;
  const num::TileShape shape{kPartRows, kSumColumns, static_cast<int>(form.k())};
  const unsigned index = part.warp->index % kGroupWarps;
  const std::uint32_t* a = &operands.a[std::size_t{index} * kPartRows * form.a_length()];
  for (unsigned block = 0; block < form.n / kSumColumns; ++block) {
    alignas(64) std::uint32_t sums[kSumBlock] = {};
    if (part.adds) gather_block(part, d, halves, block, sums);
    const std::uint32_t* b = &operands.b[std::size_t{block} * kSumColumns * form.k()];
    if (form.is_sparse) {
      multiply_sparse(context, form, source_of(part, op.p[kMetadata]), a, b, sums);
    } else {
      multiply_tile(context, form, shape, a, b, sums);
    }
    scatter_block(part, d, halves, block, sums);
  }
}

}  // namespace ww::sim
