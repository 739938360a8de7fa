// SPDX-License-Identifier: Apache-2.0
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
#include <vector>

#include "eval/cta/report.h"
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/ptx/operands.h"
#include "eval/ptx/run.h"
#include "eval/sync/async_copies.h"

namespace ww::eval {
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
