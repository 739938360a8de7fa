// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/engine_moves.h"

#include <algorithm>

#include "sim/ops/wgmma_ops.h"

namespace ww::sim {
namespace {

constexpr std::uint32_t kMovedChunk = MatrixDescriptor::kChunk;

// Neighbours in memory and in the box become one piece.
void add_piece(CopySide& out, const MovedPiece& piece) {
  if (!out.pieces.empty()) {
    MovedPiece& last = out.pieces.back();
    const bool follows =
        last.at + last.bytes == piece.at && last.address + last.bytes == piece.address;
    if (follows) {
      last.bytes += piece.bytes;
      return;
    }
  }
  out.pieces.push_back(piece);
}

CopySide box_in_tensor(const CopiedBox& box) {
  const BoxShape shape = shape_of_box(box.map);
  CopySide out{.shape = {shape.rows, shape.row_bytes}};
  for (const BoxRun& run : box_runs(box.map, box.point))
    out.pieces.push_back({run.at, run.address, run.bytes});
  return out;
}

// A swizzle exchanges chunks, one of them halves of chunks; padding comes behind groups of 12 bytes.
CopySide box_in_shared(const CopiedBox& box, std::uint64_t address) {
  const BoxShape shape = shape_of_box(box.map);
  CopySide out{.shape = {shape.rows, shape.row_bytes}};
  const std::uint32_t step = shape.group % 8 == 0 ? 8 : 4;
  for (std::uint64_t row = 0; row < shape.rows; ++row) {
    for (std::uint32_t in_row = 0; in_row < shape.row_bytes; in_row += step) {
      const auto at = static_cast<std::uint32_t>(row * shape.row_bytes + in_row);
      add_piece(out, {at, swizzled(box.map.swizzle, address + shape.place(at)),
                      std::min(step, shape.row_bytes - in_row)});
    }
  }
  return out;
}

CopySide run_side(std::uint64_t address, std::uint32_t bytes) {
  return {.shape = {1, bytes}, .pieces = {{0, address, bytes}}};
}

// The chunks of the lines from `first` on, or of all.
CopySide matrix_side(const SharedMatrix& matrix, unsigned first, unsigned lines) {
  const MatrixChunks chunks = chunks_of(matrix);
  CopySide out;
  const unsigned per_row =
      matrix.is_mn_major ? matrix.lines * matrix.element_bytes : matrix.line_bytes;
  out.is_k_major = !matrix.is_mn_major;
  out.shape = {chunks.size() * kMovedChunk / per_row, per_row};
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto at = static_cast<std::uint32_t>(i * kMovedChunk);
    const unsigned line =
        matrix.is_mn_major ? at % per_row / matrix.element_bytes : at / matrix.line_bytes;
    if (line >= first && line < first + lines) add_piece(out, {at, chunks[i], kMovedChunk});
  }
  return out;
}

// The elements of a matrix that one warp holds.
Fragment fragment_of(const RegisterMatrix& matrix, unsigned warp) {
  Fragment out{.rows = kProductRows, .columns = matrix.length};
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned r = 0; r < matrix.regs; ++r) {
      for (unsigned part = 0; part < matrix.parts; ++part) {
        const Cell cell = matrix.cell(lane, r, part);
        out.held[lane].push_back((warp * kPartRows + cell.line) * matrix.length + cell.at);
      }
    }
  }
  return out;
}

}  // namespace

CopySide copied_from(const EngineCopy& copy) {
  if (!copy.box) return run_side(copy.from, copy.bytes);
  return copy.is_store ? box_in_shared(*copy.box, copy.from) : box_in_tensor(*copy.box);
}

CopySide copied_to(const EngineCopy& copy, const CopyTarget& target) {
  if (!copy.box) return run_side(target.address, copy.bytes);
  return copy.is_store ? box_in_tensor(*copy.box) : box_in_shared(*copy.box, target.address);
}

CopySide slice_of_a(const Op& op, const EngineProduct& product, unsigned warp) {
  return matrix_side(matrix_a(form_of<WgmmaForm>(op), product.a), warp * kPartRows, kPartRows);
}

CopySide slice_of_b(const Op& op, const EngineProduct& product) {
  const auto& form = form_of<WgmmaForm>(op);
  return matrix_side(matrix_b(form, product.b), 0, form.n);
}

Fragment fragment_of_d(const Op& op, unsigned warp) {
  return fragment_of(form_of<WgmmaForm>(op).d, warp);
}
Fragment fragment_of_a(const Op& op, unsigned warp) {
  return fragment_of(form_of<WgmmaForm>(op).a, warp);
}

bool has_a_in_registers(const Op& op) { return form_of<WgmmaForm>(op).a_in_registers; }

}  // namespace ww::sim
