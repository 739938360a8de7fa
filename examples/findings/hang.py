# A consumer that never says that a stage is empty again: the producer fills both stages and then waits
# forever (docs/guide/barriers.md).
#
#   warpwright run examples/findings/hang.py
from tvm.backend.cuda.lang import Pipeline, PipelineState, WarpRole


@T.prim_func
def hang(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (4, 32), "float32")
    B = T.match_buffer(B_ptr, (4, 32), "float32")
    T.device_entry()
    T.cta_id([1])
    warp = T.warp_id([2])
    lane = T.lane_id([32])
    pool = T.SMEMPool()
    ring = pool.alloc((2, 32), "float32")
    pipe = Pipeline(pool, 2, full="mbar", empty="mbar", init_full=32, init_empty=32, empty_phase_offset=1)
    pool.commit()
    T.cuda.cta_sync()
    at = PipelineState(2, 0)
    with WarpRole(warp, 0):
        for i in range(4):
            pipe.empty.wait(at.stage, at.phase)
            ring[at.stage, lane] = A[i, lane]
            pipe.full.arrive(at.stage)
            at.advance()
    with WarpRole(warp, 1):
        for i in range(4):
            pipe.full.wait(at.stage, at.phase)
            B[i, lane] = ring[at.stage, lane]
            at.advance()
