// SPDX-License-Identifier: Apache-2.0
// The product of a wgmma: operands for the four warps at once, D for each. Warp w has rows 16w to
// 16w + 15 of A and D. D is added to block by block, in single precision where it lies if all lanes
// take part.
#include <algorithm>
#include <memory>
#include <optional>

#include "sim/ops/wgmma_ops.h"

namespace ww::sim {
namespace {

RegisterFile register_file(const ProductPart& part) {
  return {part.warp->stack.frames.get() + part.frame, part.warp->constants, part.lanes};
}

MatrixWords rows_of_a(const PendingProduct& product, const WgmmaForm& form, const Place* places,
                      const Region& shared) {
  const ProductRule& rule = form.rule;
  if (!form.a_in_registers)
    return unpack_matrix(shared, product.a, kProductRows, rule.a_length(),
                         {rule.bits, 128 / rule.bits}, form.a_is_mn_major);
  MatrixWords a(std::size_t{kProductRows} * rule.a_length());
  for (std::size_t w = 0; w < kGroupWarps; ++w) {
    const ProductPart& part = product.parts[w];
    if (part.warp == nullptr) continue;
    gather_factor(register_file(part), form.a, places, &a[w * kPartRows * rule.a_length()]);
  }
  return a;
}

// Single precision is added where it lies, if all lanes of all warps that came take part.
bool adds_in_place(const PendingProduct& product, const ProductRule& rule) {
  return rule.kind == SumKind::F32 &&
         std::ranges::all_of(product.parts, [](const ProductPart& part) {
           return part.warp == nullptr || part.lanes == kAllLanes;
         });
}

// Adds to the registers of a block of f32 where they are.
void add_in_place(const num::WarpgroupProduct& whole, const ProductPart& part, const Place* d,
                  int block) {
  constexpr std::ptrdiff_t kQuad = 4;  // lanes that hold a row of a block
  num::BlockPlace at{{}, kQuad};
  for (unsigned r = 0; r < 4; ++r) {
    at.at[r] = register_file(part).at<std::uint32_t>(d[r]);
    if (!part.adds) std::fill_n(at.at[r], kLanes, 0U);
  }
  whole.add_to(static_cast<int>(part.warp->index % kGroupWarps), block, at);
}

}  // namespace

struct ProductOperands {
  MatrixWords a, b;
  std::optional<num::WarpgroupProduct> whole;
};

void read_product(PendingProduct& product) {
  const auto* const first =
      std::ranges::find_if(product.parts, [](const ProductPart& p) { return p.warp != nullptr; });
  Warp& warp = *first->warp;
  const Op& op = warp.program->ops[product.op];
  const auto& form = form_of<WgmmaForm>(op);
  const ProductRule& rule = form.rule;
  const Place* a = warp.places(op).subspan(form.d.regs).data();
  const Region& shared = warp.cta->shared;
  const auto read = std::make_shared<ProductOperands>();
  read->a = rows_of_a(product, form, a, shared);
  read->b = unpack_matrix(shared, product.b, form.n, rule.k, {rule.bits, 128 / rule.bits},
                          form.b_is_mn_major);
  if (form.negates_a) flip_signs(read->a, rule.a);
  if (form.negates_b) flip_signs(read->b, rule.b);
  read->whole = whole_product(
      warp.unit->context, rule, kProductRows, form.n,
      adds_in_place(product, rule) ? num::ColumnOrder::EvenOdd : num::ColumnOrder::Straight,
      read->a.data(), read->b.data());
  product.operands = read;
  unmark_chunks(warp, shared, product.a);
  unmark_chunks(warp, shared, product.b);
}

void multiply_part(const PendingProduct& product, const ProductPart& part) {
  const Program& program = *part.warp->program;
  const Op& op = program.ops[product.op];
  const auto& form = form_of<WgmmaForm>(op);
  const ProductRule& rule = form.rule;
  const ProductOperands& operands = *product.operands;
  const RegisterFile registers = register_file(part);
  const std::size_t index = part.warp->index % kGroupWarps;
  RowMetadata metadata{};
  if (rule.is_sparse)
    metadata = metadata_of_rows(rule.sparse_rows(),
                                registers.source<std::uint32_t>(op.p[kMetadata]), form.selector);
  const bool is_in_place = operands.whole && adds_in_place(product, rule);
  for (std::size_t block = 0; block < form.n / kBlockColumns; ++block) {
    const Place* const d = &part.warp->places(op)[block * form.d.block_regs];
    if (is_in_place) {
      add_in_place(*operands.whole, part, d, static_cast<int>(block));
      continue;
    }
    alignas(64) std::uint32_t sums[kSumsOfBlock] = {};
    if (part.adds) gather_sums(registers, form.d, d, sums);
    if (operands.whole) {
      operands.whole->add_to(static_cast<int>(index), static_cast<int>(block), sums);
    } else {
      multiply_block(part.warp->unit->context, rule, kPartRows,
                     {.a = &operands.a[index * kPartRows * rule.a_length()],
                      .b = &operands.b[block * kBlockColumns * rule.k],
                      .metadata = metadata.data()},
                     sums);
    }
    scatter_sums(registers, form.d, d, sums);
  }
}

}  // namespace ww::sim
