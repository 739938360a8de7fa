// SPDX-License-Identifier: Apache-2.0
// Tensor memory: its allocation, and tcgen05.ld and .st, by which register r of lane l is a cell of
// it. What each bit of the two numbers adds to the cell's lane and column: `kTmemMoves` below.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "eval/cta/report.h"
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/ptx/instruction.h"
#include "eval/ptx/run.h"
#include "eval/sync/async_copies.h"

namespace ww::eval {
namespace {

struct TmemCell {
  std::int64_t lane = 0;
  std::int64_t column = 0;
};

// A shape of tcgen05.ld and .st. Bit b of a lane's number adds `lanes[b]`, bit b of a register's
// `registers[b]` for the first two bits, and `rest` columns, doubled from bit to bit, for others.
struct TmemMove {
  TmemShape shape;
  std::array<TmemCell, 5> lanes;
  std::array<TmemCell, 2> registers;
  std::int64_t rest;
  std::int64_t first_lanes = 16;  // a move begins at a multiple of it
  bool is_split = false;          // lanes from 16 on add a number to the address
};

// clang-format off
constexpr TmemMove kTmemMoves[] = {
    {TmemShape::By32x32b,   {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}}}, {{{0, 1}, {0, 2}}}, 4, 32},
    {TmemShape::By16x64b,   {{{8, 0}, {0, 1}, {1, 0}, {2, 0}, {4, 0}}},  {{{0, 2}, {0, 4}}}, 8},
    {TmemShape::By16x128b,  {{{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}}},  {{{8, 0}, {0, 4}}}, 8},
    {TmemShape::By16x256b,  {{{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}},  {{{0, 1}, {8, 0}}}, 8},
    {TmemShape::By16x32bx2, {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 0}}},  {{{0, 1}, {0, 2}}}, 4, 16, true},
};
// clang-format on

const TmemMove& move_of(TmemShape shape) {
  return *std::find_if(std::begin(kTmemMoves), std::end(kTmemMoves),
                       [&](const TmemMove& move) { return move.shape == shape; });
}

TmemCell cell_of(const TmemMove& move, std::size_t lane, std::size_t reg) {
  TmemCell out;
  const auto add = [&](std::size_t number, std::size_t bit, const TmemCell& step) {
    if ((number >> bit & 1) == 0) return;
    out.lane += step.lane;
    out.column += step.column;
  };
  for (std::size_t b = 0; b < move.lanes.size(); ++b) add(lane, b, move.lanes[b]);
  for (std::size_t b = 0; b < move.registers.size(); ++b) add(reg, b, move.registers[b]);
  out.column += static_cast<std::int64_t>(reg >> move.registers.size()) * move.rest;
  return out;
}

TmemCell address_cell(std::uint32_t address) { return {address >> 16, address & 0xffff}; }

bool is_legal_count(Word columns) {
  return columns >= 32 && columns <= static_cast<Word>(kTmemColumns) &&
         std::has_single_bit(columns);
}

Agent warp_agent(Threads warp) {
  return {AgentKind::Warp, static_cast<std::uint16_t>(warp[0] / kWarp)};
}

// The address of a load or store, the same in all lanes, at a multiple of `step` lanes. A warp
// reaches its own quarter only; an address in the first one stands for the same lanes of it.
std::uint32_t tmem_address(Cta& cta, const ir::PtxOperand& operand, std::int64_t step,
                           Threads warp) {
  Words addresses = ptx_int(cta, operand, warp);
  if (operand.offset.valid()) {
    const Words offsets = evaluate(cta, operand.offset, warp);
    for (std::size_t i = 0; i < warp.size(); ++i)
      addresses[i] += static_cast<Word>(as_int(cta.type_of(operand.offset), offsets[i]));
  }
  for (Word& address : addresses) address &= low_mask(32);
  const auto address = static_cast<std::uint32_t>(addresses[0]);
  const std::int64_t lane = address_cell(address).lane;
  const std::int64_t first = warp[0] / kTmemQuarter % 4 * kTmemQuarter;
  std::string why;
  if (std::any_of(addresses.begin(), addresses.end(), [&](Word a) { return a != addresses[0]; }))
    why = "names different addresses in its lanes";
  else if (lane / kTmemQuarter != 0 && lane / kTmemQuarter != first / kTmemQuarter)
    why = fmt::format("names lane {} of tensor memory: its lanes begin at {}", lane, first);
  else if (lane % step != 0)
    why = fmt::format("names lane {} of tensor memory, expected a multiple of {}", lane, step);
  if (!why.empty())
    describe(finding(cta, Check::Tensor), "{} of {} {}", agent_text(warp_agent(warp)),
             cta_text(cta), why);
  const std::int64_t own = lane % kTmemQuarter / step * step;
  return static_cast<std::uint32_t>(first + own) << 16 | (address & 0xffff);
}

// Cell of a register, if it is one that the warp reaches.
Element tmem_cell(Cta& cta, std::uint32_t address, std::int64_t lane, std::int64_t column,
                  Thread t) {
  const TmemCell base = address_cell(address);
  const TmemCell at{base.lane + lane, base.column + column};
  Element out =
      element_at({cta.launch.tmem, at.lane * kTmemLaneBits + at.column * kRegisterBits}, t);
  if (at.column >= kTmemColumns || at.lane / kTmemQuarter != t / kTmemQuarter % 4) {
    out.at.root = kNoRoot;
    describe(
        finding(cta, Check::Tensor),
        "{} of {} reaches for lane {}, column {} of tensor memory: it has lanes {} to {} and {} "
        "columns",
        thread_text(t), cta_text(cta), at.lane, at.column, t / kTmemQuarter % 4 * kTmemQuarter,
        t / kTmemQuarter % 4 * kTmemQuarter + kTmemQuarter - 1, kTmemColumns);
  }
  return out;
}

// The registers that a load will write.
void add_register_transfers(Cta& cta, AsyncCopy& copy, const ir::PtxOperand& operand, Threads warp,
                            const Contents& values) {
  each_target(cta, operand, warp, kRegisterBits, [&](std::size_t i, const Element& to, int bits) {
    if (is_reachable(cta, to, bits)) copy.transfers.push_back({to, bits, values[i].part(0, bits)});
  });
}

/// One tcgen05.ld or .st of a warp, register by register.
class TmemTransfer {
 public:
  TmemTransfer(Cta& cta, const PtxInstruction& ptx, Threads warp)
      : cta_(cta),
        ptx_(ptx),
        warp_(warp),
        move_(move_of(ptx.tmem_shape)),
        is_load_(ptx.kind == PtxKind::TmemLoad) {}

  void run() {
    const std::size_t others = move_.is_split ? 2 : 1;  // operands that are not registers
    const std::size_t count = ptx_.operand_count() - others;
    const std::size_t where = is_load_ ? count : 0;
    base_ = tmem_address(cta_, ptx_.operand(where), move_.first_lanes, warp_);
    if (move_.is_split)
      split_ = static_cast<std::uint32_t>(ptx_int(cta_, ptx_.operand(where + 1), warp_)[0]);
    AsyncCopy copy{.kind = is_load_ ? AsyncKind::TmemLoad : AsyncKind::TmemStore,
                   .agent = warp_agent(warp_)};
    for (std::size_t r = 0; r < count; ++r) add_register(copy, r, is_load_ ? r : others + r);
    start_copy(cta_, std::move(copy), warp_);
  }

 private:
  void add_register(AsyncCopy& copy, std::size_t reg, std::size_t operand) {
    Contents values = is_load_ ? empty_contents(cta_, warp_.size())
                               : ptx_content(cta_, ptx_.operand(operand), warp_, kRegisterBits);
    for (std::size_t i = 0; i < warp_.size(); ++i) add_cells(copy, reg, i, values);
    if (is_load_) add_register_transfers(cta_, copy, ptx_.operand(operand), warp_, values);
  }

  // The cell of a lane's register, or the two that are packed in it.
  void add_cells(AsyncCopy& copy, std::size_t reg, std::size_t i, Contents& values) {
    const Thread t = warp_[i];
    const int bits = ptx_.is_packed ? kHalfBits : kRegisterBits;
    const std::int64_t parts = ptx_.is_packed ? 2 : 1;
    const std::size_t lane = t % kWarp;
    const std::uint32_t address = base_ + (lane >= kWarp / 2 ? split_ : 0);
    const TmemCell at = cell_of(move_, lane, reg);
    for (std::int64_t part = 0; part < parts; ++part) {
      const Element cell = tmem_cell(cta_, address, at.lane, at.column * parts + part, t);
      const auto shift = static_cast<unsigned>(kHalfBits * part);
      if (!cell.at.exists() || !is_reachable(cta_, cell, bits)) continue;
      if (is_load_) {
        values.add(i, read(cta_, cell, bits, access_of(cta_, t)), shift);
        copy.sources.emplace_back(cell, bits);
      } else {
        copy.transfers.push_back({cell, bits, values[i].part(shift, bits)});
      }
    }
  }

  Cta& cta_;
  const PtxInstruction& ptx_;
  Threads warp_;
  const TmemMove& move_;
  bool is_load_;
  std::uint32_t base_ = 0;
  std::uint32_t split_ = 0;  // added to the address of lanes from 16 on
};

}  // namespace

void ptx_tmem_alloc(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  each_warp(ts, [&](Threads warp) {
    const std::vector<Address> addresses = ptx_address(cta, ptx.operand(0), warp);
    const Word columns = ptx_int(cta, ptx.operand(1), warp)[0] & low_mask(32);
    const auto report = [&](std::string_view why) {
      describe(finding(cta, Check::Tensor), "{} asks for {} columns of tensor memory{}",
               cta_text(cta), columns, why);
    };
    if (cta.tmem.is_relinquished) report(" after `tcgen05.relinquish_alloc_permit`");
    if (!is_legal_count(columns)) {
      report(", expected 32, 64, 128, 256 or 512");
      return;
    }
    std::array<bool, kTmemColumns>& used = cta.tmem.is_used;
    std::size_t first = 0;
    const auto is_taken = [&] {
      return std::find(&used[first], &used[first] + columns, true) != &used[first] + columns;
    };
    while (first + columns <= used.size() && is_taken()) first += 32;
    if (first + columns > used.size()) {
      report(", and there are not as many");
      return;
    }
    std::fill_n(&used[first], columns, true);
    cta.tmem.allocations[static_cast<std::uint32_t>(first)] = {static_cast<std::uint32_t>(columns),
                                                               cta.step};
    write(cta, element_at(addresses[0], warp[0]), kRegisterBits, {first, 0},
          access_of(cta, warp[0]));
  });
}

void ptx_tmem_free(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  each_warp(ts, [&](Threads warp) {
    const auto address = static_cast<std::uint32_t>(ptx_int(cta, ptx.operand(0), warp)[0]);
    const Word columns = ptx_int(cta, ptx.operand(1), warp)[0];
    const auto found = cta.tmem.allocations.find(address);
    if (found == cta.tmem.allocations.end() || found->second.columns != columns) {
      describe(finding(cta, Check::Tensor),
               "{} gives back {} columns of tensor memory at {:#x}, which were not allocated so",
               cta_text(cta), columns, address);
      return;
    }
    std::fill_n(cta.tmem.is_used.begin() + address, columns, false);
    if (cta.launch.tmem != kNoRoot)
      for (std::size_t lane = 0; lane < static_cast<std::size_t>(kTmemLanes); ++lane)
        storage_of(cta, cta.launch.tmem)
            .forget(lane * kTmemLaneBits / 8 + address * 4U, columns * 4);
    cta.tmem.allocations.erase(found);
  });
}

void ptx_tmem_relinquish(Cta& cta, const PtxInstruction& /*ptx*/, Threads /*ts*/) {
  cta.tmem.is_relinquished = true;
}

void ptx_tmem_move(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  each_warp(ts, [&](Threads warp) { TmemTransfer(cta, ptx, warp).run(); });
}

void ptx_tmem_wait(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const bool is_load = ptx.kind == PtxKind::TmemWaitLoad;
  wait_tmem(cta, is_load ? AsyncKind::TmemLoad : AsyncKind::TmemStore, ts);
}

// --- copies --------------------------------------------------------------------------------------
//
// tcgen05.cp of R rows of 16 or 32 bytes. A descriptor says where byte k of row r is; 16-byte units
// of the address are exchanged by a swizzle of w = 32, 64 or 128 bytes, unit number bits 0 to 2
// being XORed with bits 3 to 5 as far as w has units:
//
//   bits 0-13, 16-29, 32-45   start, leading and stride offset, in units of 16 bytes
//   bits 61-63                0: row r % 8 follows at once, 16 bytes on; 6, 4, 2: w = 32, 64, 128,
//                             and it follows after w bytes
//
// Groups of 8 rows are a stride offset apart, the halves of 32 bytes a leading offset when nothing
// is swizzled.

namespace {

constexpr std::int64_t kChunkBytes = 16;
constexpr std::int64_t kChunkColumns = kChunkBytes * 8 / kRegisterBits;

// The address of half `half` of row `row`.
std::int64_t row_address(Word descriptor, std::int64_t row, std::int64_t half) {
  const auto field = [&](int from) {
    return static_cast<std::int64_t>(descriptor >> from & 0x3fff);
  };
  const auto mode = static_cast<int>(descriptor >> 61);
  const std::int64_t units = mode == 0 ? 1 : mode == 6 ? 2 : mode == 4 ? 4 : 8;
  const std::int64_t unit =
      field(0) + row % 8 * units + row / 8 * field(32) + half * (mode == 0 ? field(16) : 1);
  return (unit ^ (unit / 8 & (units - 1))) * kChunkBytes;
}

std::vector<std::int64_t> lanes_of_row(TensorQuarters quarters, std::int64_t row) {
  const std::int64_t upper = row / kTmemQuarter * 2 * kTmemQuarter;
  const std::int64_t lane = row % kTmemQuarter;
  switch (quarters) {
    case TensorQuarters::One:
      return {row};
    case TensorQuarters::FirstLanes:
      return {row * kTmemQuarter};
    case TensorQuarters::All:
      return {lane, lane + kTmemQuarter, lane + 2 * kTmemQuarter, lane + 3 * kTmemQuarter};
    case TensorQuarters::Pairs02And13:
      return {row, row + 2 * kTmemQuarter};
    case TensorQuarters::Pairs01And23:
      return {upper + lane, upper + kTmemQuarter + lane};
  }
  return {};
}

// 16 bytes of shared memory to four columns of a lane.
void add_tensor_chunk(Cta& cta, AsyncCopy& copy, Address from, std::int64_t lane,
                      std::int64_t column, Thread t) {
  for (std::int64_t c = 0; c < kChunkColumns; ++c) {
    const Element source = element_at(from + c * kRegisterBits, t);
    Element cell =
        element_at({cta.launch.tmem, lane * kTmemLaneBits + (column + c) * kRegisterBits}, t);
    if (lane >= kTmemLanes || column + c >= kTmemColumns) cell.at.root = kNoRoot;
    const Content content = read(cta, source, kRegisterBits, access_of(cta, t));
    if (is_reachable(cta, source, kRegisterBits)) copy.sources.emplace_back(source, kRegisterBits);
    if (is_reachable(cta, cell, kRegisterBits))
      copy.transfers.push_back({cell, kRegisterBits, content});
  }
}

}  // namespace

void ptx_tensor_commit(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const std::vector<Address> addresses = ptx_address(cta, ptx.operand(0), ts);
  for (std::size_t i = 0; i < ts.size(); ++i) commit_tensor(cta, addresses[i], ts[i]);
}

void ptx_tensor_copy(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const Words addresses = ptx_int(cta, ptx.operand(0), ts);
  const Words descriptors = evaluate(cta, ptx.operand(1).expr, ts);
  const auto [rows, halves, quarters] = ptx.tensor_copy;
  for (std::size_t i = 0; i < ts.size(); ++i) {
    if (descriptors[i] >> 61 & 1)
      return stop(cta, DiagKind::NotEvaluated,
                  fmt::format("`tcgen05.cp` with swizzle mode {}", descriptors[i] >> 61));
    AsyncCopy copy{.kind = AsyncKind::Tensor, .agent = thread_agent(ts[i])};
    const auto base = static_cast<std::int64_t>(addresses[i] & low_mask(32));
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t half = 0; half < halves; ++half) {
        // Descriptors have no rank: they are about the CTA's own memory.
        const auto place = static_cast<Word>(row_address(descriptors[i], row, half));
        const Word from = window_address_in(cta, place, rank_of(cta));
        for (const std::int64_t lane : lanes_of_row(quarters, row))
          add_tensor_chunk(cta, copy, shared_address(cta, static_cast<std::uint32_t>(from)),
                           (base >> 16) + lane, (base & 0xffff) + half * kChunkColumns, ts[i]);
      }
    start_copy(cta, std::move(copy), ts.subspan(i, 1));
  }
}

}  // namespace ww::eval
