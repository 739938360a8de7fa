// SPDX-License-Identifier: Apache-2.0
// The operands of a wgmma in shared memory: which chunks of 16 bytes they are, and whether they may
// be read now. The tensor core reads them through the async proxy, some time until the wait.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sim/ops/async_ops.h"
#include "sim/ops/wgmma_ops.h"

namespace ww::sim {
namespace {

constexpr std::uint32_t kMatrixChunk = MatrixDescriptor::kChunk;

/// A matrix in shared memory.
struct SharedMatrix {
  std::string_view name;  // "A"
  MatrixDescriptor at;
  unsigned lines;       // rows of A, columns of B
  unsigned line_bytes;  // of the K elements of one
  bool is_mn_major;     // only of elements of two bytes
};

// Chunks in the order in which unpack (wgmma_product.cpp) takes them: line by line, or k by k.
std::vector<std::uint32_t> chunks_of(const SharedMatrix& matrix) {
  std::vector<std::uint32_t> chunks(std::size_t{matrix.lines} * matrix.line_bytes / kMatrixChunk);
  auto next = chunks.begin();
  if (matrix.is_mn_major) {
    for (unsigned k = 0; k < matrix.line_bytes / 2; ++k)
      for (unsigned chunk = 0; chunk < matrix.lines * 2 / kMatrixChunk; ++chunk)
        *next++ = matrix.at.mn_major(chunk, k);
  } else {
    const MatrixDescriptor at = matrix.at;
    for (unsigned line = 0; line < matrix.lines; ++line)
      for (unsigned chunk = 0; chunk < matrix.line_bytes / kMatrixChunk; ++chunk)
        *next++ = at.k_major(line, chunk);
  }
  return chunks;
}

void check_descriptor(Warp& warp, const SharedMatrix& matrix) {
  const std::uint64_t reserved = matrix.at.reserved();
  if (reserved == 0 || !warp.is_new(Check::Align)) return;
  warp.report(Check::Align, warp.exec,
              fmt::format("the descriptor 0x{:016x} of {} has bits 0x{:016x} set, which must be 0",
                          matrix.at.bits(), matrix.name, reserved));
}

// A matrix that is not all in shared memory is not read: its elements are zeros.
void check_inside(Warp& warp, const SharedMatrix& matrix, std::vector<std::uint32_t>& chunks) {
  const std::uint64_t size = warp.cta->shared.size;
  std::uint32_t last = 0;
  for (const std::uint32_t at : chunks) last = std::max(last, at);
  const auto is_outside = [&](std::uint32_t at) { return at + kMatrixChunk > size; };
  if (!is_outside(last)) return;
  const std::uint32_t at = *std::ranges::find_if(chunks, is_outside);
  const auto count = std::ranges::count_if(chunks, is_outside);
  const std::size_t all = chunks.size();
  chunks.clear();
  if (!warp.checks(Check::Bounds)) {
    warp.unit->stop(Outcome::Trapped, fmt::format("illegal shared address 0x{:x} at line {}, {}",
                                                  at, warp.program->infos[warp.current].line,
                                                  warp.unit->describe(*warp.cta)));
    warp.stop = 0;
    return;
  }
  if (!warp.is_new(Check::Bounds)) return;
  warp.report_at(
      Check::Bounds, warp.exec, warp.cta->shared.base + at,
      fmt::format("{} of {} chunks of {} lie outside of shared memory ({} bytes), the first at "
                  "0x{:x}: start 0x{:x}, leading offset {}, stride offset {}",
                  count, all, matrix.name, size, at, matrix.at.start(), matrix.at.leading(),
                  matrix.at.stride()));
}

void check_defined(Warp& warp, const SharedMatrix& matrix,
                   const std::vector<std::uint32_t>& chunks) {
  const Region& shared = warp.cta->shared;
  if (shared.undefined == nullptr || !warp.checks(Check::Uninit)) return;
  for (const std::uint32_t at : chunks) {
    if (undefined_bits(shared, at, kMatrixChunk) == 0) continue;
    if (!warp.is_new(Check::Uninit)) return;
    warp.report_at(Check::Uninit, warp.exec, shared.base + at,
                   fmt::format("{} has bytes in shared memory at 0x{:x} that nothing has written",
                               matrix.name, at));
    return;
  }
}

// Calls visit(address of 32 lanes, lanes) for 32 chunks at a time.
template <typename Visit>
void for_chunks(const Region& shared, const std::vector<std::uint32_t>& chunks, Visit&& visit) {
  for (std::size_t from = 0; from < chunks.size(); from += kLanes) {
    std::uint64_t address[kLanes] = {};
    const auto count = static_cast<unsigned>(std::min<std::size_t>(kLanes, chunks.size() - from));
    for (unsigned i = 0; i < count; ++i) address[i] = shared.base + chunks[from + i];
    visit(address, count == kLanes ? kAllLanes : lane_bit(count) - 1);
  }
}

// Each warp that takes part must be behind what wrote the operand; one of them stands for all where
// fences are concerned. Later writes are looked at while the chunks are marked.
void check_written(Warp& warp, const PendingProduct& product,
                   const std::vector<std::uint32_t>& chunks) {
  const Region& shared = warp.cta->shared;
  RaceTracker* races = warp.unit->races.get();
  FenceTracker* fences = warp.unit->fences.get();
  if (races == nullptr && fences == nullptr && warp.cta->watched == 0) return;
  for_chunks(shared, chunks, [&](const std::uint64_t* address, Mask lanes) {
    check_async(warp, shared, address, lanes, kMatrixChunk, false);
    if (fences != nullptr) fences->check_async(warp, shared, address, lanes, kMatrixChunk, false);
    if (races == nullptr) return;
    for (const ProductPart& part : product.parts) {
      if (part.warp != nullptr) races->check_read(*part.warp, address, lanes, kMatrixChunk);
    }
  });
}

void mark_chunks(Warp& warp, const std::vector<std::uint32_t>& chunks) {
  const Region& shared = warp.cta->shared;
  if (!warp.checks(Check::Async)) return;
  for (const std::uint32_t at : chunks)
    mark_shared(warp, shared, shared.base + at, kMatrixChunk, 0, AsyncUse::Read);
}

std::vector<std::uint32_t> begin_matrix(Warp& warp, const PendingProduct& product,
                                        const SharedMatrix& matrix) {
  std::vector<std::uint32_t> chunks = chunks_of(matrix);
  check_descriptor(warp, matrix);
  check_inside(warp, matrix, chunks);
  check_defined(warp, matrix, chunks);
  check_written(warp, product, chunks);
  mark_chunks(warp, chunks);
  return chunks;
}

}  // namespace

void begin_product(Warp& warp, const WgmmaForm& form, PendingProduct& product) {
  const ProductPart& mine = product.parts[warp.index % kGroupWarps];
  if (!form.a_in_registers) {
    product.a = begin_matrix(warp, product,
                             {.name = "A",
                              .at = MatrixDescriptor(mine.a),
                              .lines = kProductRows,
                              .line_bytes = kLineBytes,
                              .is_mn_major = form.a_is_mn_major});
  }
  product.b = begin_matrix(warp, product,
                           {.name = "B",
                            .at = MatrixDescriptor(mine.b),
                            .lines = form.n,
                            .line_bytes = kLineBytes * (form.is_sparse ? 2U : 1U),
                            .is_mn_major = form.b_is_mn_major});
}

}  // namespace ww::sim
