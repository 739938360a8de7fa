# B = 2 * A, line by line through a ring of stages in shared memory: one warp fills the stages, three empty
# them. Two barriers for each stage say when it is full and when it is empty; a thread keeps the stage and the
# phase of its barriers in a PipelineState. The producer's first round finds all stages empty, which the offset
# of the phase of `empty` says.
#
#   warpwright run examples/pipeline.py --expect 'B == 2 * A'
#   warpwright run examples/pipeline.py --device eval --expect 'B == 2 * A'
from tvm.backend.cuda.lang import Pipeline, PipelineState, WarpRole
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid


def build(lines=12, n=128, stages=4, consumers=3):
    of_line = TileLayout(S[(32, n // 32) : (1 @ laneid, 1)])

    @T.prim_func
    def pipeline(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (lines, n), "float32")
        B = T.match_buffer(B_ptr, (lines, n), "float32")
        T.device_entry()
        T.cta_id([1])
        warp = T.warp_id([1 + consumers])
        T.lane_id([32])
        pool = T.SMEMPool()
        ring = pool.alloc((stages, n), "float32")
        pipe = Pipeline(
            pool, stages, full="mbar", empty="mbar", init_full=32, init_empty=32, empty_phase_offset=1
        )
        pool.commit()
        T.cuda.cta_sync()
        line = T.alloc_buffer((n,), "float32", scope="local", layout=of_line)
        at = PipelineState(stages, 0)
        with WarpRole(warp, 0):
            for i in range(lines):
                pipe.empty.wait(at.stage, at.phase)
                Tx.warp.copy(ring[at.stage, :], A[i, :])
                pipe.full.arrive(at.stage)
                at.advance()
        if warp > 0:
            for i in range(lines):
                if i % consumers == warp - 1:
                    pipe.full.wait(at.stage, at.phase)
                    Tx.warp.copy(line, ring[at.stage, :])
                    Tx.warp.add(line, line, line)
                    Tx.warp.copy(B[i, :], line)
                    pipe.empty.arrive(at.stage)
                at.advance()

    return pipeline


kernel = build()
