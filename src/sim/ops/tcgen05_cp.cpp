// SPDX-License-Identifier: Apache-2.0
// tcgen05.cp, shift and commit: what one thread starts and the tensor core does, in order, some
// time later. Here the work is done when somebody waits for the mbarrier of a tcgen05.commit behind
// it; shared memory is read when a copy is issued.
//
// A copy takes rows of 16 or 32 bytes that a K-major matrix descriptor finds in shared memory
// (sim/memory/matrix_descriptor.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/checks/undefined.h"
#include "sim/decode/function_decoder.h"
#include "sim/memory/access.h"
#include "sim/memory/matrix_descriptor.h"
#include "sim/ops/async_ops.h"
#include "sim/ops/tcgen05_ops.h"
#include "sim/run/mbarriers.h"

namespace ww::sim {
namespace {

constexpr unsigned kChunk = 16;        // bytes that are read at a time
constexpr unsigned kChunkColumns = 4;  // of tensor memory
constexpr unsigned kWindow = 32;       // lanes of a warp
constexpr unsigned kShiftColumns = 8;  // 32 bytes

enum class Format : std::uint8_t { Bytes, Packed6, Packed4 };
enum class Spread : std::uint8_t { Rows, Windows, Pairs02, Pairs01, All };

struct PairOp {
  bool is_pair;  // in both CTAs of a pair
};
// Copies rows of op.bytes bytes.
struct CopyOp {
  bool is_pair;
  Spread spread;
  Format format;
  std::uint8_t rows;
};

// --- the source ----------------------------------------------------------------------------------

struct Chunk {
  std::array<std::uint8_t, kChunk> bytes{};
  std::array<bool, kChunk> undefined{};
};

// Elements of 6 or 4 bits at the low end become a byte each.
Chunk expanded(const Chunk& in, Format format) {
  if (format == Format::Bytes) return in;
  const unsigned width = format == Format::Packed6 ? 6 : 4;
  Chunk out;
  for (unsigned i = 0; i < kChunk; ++i) {
    const unsigned bit = i * width;
    const unsigned byte = bit / 8;
    const bool straddles = bit % 8 + width > 8;
    unsigned word = in.bytes[byte];
    if (straddles) word |= static_cast<unsigned>(in.bytes[byte + 1]) << 8U;
    out.bytes[i] = static_cast<std::uint8_t>((word >> (bit % 8)) & ((1U << width) - 1));
    out.undefined[i] = in.undefined[byte] || (straddles && in.undefined[byte + 1]);
  }
  return out;
}

Chunk chunk_of(const Bytes& bytes) {
  Chunk chunk;
  for (unsigned i = 0; i < kChunk; ++i) {
    chunk.bytes[i] = std::to_integer<std::uint8_t>(bytes.data[i]);
    chunk.undefined[i] = !bytes.undefined.empty() && bytes.undefined[i] != 0;
  }
  return chunk;
}

// --- the destination -----------------------------------------------------------------------------

// The lanes that a row goes to.
std::vector<unsigned> lanes_of(Spread spread, unsigned row) {
  switch (spread) {
    case Spread::Rows:
      return {row};
    case Spread::Windows:
      return {row * kWindow};
    case Spread::Pairs02:
      return {row, row + 2 * kWindow};
    case Spread::Pairs01: {
      const unsigned first = row / kWindow * 2 * kWindow + row % kWindow;
      return {first, first + kWindow};
    }
    case Spread::All:
      return {row, row + kWindow, row + 2 * kWindow, row + 3 * kWindow};
  }
  return {};
}

void add_cells(Warp& warp, unsigned lane, const TensorMemory& tensor, TensorAddress at,
               const Chunk& chunk, TensorCells& cells) {
  for (unsigned c = 0; c < kChunkColumns; ++c) {
    const TensorAddress cell{at.lane, at.column + c};
    std::string why;
    if (!is_cell(tensor, cell, why)) {
      report_tensor(warp, lane_bit(lane), why);
      return;
    }
    PendingStore::StoredCell out{.value = 0,
                                 .lane = static_cast<std::uint16_t>(cell.lane),
                                 .column = static_cast<std::uint16_t>(cell.column),
                                 .bytes = 0x0F};
    for (unsigned b = 0; b < 4; ++b) {
      out.value |= std::uint32_t{chunk.bytes[4 * c + b]} << (8 * b);
      if (chunk.undefined[4 * c + b]) out.undefined |= static_cast<std::uint8_t>(1U << b);
    }
    cells.push_back(out);
  }
}

/// What one copy does in one CTA.
struct Copy {
  Cta* cta = nullptr;
  std::vector<ByteRun> sources;
  TensorCells cells;
};

Copy read_copy(Warp& warp, const Op& op, unsigned lane, Cta& cta, TensorAddress base,
               const MatrixDescriptor& source) {
  Copy copy{.cta = &cta, .sources = {}, .cells = {}};
  const TensorMemory& tensor = tensor_of(cta);
  const auto& how = op.as<CopyOp>();
  for (unsigned row = 0; row < how.rows; ++row) {
    for (unsigned byte = 0; byte < op.bytes; byte += kChunk) {
      const ByteRun run = find_run(warp, cta.shared.base + source.k_major(row, byte / kChunk), lane,
                                   kChunk, AccessKind::Read, Space::SharedCluster);
      const Chunk chunk = expanded(chunk_of(read_run(warp, run, lane, kChunk)), how.format);
      OriginId origin = 0;
      if (run.region != nullptr) {
        copy.sources.push_back(run);
        if (std::ranges::find(chunk.undefined, true) != chunk.undefined.end())
          origin = origin_in(warp, *run.region, run.address - run.region->base, lane);
      }
      for (const unsigned to : lanes_of(how.spread, row)) {
        const TensorAddress at{base.lane + to, base.column + byte / 4};
        add_cells(warp, lane, tensor, at, chunk, copy.cells);
        for (unsigned c = 0; origin != 0 && c < kChunkColumns; ++c)
          set_origin_in_tensor(warp, cta, {at.lane, at.column + c}, origin);
      }
    }
  }
  return copy;
}

// --- work of the tensor core ---------------------------------------------------------------------

// Work of the lane that precedes a number, in order.
void do_work(Warp& warp, unsigned lane, std::uint32_t before) {
  std::vector<TensorWork> due;
  for (TensorWork& work : warp.pending.tensor_work) {
    if (work.lane != lane || work.number >= before) continue;
    due.push_back(work);
    work.deliver = nullptr;
  }
  std::erase_if(warp.pending.tensor_work,
                [](const TensorWork& work) { return work.deliver == nullptr; });
  for (const TensorWork& work : due) {
    const ActingFor acting(warp, work.op);
    work.deliver();
  }
}

// The tensor core is about to write these cells, and has written them.
void check_fences(Warp& warp, unsigned lane, const Cta& cta, const TensorCells& cells) {
  FenceTracker* fences = warp.unit->fences.get();
  if (fences == nullptr) return;
  for (const PendingStore::StoredCell& cell : cells) {
    fences->check_cell(warp, lane, cta.rank, cell.lane * kTensorColumns + cell.column,
                       TensorUse::Copy);
  }
}
void finish_cells(Warp& warp, Cta& cta, const TensorCells& cells) {
  write_cells(tensor_of(cta), cells);
  FenceTracker* fences = warp.unit->fences.get();
  if (fences == nullptr) return;
  for (const PendingStore::StoredCell& cell : cells)
    fences->used_cell(warp, cta.rank, cell.lane * kTensorColumns + cell.column, TensorUse::Copy);
}

void run_copy(Warp& warp, const Op& op) {
  use_value(warp, op.p[0], warp.exec);
  const auto* descriptors = warp.source<std::uint64_t>(op.p[0]);
  for_each_lane(warp.exec, [&](unsigned l) {
    const TensorAddress base = tensor_address_in(warp, op.address, l);
    for (Cta* cta : cta_group(warp, op.as<CopyOp>().is_pair)) {
      Copy copy = read_copy(warp, op, l, *cta, base, MatrixDescriptor::of_tcgen05(descriptors[l]));
      check_fences(warp, l, *cta, copy.cells);
      mark_cells(warp, tensor_of(*cta), copy.cells);
      for (const ByteRun& run : copy.sources) {
        mark_shared(warp, *run.region, run.address, run.bytes, l, AsyncUse::Read);
      }
      const std::uint64_t held = copy.cells.size() * sizeof(PendingStore::StoredCell) +
                                 copy.sources.size() * sizeof(ByteRun);
      add_tensor_work(warp, l, held, [&warp, copy = std::move(copy)] {
        for (const ByteRun& run : copy.sources) {
          unmark_shared(warp, *run.region, run.address, run.bytes, AsyncUse::Read);
        }
        finish_cells(warp, *copy.cta, copy.cells);
      });
    }
  });
}

// Row i of the 32 goes to row i + 1; the first stays as it is.
TensorCells shifted(TensorMemory& tensor, TensorAddress base) {
  TensorCells cells;
  for (unsigned row = 1; row < kWindow; ++row) {
    for (unsigned c = 0; c < kShiftColumns; ++c) {
      const unsigned from = base.lane + row - 1;
      cells.push_back({.value = tensor.at(from, base.column + c),
                       .lane = static_cast<std::uint16_t>(base.lane + row),
                       .column = static_cast<std::uint16_t>(base.column + c),
                       .bytes = 0x0F,
                       .undefined = tensor.undefined_at(from, base.column + c)});
    }
  }
  return cells;
}

bool can_shift(Warp& warp, unsigned lane, const TensorMemory& tensor, TensorAddress base) {
  if (base.lane % kWindow != 0) {
    report_tensor(
        warp, lane_bit(lane),
        fmt::format("lane {} of the address is not a multiple of {}", base.lane, kWindow));
    return false;
  }
  std::string why;
  for (unsigned c = 0; c < kShiftColumns; ++c) {
    if (is_cell(tensor, {base.lane, base.column + c}, why)) continue;
    report_tensor(warp, lane_bit(lane), why);
    return false;
  }
  return true;
}

void run_shift(Warp& warp, const Op& op) {
  for_each_lane(warp.exec, [&](unsigned l) {
    const TensorAddress base = tensor_address_in(warp, op.address, l);
    for (Cta* cta : cta_group(warp, op.as<PairOp>().is_pair)) {
      TensorMemory& tensor = tensor_of(*cta);
      if (!can_shift(warp, l, tensor, base)) continue;
      const TensorCells cells = shifted(tensor, base);
      check_fences(warp, l, *cta, cells);
      mark_cells(warp, tensor, cells);
      // What is moved is what is there then, from work that was started before.
      add_tensor_work(warp, l, 0, [&warp, cta, base] {
        finish_cells(warp, *cta, shifted(tensor_of(*cta), base));
      });
    }
  });
}

// --- commit --------------------------------------------------------------------------------------

void commit_to(Warp& warp, unsigned lane, std::uint64_t mbarrier) {
  check_signalled(warp, mbarrier, lane_bit(lane));
  const std::uint32_t before = warp.pending.tensor_issued;
  start_job(warp, lane, {.mbarrier = mbarrier, .deliver = [=, &warp] {
                           do_work(warp, lane, before);
                           Mbarrier* barrier = find_mbarrier(*warp.unit, mbarrier);
                           if (barrier != nullptr)
                             arrive_on(warp, *barrier, mbarrier, lane,
                                       {.lanes = lane_bit(lane), .fences_tensor = true});
                         }});
}

// Without a state space the address is generic, and below the windows of all spaces it names nothing.
// Compilers that widen an address of shared memory to 64 bits rely on the tensor core, which takes
// the low 32 bits of either: the mbarrier is found, and the opcode accused.
std::uint64_t as_generic(Warp& warp, unsigned lane, std::uint64_t address) {
  if (address >= kSharedWindow) return address;
  if (warp.is_new(Check::Space))
    warp.report_at(Check::Space, lane_bit(lane), address + kSharedWindow,
                   fmt::format("the generic address 0x{:x} is in no state space; as an address of "
                               "shared memory it needs `.shared::cluster` in the opcode, or "
                               "`cvta.shared.u64`",
                               address));
  return address + kSharedWindow;
}

void run_commit(Warp& warp, const Op& op) {
  LaneAddresses all = used_addresses(warp, op);
  for_each_lane(warp.exec, [&](unsigned l) { all[l] = as_generic(warp, l, all[l]); });
  const bool is_multicast = op.p[0].present();
  if (is_multicast) use_value(warp, op.p[0], warp.exec);
  for_each_lane(warp.exec, [&](unsigned l) {
    if (!is_multicast) {
      commit_to(warp, l, all[l]);
      return;
    }
    const std::uint16_t mask = warp.source<std::uint16_t>(op.p[0])[l];
    for (std::uint64_t rank = 0; rank < 16; ++rank) {
      if (((mask >> rank) & 1U) == 0) continue;
      commit_to(warp, l, in_cta(all[l], rank));
    }
  });
}

Spread spread_in(const Decode& in) {
  const auto named = in.word("multicast")
                         .as<Spread>({{"warpx2::02_13", Spread::Pairs02},
                                      {"warpx2::01_23", Spread::Pairs01},
                                      {"warpx4", Spread::All}});
  return named.value_or(in.word("shape") == "4x256b" ? Spread::Windows : Spread::Rows);
}

bool is_pair(const Decode& in) { return in.word("group") == "cta_group::2"; }

}  // namespace

bool decode_tensor_copy(Decode& in) {
  const Word shape = in.word("shape");
  in.op.flags = kTracksItself;
  in.function().program().uses_async_proxy = true;
  const auto format =
      in.word("src").as<Format>({{"b6x16_p32", Format::Packed6}, {"b4x16_p64", Format::Packed4}});
  const auto rows = shape.as<std::uint8_t>({{"4x256b", 4}, {"32x128b", 32}, {"64x128b", 64}});
  in.op.set(CopyOp{is_pair(in), spread_in(in), format.value_or(Format::Bytes), rows.value_or(128)});
  in.op.bytes = shape.is_one_of({"128x256b", "4x256b"}) ? 32 : 16;
  in.op.address = in.address(0);
  return in.runs(run_copy, {in.source(1)});
}

bool decode_tensor_shift(Decode& in) {
  in.tracks_itself(run_shift);
  in.op.set(PairOp{is_pair(in)});
  in.op.address = in.address(0);
  return true;
}

bool decode_tensor_commit(Decode& in) {
  in.tracks_itself(run_commit);
  in.op.address = cluster_address(in, 0);
  if (in.has("multicast")) in.op.p[0] = in.source(1);
  return true;
}

}  // namespace ww::sim
