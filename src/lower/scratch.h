// SPDX-License-Identifier: Apache-2.0
// Shared memory that lowered code uses for itself, between barriers of its unit: values that go from
// warp to warp. Calls share it. There is one buffer for each kind of unit and width of element, as
// large as the largest call needs, and allocated where the kernel begins.
//
// Warpgroups may be at different calls, so each has elements of its own: element i of warpgroup g of
// n is element i·n + g of the buffer, whatever the call. Code that uses scratch memory has this order:
//
//     barrier of the unit       the unit has read what an earlier call, or round, put there
//     what goes to other threads
//     barrier of the unit
//     what comes from other threads
//
// A call with a `workspace=` uses the caller's buffer in the same way instead: all units share it.
//
// Or its elements lie side by side, from a 16-byte boundary on (a *piece*), for vectors. Units that
// share a buffer need pieces of one size there, so that each size has its own; a CTA's do not.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/call.h"
#include "lower/lowering_report.h"

namespace ww::lower {

inline constexpr std::int64_t kScratchAlign = 16;  // bytes

/// Units of the CTA that share a buffer: all warps, all warpgroups, or the one CTA.
std::int64_t scratch_units(const Call& call);

/// May the call have a workspace? Reductions, scans and copies between registers may hand values from
/// thread to thread.
bool takes_workspace(const Call& call);

/// Declines a workspace that shares memory with an operand.
Match<void> check_workspace(const Call& call);

/// "shared memory", or the name of the workspace.
std::string scratch_text(const Call& call);

/// Declines where part of the unit may be elsewhere, so that a barrier would wait for ever, and
/// where that many elements per unit do not fit into static shared memory any more, or into the
/// workspace.
Match<void> check_scratch(const Call& call, num::DType dtype, std::int64_t elements);

/// A view of that many elements per unit in the buffer, declared at the end of the block.
ir::BufferId scratch_view(const Call& call, CodeWriter& code, num::DType dtype,
                          std::int64_t elements);

/// Element `index` of the unit, in such a view.
ir::ExprId scratch_index(const Call& call, CodeWriter& code, ir::ExprId index);

/// The same for pieces, of a whole number of 16 bytes.
Match<void> check_scratch_piece(const Call& call, num::DType dtype, std::int64_t elements);

struct ScratchPiece {
  ir::BufferId view;  // of all units
  ir::ExprId start;   // of the unit in it; none: 0
};

ScratchPiece scratch_piece(const Call& call, CodeWriter& code, num::DType dtype,
                           std::int64_t elements);

/// Of a reduction of a cluster: `own` elements between the warps of a CTA, and `received` elements that
/// the CTAs of the cluster write into each other's memory. Calls share the former, because each has a
/// barrier of the cluster behind its last access there. The latter is of one call only: what stands
/// there is read behind the call's barrier, so that another call's writes would need a further one. A
/// call that is made again needs that barrier, unless another is between (Call::may_repeat).
///
/// A call with mbarriers has both for itself: one mbarrier if it is made once, two if it takes turns,
/// which a register counts.
struct ClusterScratch {
  ir::BufferId own = {}, received = {};
  std::int64_t first = 0;  // of the received elements, in their view
  ir::BufferId mbarrier = {};
  ir::BufferId turns = {};
};

Match<void> check_cluster_scratch(const Call& call, num::DType dtype, std::int64_t own,
                                  std::int64_t received, std::int64_t mbarriers);

ClusterScratch cluster_scratch(const Call& call, CodeWriter& code, num::DType dtype,
                               std::int64_t own, std::int64_t received, std::int64_t mbarriers);

/// Adds to a report what goes through scratch memory between warps: how often a thread writes and reads
/// it, and its size, of so many elements per unit.
void report_scratch(PlanReport& report, const Call& call, num::DType dtype, std::int64_t written,
                    std::int64_t read, std::int64_t elements);

/// The barrier of the call's unit, a single thread has none. Warpgroups have the named barriers from
/// kFirstBarrier on.
inline constexpr std::int64_t kFirstBarrier = 8;

void write_barrier(const Call& call, CodeWriter& code);

/// The buffer's row, or nullptr where it is no scratch memory of the call.
const ScratchBuffer* find_scratch(const Call& call, ir::BufferId storage);

/// Allocates the buffers in front of the body, and begins what counts turns with 0.
void allocate_scratch(Context& context);

// --- clusters ------------------------------------------------------------------------------------

// What a kernel needs around code in which the CTAs of a cluster write into each other's shared memory
// (lower/reduce/cluster.cpp).

/// Which calls are in loops, and of these the calls that may be made twice with no barrier of the cluster
/// between: unless `T.cuda.cluster_sync()` stands in the same block, so that one is executed whenever the
/// other is.
class RepeatedCalls {
 public:
  explicit RepeatedCalls(const ir::Function& function);
  [[nodiscard]] bool may_repeat(ir::StmtId tile) const { return may_repeat_[tile.index]; }
  [[nodiscard]] bool is_in_loop(ir::StmtId tile) const { return is_in_loop_[tile.index]; }

 private:
  void visit(const ir::Function& f, const ir::Block& block, bool is_in_loop);
  bool jumps_ = false;  // `break`, `continue` or `return` may leave a statement out
  std::vector<bool> may_repeat_, is_in_loop_;
};

}  // namespace ww::lower
