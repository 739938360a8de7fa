# B = 2 * A, line by line through a ring of four stages: a warp that fills them, and three that take turns to
# empty them. Right.
from tvm.backend.cuda.lang import Pipeline, PipelineState
from tvm.script import tirx as T


@T.prim_func
def roles(A: T.Buffer((24, 32), "float32"), B: T.Buffer((24, 32), "float32")):
    T.device_entry()
    T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    pool = T.SMEMPool()
    ring = pool.alloc((4, 32), "float32")
    pipe = Pipeline(pool, 4, full="mbar", empty="mbar", init_full=32, init_empty=32, empty_phase_offset=1)
    pool.commit()
    T.cuda.cta_sync()
    at = PipelineState(4, 0)
    if warp == 0:
        for i in range(24):
            pipe.empty.wait(at.stage, at.phase)
            ring[at.stage, lane] = A[i, lane]
            pipe.full.arrive(at.stage)
            at.advance()
    else:
        for i in range(24):
            if i % 3 == warp - 1:
                pipe.full.wait(at.stage, at.phase)
                B[i, lane] = 2 * ring[at.stage, lane]
                pipe.empty.arrive(at.stage)
            at.advance()
