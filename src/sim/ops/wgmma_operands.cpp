// SPDX-License-Identifier: Apache-2.0
// The operands of a wgmma in shared memory: which chunks of 16 bytes they are, and whether they may
// be read now. The tensor core reads them through the async proxy, some time until the wait.
#include <fmt/format.h>

#include "sim/ops/async_ops.h"
#include "sim/ops/shared_matrix.h"
#include "sim/ops/wgmma_ops.h"

namespace ww::sim {
namespace {

void check_descriptor(Warp& warp, const SharedMatrix& matrix) {
  const std::uint64_t reserved = matrix.at.reserved();
  if (reserved == 0 || !warp.is_new(Check::Align)) return;
  warp.report(Check::Align, warp.exec,
              fmt::format("the descriptor 0x{:016x} of {} has bits 0x{:016x} set, which must be 0",
                          matrix.at.bits(), matrix.name, reserved));
}

// Each warp that takes part must be behind what wrote the operand; one of them stands for all where
// fences are concerned. Later writes are looked at while the chunks are marked.
void check_written(Warp& warp, const PendingProduct& product, const MatrixChunks& chunks) {
  const Region& shared = warp.cta->shared;
  RaceTracker* races = warp.unit->races.get();
  FenceTracker* fences = warp.unit->fences.get();
  if (races == nullptr && fences == nullptr && warp.cta->watched == 0) return;
  for_chunks(shared, chunks, [&](const std::uint64_t* address, Mask lanes) {
    check_async(warp, shared, address, lanes, MatrixDescriptor::kChunk, false);
    if (fences != nullptr)
      fences->check_async(warp, shared, address, lanes, MatrixDescriptor::kChunk, false);
    if (races == nullptr) return;
    for (const ProductPart& part : product.parts) {
      if (part.warp != nullptr)
        races->check_read(*part.warp, address, lanes, MatrixDescriptor::kChunk);
    }
  });
}

MatrixChunks begin_matrix(Warp& warp, const PendingProduct& product, const SharedMatrix& matrix) {
  MatrixChunks chunks = chunks_of(matrix);
  check_descriptor(warp, matrix);
  check_inside(warp, warp.exec, *warp.cta, matrix, chunks);
  check_defined(warp, warp.exec, *warp.cta, matrix, chunks);
  check_written(warp, product, chunks);
  mark_chunks(warp, 0, warp.cta->shared, chunks);
  return chunks;
}

}  // namespace

SharedMatrix matrix_a(const WgmmaForm& form, std::uint64_t descriptor) {
  return {.name = "A",
          .at = MatrixDescriptor(descriptor),
          .lines = kProductRows,
          .line_bytes = form.rule.a_length() * form.rule.bits / 8,
          .element_bytes = 2,
          .is_mn_major = form.a_is_mn_major};
}

SharedMatrix matrix_b(const WgmmaForm& form, std::uint64_t descriptor) {
  return {.name = "B",
          .at = MatrixDescriptor(descriptor),
          .lines = form.n,
          .line_bytes = form.rule.k * form.rule.bits / 8,
          .element_bytes = 2,
          .is_mn_major = form.b_is_mn_major};
}

void begin_product(Warp& warp, const WgmmaForm& form, PendingProduct& product) {
  const ProductPart& mine = product.parts[warp.index % kGroupWarps];
  if (!form.a_in_registers) product.a = begin_matrix(warp, product, matrix_a(form, mine.a));
  product.b = begin_matrix(warp, product, matrix_b(form, mine.b));
}

}  // namespace ww::sim
