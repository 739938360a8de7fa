// SPDX-License-Identifier: Apache-2.0
// Shared by the instructions on tensor memory: finding cells, and writing them late.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/checks/origins.h"
#include "sim/decode/decoder.h"
#include "sim/memory/tensor_memory.h"
#include "sim/run/unit.h"
#include "sim/run/warp.h"

namespace ww::sim {

/// An address of tensor memory: the lane in the upper half, the column in the lower.
struct TensorAddress {
  std::uint32_t lane = 0, column = 0;
};
constexpr TensorAddress tensor_address(std::uint32_t bits) { return {bits >> 16U, bits & 0xFFFFU}; }

/// The tensor memory of a CTA; made when it is first needed.
TensorMemory& tensor_of(Cta& cta);

/// Adds a finding under Check::Tensor, or counts up the one that this op has made before.
void report_tensor(Warp& warp, Mask who, const std::string& text);

/// Whether the cell exists in memory that is allocated; if not, `why` says what is wrong.
bool is_cell(const TensorMemory& tensor, TensorAddress at, std::string& why);

/// Where the undefined bytes of a cell come from, which the running op reads; and of those that it writes.
OriginId origin_in_tensor(Warp& warp, const Cta& cta, TensorAddress at);
void set_origin_in_tensor(Warp& warp, const Cta& cta, TensorAddress at, OriginId before);

/// The CTAs that an instruction with .cta_group::1 or ::2 works on: this one, and its peer.
std::vector<Cta*> cta_group(Warp& warp, bool is_pair);

using TensorCells = std::vector<PendingStore::StoredCell>;
/// Marks cells that are to be written by the running op.
void mark_cells(Warp& warp, TensorMemory& tensor, const TensorCells& cells);
/// Writes them.
void write_cells(TensorMemory& tensor, const TensorCells& cells);

/// The address that a lane names, of that number in Program::addresses.
TensorAddress tensor_address_in(Warp& warp, std::uint32_t address, unsigned lane);
/// Adds to what the tensor core does for this lane, in order, until a tcgen05.commit behind it is
/// waited for. `held`: bytes that it keeps, about.
void add_tensor_work(Warp& warp, unsigned lane, std::uint64_t held, std::function<void()> deliver);

/// tcgen05.alloc, tcgen05.dealloc and tcgen05.relinquish_alloc_permit.
bool decode_tensor_alloc(Decode& in);
bool decode_tensor_dealloc(Decode& in);
bool decode_tensor_relinquish(Decode& in);
/// tcgen05.cp, tcgen05.shift and tcgen05.commit.
bool decode_tensor_copy(Decode& in);
bool decode_tensor_shift(Decode& in);
bool decode_tensor_commit(Decode& in);

}  // namespace ww::sim
