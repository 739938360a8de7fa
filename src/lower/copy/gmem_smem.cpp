// SPDX-License-Identifier: Apache-2.0
// copy / gmem_smem: between global and shared memory, shared and shared, global and global. No
// operand says who moves what, so the threads of the unit share the tile out among them.
//
// The tile is cut into vectors that lie contiguous and aligned on both sides, the widest possible.
// The vectors are put in the order of the global side's addresses (the destination's when there is
// none or two), and vector f·T + u goes to thread u in round f: neighbours in a warp touch
// neighbours in memory. When the vectors do not divide by T, the last round is guarded.
//
//     Tx.cta.copy(A_smem[0:128, 0:32], A[0:128, 0:32])          float16, 128 threads
//
//     for f in range(4):
//         src_ptr = T.pointer_offset(T.address_of(A[0]), f * 1024 + threadIdx_x * 8)
//         dst_ptr = T.pointer_offset(T.address_of(A_smem[0]), f * 1024 + threadIdx_x * 8)
//         T.cuda.copy_bytes(dst_ptr, src_ptr, 16)
//
// No barrier: the caller waits before others read.
#include <algorithm>

#include "lower/copy/vectors.h"
#include "lower/variant.h"

namespace ww::lower {
namespace {

struct Plan {
  CopyProblem problem;
  Phase phase;
};

Match<Plan> match(const Call& call) {
  if (call.tile.scope == ir::Unit::Cluster)
    return decline("scope", "{} scope, expected thread, warp, warpgroup or cta",
                   ir::name_of(call.tile.scope));
  const auto scope = [&](std::size_t i) { return call.f()[call.region(i).buffer].scope; };
  for (const std::size_t i : {0U, 1U})
    if (scope(i) != ir::Scope::Global && !ir::is_shared(scope(i)))
      return decline("memory_pair", "{} to {}, expected global or shared memory on both sides",
                     ir::name_of(scope(1)), ir::name_of(scope(0)));
  if (auto good = check_workers(call); !good) return std::unexpected(std::move(good).error());
  auto problem = copy_problem(call);
  if (!problem) return std::unexpected(std::move(problem).error());
  for (const std::int64_t bytes : access_widths(call, *problem))
    if (auto phase = shared_out_phase(call, *problem, bytes))
      return Plan{*std::move(problem), *std::move(phase)};
  if (problem->dst.bits < 8)
    return decline("sub_byte", "elements of {} bits do not pair up to whole bytes on both sides",
                   problem->dst.bits);
  return decline("irregular", "no formula of round and thread gives the {} places of both sides",
                 problem->dst.size());
}

void emit(const Plan& plan, const Call& call, Code& code) {
  PhaseWriter(call, plan.problem, code).write(plan.phase);
}

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = phases_report(call, plan.problem, {plan.phase});
  out.summary =
      fmt::format("{}-bit vectors, {} round{} of {} thread{}", out.vector_bits, out.rounds,
                  out.rounds == 1 ? "" : "s", out.threads, out.threads == 1 ? "" : "s");
  const std::int64_t idle = plan.phase.threads - out.threads;
  if (idle > 0)
    out.notes.push_back(
        fmt::format("{} of {} threads have nothing to do", idle, plan.phase.threads));
  if (plan.phase.count != 0)
    out.notes.push_back(fmt::format("the last round is done by {} of {} threads",
                                    plan.phase.count % plan.phase.threads, plan.phase.threads));
  return out;
}

}  // namespace

constinit const Variant kCopyGmemSmem = variant<Plan, match, emit, report>(
    {.op = ir::TileOp::Copy,
     .name = "gmem_smem",
     .aliases = "vec_auto",
     .about = "the threads of the unit share out a tile between two memories"});

}  // namespace ww::lower
