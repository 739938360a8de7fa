// SPDX-License-Identifier: Apache-2.0
#include "script/api/kernel_classes.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace ww::script {
namespace {

constexpr std::string_view kNames[] = {"MBarrier", "TMABar",        "TCGen05Bar", "Pipeline",
                                       "WarpRole", "WarpgroupRole", "Scheduler",  "GroupMajor3D"};

// A role says when it holds and what it does first; `with role:` makes the branch.
constexpr std::string_view kText = R"py(from tvm.script import tirx as T


class PipelineState:
    # Where a thread is in a ring of stages: the stage, and the phase of its barriers.
    def __init__(self, depth, phase=None):
        self.depth = depth
        self.stage = T.local_scalar("int32")
        self.phase = T.local_scalar("int32")
        if phase is not None:
            self.init(phase)

    @T.inline
    def init(self, phase):
        self.stage = 0
        self.phase = phase

    @T.inline
    def advance(self):
        if self.depth == 1:
            self.phase = self.phase ^ 1
        else:
            self.stage = self.stage + 1
            if self.stage == self.depth:
                self.stage = 0
                self.phase = self.phase ^ 1


class MBarrier:
    # One mbarrier for each stage, in a pool of shared memory.
    def __init__(self, pool, depth, phase_offset=0, leader=None):
        self.buf = pool.alloc((depth,), "uint64", align=8)
        self.depth = depth
        self.phase_offset = phase_offset
        self.leader = T.cuda.thread_rank() == 0 if leader is None else leader

    @T.inline
    def init(self, count):
        if self.leader:
            for stage in T.unroll(self.depth):
                T.ptx.mbarrier.init(self.buf.ptr_to([stage]), count)

    @T.inline
    def wait(self, stage, phase):
        T.cuda.mbarrier_wait(self.buf.ptr_to([stage]), phase ^ self.phase_offset if self.phase_offset != 0 else phase)

    @T.inline
    def arrive(self, stage, remote=None, pred=None, count=None):
        T.ptx.mbarrier.arrive(self.buf.ptr_to([stage]), remote=remote, pred=pred, count=count)

    def ptr_to(self, index):
        return self.buf.ptr_to(index)


class TMABar(MBarrier):
    # Bytes complete a phase: the arrival says how many to expect.
    @T.inline
    def arrive(self, stage, tx_count=None, remote=None, pred=None):
        if tx_count is None:
            T.ptx.mbarrier.arrive(self.buf.ptr_to([stage]), remote=remote, pred=pred)
        else:
            T.ptx.mbarrier.arrive.expect_tx(self.buf.ptr_to([stage]), tx_count, remote=remote, pred=pred)


class TCGen05Bar(MBarrier):
    # Products and copies of tensor memory arrive when they are done; one thread says so.
    @T.inline
    def arrive(self, stage, cta_group=1, cta_mask=None, pred=None):
        T.ptx.tcgen05.commit(self.buf.ptr_to([stage]), cta_group, cta_mask, pred=pred)


_BARRIERS = {"mbar": MBarrier, "tma": TMABar, "tcgen05": TCGen05Bar}


class Pipeline:
    # For each stage of a ring a barrier that says it is full, and one that says it is empty.
    def __init__(self, pool, stages, full, empty, init_full=1, init_empty=1, empty_phase_offset=0, leader=None):
        for kind in (full, empty):
            assert kind in _BARRIERS, f"a barrier of kind {kind!r}, expected 'mbar', 'tma' or 'tcgen05'"
        self.stages = stages
        self.full = _BARRIERS[full](pool, stages, leader=leader)
        self.full.init(init_full)
        self.empty = _BARRIERS[empty](pool, stages, phase_offset=empty_phase_offset, leader=leader)
        self.empty.init(init_empty)


class WarpRole:
    # `with role:` is for one warp, which first takes or gives back registers.
    def __init__(self, warp_id_var, warp_id_val, regs=None, increase=False):
        self.warp_id_var = warp_id_var
        self.warp_id_val = warp_id_val
        self.regs = regs
        self.increase = increase

    def role_holds(self):
        return self.warp_id_var == self.warp_id_val

    @T.inline
    def role_begins(self):
        if self.regs is not None:
            T.ptx.setmaxnreg(self.increase, self.regs)


class WarpgroupRole:
    # The same for a warpgroup, or for those from a first to before a last.
    def __init__(self, wg_id_var, wg_id_val, regs=None, increase=False):
        self.wg_id_var = wg_id_var
        self.wg_id_val = wg_id_val
        self.regs = regs
        self.increase = increase

    def role_holds(self):
        if isinstance(self.wg_id_val, tuple):
            first, last = self.wg_id_val
            return T.And(first <= self.wg_id_var, self.wg_id_var < last)
        return self.wg_id_var == self.wg_id_val

    @T.inline
    def role_begins(self):
        if self.regs is not None:
            T.ptx.setmaxnreg(self.increase, self.regs)
)py";

}  // namespace

std::string_view kernel_class_text() {
  static const std::string text = std::string(kText) + std::string(tile_scheduler_text());
  return text;
}

bool names_kernel_class(std::string_view text) {
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return text.contains(name); });
}

}  // namespace ww::script
