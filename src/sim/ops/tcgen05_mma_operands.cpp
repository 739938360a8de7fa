// SPDX-License-Identifier: Apache-2.0
// The operands of a tcgen05.mma: where they lie, and whether the tensor core may use them now. It
// reads shared memory through the async proxy, some time until the commit behind it is waited for.
//
// D, and A where it is in tensor memory: rows in lanes, by M and the CTAs that take part,
//
//   M = 128, one CTA       lane m                      column n
//   M = 64                 lane m % 16 + m / 16 * 32   column n (from lane 0 or 16)
//   M = 256, a pair        lane m % 128                column n of CTA m / 128
//   M = 128, a pair        lane m % 64 + 64 h          column n % (N / 2) of CTA m / 64, h = n / (N / 2)
//   the same, sparse A     lane m % 16 + m % 64 / 16 * 32   column n of CTA m / 64 (from lane 0 or 16)
//   M = 64, .ws            lane m + 64 h               column n % (N / 2), h = n / (N / 2)
//   M = 32, .ws            lane m + 32 q               column n % (N / 4), q = n / (N / 4)
//
// A row of A is in every lane that has elements of that row of D. In shared memory each CTA of a pair
// has its rows of A and half of the columns of B. Metadata of sparse rows is in the lanes of these rows
// (kMetadataColumns). Scales of row m are in column m / 32, lane m % 32 of each quarter, those of column
// n of B alike; with M = 128 by a pair, those of the second half of B in the upper two quarters.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/ops/async_ops.h"
#include "sim/ops/tcgen05_mma_ops.h"

namespace ww::sim {
namespace {

constexpr unsigned kQuarterLanes = 32;

void report_descriptor(Warp& warp, unsigned lane, const std::string& text) {
  if (!warp.is_new(Check::Align)) return;
  warp.report(Check::Align, lane_bit(lane), text);
}

// --- shared memory -------------------------------------------------------------------------------

std::string fault_of(const SharedMatrix& matrix) {
  const MatrixDescriptor& at = matrix.at;
  if (at.reserved() != 0)
    return fmt::format("bits 0x{:016x} are set, which must be 0", at.reserved());
  if (at.version() != 1)
    return fmt::format("bits 48:46 are {:03b}; they are 001 for tcgen05", at.version());
  const unsigned code = at.swizzle_code();
  if (code == 3 || code == 5 || code == 7)
    return fmt::format("swizzle {} (bits 63:61) does not exist", code);
  if (at.leads_by_address()) return "a leading address (bit 52) is of K = 96 alone";
  if (!matrix.is_mn_major) return "";
  if (matrix.element_bytes == 4 && code != 1)
    return "MN-major tf32 needs the swizzle of 128 bytes in atoms of 32 (1 in bits 63:61)";
  if (matrix.element_bytes != 4 && code == 1)
    return "the swizzle of 128 bytes in atoms of 32 is, MN-major, of tf32 alone";
  return "";
}

void check_written(Warp& warp, unsigned lane, const Region& shared, const MatrixChunks& chunks) {
  RaceTracker* races = warp.unit->races.get();
  FenceTracker* fences = warp.unit->fences.get();
  std::uint64_t address[kLanes] = {};
  const Mask who = lane_bit(lane);
  for (const std::uint32_t at : chunks) {
    address[lane] = shared.base + at;
    check_async(warp, shared, address, who, MatrixDescriptor::kChunk, false);
    if (fences != nullptr)
      fences->check_async(warp, shared, address, who, MatrixDescriptor::kChunk, false);
    if (races != nullptr) races->check_read(warp, address, who, MatrixDescriptor::kChunk);
  }
}

// Of a K-major matrix, the chunks of the lines that are used, in their order.
MatrixChunks chunks_of_lines(const SharedMatrix& matrix, const std::vector<unsigned>& lines) {
  MatrixChunks chunks;
  for (const unsigned line : lines) {
    if (line == ZeroColumns::kZero) continue;
    for (unsigned chunk = 0; chunk < matrix.line_bytes / MatrixDescriptor::kChunk; ++chunk)
      chunks.push_back(matrix.at.k_major(line, chunk));
  }
  return chunks;
}

// `lines`: those that are used; none: all.
MatrixChunks begin_matrix(Warp& warp, unsigned lane, const Cta& cta, const SharedMatrix& matrix,
                          const std::vector<unsigned>& lines = {}) {
  const std::string fault = fault_of(matrix);
  if (!fault.empty())
    report_descriptor(
        warp, lane,
        fmt::format("the descriptor of {} is 0x{:016x}: {}", matrix.name, matrix.at.bits(), fault));
  MatrixChunks chunks = lines.empty() ? chunks_of(matrix) : chunks_of_lines(matrix, lines);
  check_inside(warp, lane_bit(lane), cta, matrix, chunks);
  check_defined(warp, lane_bit(lane), cta, matrix, chunks);
  check_written(warp, lane, cta.shared, chunks);
  mark_chunks(warp, lane, cta.shared, chunks);
  return chunks;
}

// Bytes of a chunk that hold elements.
unsigned used_bytes(const TensorProduct& product, num::DType type, unsigned lines, bool is_mn) {
  const unsigned container = isa::container_bits(product.form.is.kind);
  const unsigned each = 128 / container;
  const unsigned count = is_mn ? std::min(each, lines) : each;
  const unsigned bits = container == 8 ? static_cast<unsigned>(num::bits_of(type)) : container;
  return (count * bits + 7) / 8;
}

void begin_shared(Warp& warp, unsigned lane, TensorProduct& product) {
  const unsigned element_bytes = std::max(1U, isa::container_bits(product.form.is.kind) / 8);
  for (std::size_t i = 0; i < product.ctas.size(); ++i) {
    const Cta& cta = *product.ctas[i];
    SharedMatrix a{.name = "A",
                   .at = MatrixDescriptor::of_tcgen05(product.desc_a),
                   .lines = product.rows_each(),
                   .line_bytes = kRowColumns * 4,
                   .element_bytes = element_bytes,
                   .is_mn_major = product.is.a_is_mn_major};
    a.used_bytes = used_bytes(product, product.is.a, a.lines, a.is_mn_major);
    SharedMatrix b = a;
    b.name = "B";
    b.at = MatrixDescriptor::of_tcgen05(product.desc_b);
    b.lines = product.columns_each();
    b.line_bytes = a.line_bytes * (product.form.is.is_sparse ? 2 : 1);
    b.is_mn_major = product.is.b_is_mn_major;
    b.used_bytes = used_bytes(product, product.is.b, b.lines, b.is_mn_major);
    if (!product.form.a_in_tensor) {
      product.a_chunks[i] = begin_matrix(warp, lane, cta, a);
      product.a_undefined[i] = undefined_lines(warp, cta.shared, a, product.a_chunks[i]);
    }
    product.b_chunks[i] = begin_matrix(warp, lane, cta, b, product.b_columns);
    product.b_undefined[i] = undefined_lines(warp, cta.shared, b, product.b_chunks[i]);
  }
}

// --- tensor memory -------------------------------------------------------------------------------

std::vector<DPart> parts_of(const TensorProduct& product) {
  const isa::ProductForm& form = product.form.is;
  const auto [m, n] = std::pair(product.is.m, product.is.n);
  const unsigned ctas = form.is_pair ? 2 : 1;
  const unsigned rows = m / ctas;
  // Rows that are fewer than the lanes go to several groups of lanes, with columns of their own.
  const bool is_half = rows == 64 && !form.is_ws && (form.is_sparse || !form.is_pair);
  const unsigned groups = is_half ? 1 : kTensorLanes / rows;
  std::vector<DPart> parts;
  for (unsigned cta = 0; cta < ctas; ++cta) {
    for (unsigned group = 0; group < groups; ++group) {
      parts.push_back({.cta = cta,
                       .row = cta * rows,
                       .rows = rows,
                       .column = group * (n / groups),
                       .columns = n / groups,
                       .lane = product.d.lane + group * rows,
                       .is_half = is_half});
    }
  }
  return parts;
}

// An address starts in lane 0; where only half of the lanes are used, in 0 or 16.
bool check_lanes(Warp& warp, unsigned lane, const TensorProduct& product) {
  const bool is_half = product.parts[0].is_half;
  const auto wrong = [&](std::string_view what, unsigned seen, std::string_view wanted) {
    report_tensor(warp, lane_bit(lane),
                  fmt::format("{} starts in lane {}; with M = {} it starts in {}", what, seen,
                              product.is.m, wanted));
    return false;
  };
  if (product.d.lane != 0 && !(is_half && product.d.lane == 16))
    return wrong("D", product.d.lane, is_half ? "lane 0 or 16" : "lane 0");
  if (product.form.a_in_tensor && product.a.lane != product.d.lane)
    return wrong("A", product.a.lane, is_half ? "the lane of D" : "lane 0");
  if (product.form.is.is_sparse && product.metadata.lane != product.d.lane)
    return wrong("the metadata", product.metadata.lane, is_half ? "the lane of D" : "lane 0");
  if (product.form.is.scale_count == 0) return true;
  if (product.scale_a.lane != 0) return wrong("the scales of A", product.scale_a.lane, "lane 0");
  return product.scale_b.lane == 0 || wrong("the scales of B", product.scale_b.lane, "lane 0");
}

bool check_columns(Warp& warp, unsigned lane, const TensorProduct& product, unsigned first,
                   unsigned count) {
  std::string why;
  for (Cta* cta : product.ctas) {
    const TensorMemory& tensor = tensor_of(*cta);
    for (unsigned c = 0; c < count; ++c) {
      if (is_cell(tensor, {0, first + c}, why)) continue;
      report_tensor(warp, lane_bit(lane), why);
      return false;
    }
  }
  return true;
}

bool check_metadata_columns(Warp& warp, unsigned lane, const TensorProduct& product) {
  const unsigned first = product.metadata.column;
  if (first % kMetadataColumns == 0)
    return check_columns(warp, lane, product, first, kMetadataColumns);
  report_tensor(warp, lane_bit(lane),
                fmt::format("the metadata starts in column {}; it starts in an even one", first));
  return false;
}

// Columns with a byte for each of these lines.
unsigned scale_columns(unsigned lines) { return (lines + kQuarterLanes - 1) / kQuarterLanes; }

bool check_tensor(Warp& warp, unsigned lane, const TensorProduct& product) {
  if (!check_lanes(warp, lane, product)) return false;
  if (!check_columns(warp, lane, product, product.d.column, product.parts[0].columns)) return false;
  if (product.form.a_in_tensor &&
      !check_columns(warp, lane, product, product.a.column, kRowColumns))
    return false;
  if (product.form.is.is_sparse && !check_metadata_columns(warp, lane, product)) return false;
  return product.form.is.scale_count == 0 ||
         (check_columns(warp, lane, product, product.scale_a.column,
                        scale_columns(product.rows_each())) &&
          check_columns(warp, lane, product, product.scale_b.column,
                        scale_columns(product.scale_b_lines())));
}

// Whether earlier work of the same thread is to write the cell: it is done in order.
bool is_own_work(const Warp& warp, unsigned lane, const TensorMemory::Pending& pending) {
  return pending.count != 0 && pending.warp == warp.index &&
         std::ranges::any_of(warp.pending.tensor_work, [&](const TensorWork& work) {
           return work.op == pending.op && work.lane == lane;
         });
}

void check_pending(Warp& warp, unsigned lane, const TensorMemory::Pending& pending,
                   TensorAddress cell, std::string_view what) {
  if (pending.count == 0 || !warp.checks(Check::Async)) return;
  if (!warp.is_new(Check::Async, pending.op)) return;
  warp.report_at(Check::Async, lane_bit(lane), 0,
                 fmt::format("uses lane {}, column {} of tensor memory, of {}, which an earlier "
                             "instruction is still to write",
                             cell.lane, cell.column, what),
                 Party{pending.op, warp.cta->linear, pending.warp, 0});
}

/// Cells that the product uses in one CTA.
struct CellBlock {
  std::string_view what;
  TensorUse use;
  unsigned column, columns;
};

void touch_cell(Warp& warp, unsigned lane, const Cta& cta, std::uint32_t cell, Touched how) {
  RaceTracker* races = warp.unit->races.get();
  if (races == nullptr) return;
  std::uint32_t cells[kLanes] = {};
  cells[lane] = cell;
  races->touch_tensor(warp, cta.rank, cells, lane_bit(lane), how);
}

// Whether nothing but earlier work of this thread has used the cells since it did: there is nothing to
// look for.
bool are_own(const Warp& warp, unsigned lane, const Cta& cta, const CellBlock& block,
             unsigned row_lane) {
  FenceTracker* fences = warp.unit->fences.get();
  if (fences == nullptr || block.use != TensorUse::Copy) return false;
  TensorMemory& tensor = *cta.tensor;
  for (unsigned c = block.column; c < block.column + block.columns; ++c) {
    const TensorMemory::Pending& pending = tensor.pending_at(row_lane, c);
    if (pending.count != 0 && !is_own_work(warp, lane, pending)) return false;
  }
  return fences->are_own(warp, cta.rank, row_lane * kTensorColumns + block.column, block.columns);
}

void check_cells(Warp& warp, unsigned lane, const Cta& cta, const CellBlock& block,
                 unsigned row_lane) {
  FenceTracker* fences = warp.unit->fences.get();
  const Touched how = block.use == TensorUse::Copy ? Touched::AsyncWrite : Touched::Read;
  for (unsigned c = block.column; c < block.column + block.columns; ++c) {
    const TensorMemory::Pending& pending = cta.tensor->pending_at(row_lane, c);
    const std::uint32_t cell = row_lane * kTensorColumns + c;
    if (!is_own_work(warp, lane, pending)) {
      check_pending(warp, lane, pending, {row_lane, c}, block.what);
      touch_cell(warp, lane, cta, cell, how);
    }
    if (fences != nullptr) fences->check_cell(warp, lane, cta.rank, cell, block.use);
  }
}

void begin_cells(Warp& warp, unsigned lane, Cta& cta, const CellBlock& block, unsigned row_lane) {
  const bool is_async = warp.checks(Check::Async);
  if (!is_async && warp.unit->fences == nullptr && warp.unit->races == nullptr) return;
  TensorMemory& tensor = tensor_of(cta);
  if (!are_own(warp, lane, cta, block, row_lane)) check_cells(warp, lane, cta, block, row_lane);
  if (block.use != TensorUse::Copy || !is_async) return;
  for (unsigned c = block.column; c < block.column + block.columns; ++c) {
    TensorMemory::Pending& pending = tensor.pending_at(row_lane, c);
    ++pending.count;
    pending.op = warp.current;
    pending.warp = static_cast<std::uint16_t>(warp.index);
  }
}

CellBlock metadata_cells(const TensorProduct& product) {
  const bool is_one = product.rule.sparse_rows().groups() < kMaxSparseGroups;
  return {"the metadata", TensorUse::Fetch,
          product.metadata.column + (is_one ? product.is.selector : 0),
          is_one ? 1 : kMetadataColumns};
}

void begin_tensor(Warp& warp, unsigned lane, const TensorProduct& product) {
  for (const DPart& part : product.parts) {
    Cta& cta = *product.ctas[part.cta];
    for (unsigned i = 0; i < part.rows; ++i) {
      if (product.form.a_in_tensor)
        begin_cells(warp, lane, cta, {"A", TensorUse::Fetch, product.a.column, kRowColumns},
                    part.lane_of(i));
      if (product.form.is.is_sparse)
        begin_cells(warp, lane, cta, metadata_cells(product), part.lane_of(i));
      begin_cells(warp, lane, cta, {"D", TensorUse::Copy, product.d.column, part.columns},
                  part.lane_of(i));
    }
  }
  if (product.form.is.scale_count == 0) return;
  for (Cta* cta : product.ctas) {
    for (unsigned l = 0; l < kTensorLanes; ++l) {
      begin_cells(warp, lane, *cta,
                  {"the scales of A", TensorUse::Fetch, product.scale_a.column,
                   scale_columns(product.rows_each())},
                  l);
      begin_cells(warp, lane, *cta,
                  {"the scales of B", TensorUse::Fetch, product.scale_b.column,
                   scale_columns(product.scale_b_lines())},
                  l);
    }
  }
}

}  // namespace

bool begin_tensor_product(Warp& warp, unsigned lane, TensorProduct& product) {
  const bool is_fp4 = product.is.a == num::DType::Float4E2M1fn;
  if (product.form.a_in_tensor && is_fp4 && isa::container_bits(product.form.is.kind) == 8) {
    refuse_operands(warp, "a product with 4-bit elements of A in bytes of tensor memory");
    return false;
  }
  if (product.form.a_in_tensor && product.is.a_is_mn_major) {
    report_descriptor(warp, lane,
                      "A is MN-major in the instruction descriptor; in tensor memory it "
                      "is K-major");
    return false;
  }
  if (product.form.is.scale_count != 0 && product.form.is.is_sparse && product.splits_scales()) {
    refuse_operands(warp, "a sparse product with scales of M = 128 by a pair of CTAs");
    return false;
  }
  constexpr unsigned kShortSwizzle = 32;
  if (product.form.is.is_sparse && !product.is.b_is_mn_major &&
      MatrixDescriptor::of_tcgen05(product.desc_b).width() == kShortSwizzle) {
    refuse_operands(warp, "a sparse product with a K-major B in the swizzle of 32 bytes");
    return false;
  }
  product.parts = parts_of(product);
  if (!check_tensor(warp, lane, product)) return false;
  begin_shared(warp, lane, product);
  begin_tensor(warp, lane, product);
  return true;
}

bool UndefinedLines::are_none() const {
  const auto is_defined = [](OriginId id) { return id == 0; };
  return std::ranges::all_of(rows, is_defined) && std::ranges::all_of(columns, is_defined);
}

UndefinedLines undefined_lines(const TensorProduct& product, const DPart& part) {
  UndefinedLines out{std::vector<OriginId>(part.rows), std::vector<OriginId>(part.columns)};
  std::ranges::copy(product.a_undefined[part.cta], out.rows.begin());
  const std::vector<unsigned>& from = product.b_columns;
  for (unsigned cta = 0; cta < product.ctas.size(); ++cta) {
    const LineOrigins& lines = product.b_undefined[cta];
    if (lines.empty()) continue;
    auto next = lines.begin();  // columns that count as zero have no line
    for (unsigned c = 0; c < product.columns_each(); ++c) {
      if (!from.empty() && from[c] == ZeroColumns::kZero) continue;
      const unsigned column = cta * product.columns_each() + c - part.column;
      if (column < part.columns) out.columns[column] = *next;
      ++next;
    }
  }
  return out;
}

}  // namespace ww::sim
