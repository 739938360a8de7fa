# A warp hands lines to two others through one stage, but only the first of them says that it has seen a line.
# If the second is two lines late, it waits for a phase that has passed, and in the end for one that never
# comes. Wrong: a deadlock, in some orders of the warps only. No data race comes with it.
from tvm.backend.cuda.lang import Pipeline
from tvm.script import tirx as T


@T.prim_func
def uncounted(A: T.Buffer((6, 32), "float32"), B: T.Buffer((6, 32), "float32"), C: T.Buffer((6, 32), "int32")):
    T.device_entry()
    T.cta_id([1])
    warp = T.warp_id([3])
    lane = T.lane_id([32])
    pool = T.SMEMPool()
    stage = pool.alloc((32,), "float32")
    pipe = Pipeline(pool, 1, full="mbar", empty="mbar", init_full=32, init_empty=32, empty_phase_offset=1)
    pool.commit()
    T.cuda.cta_sync()
    if warp == 0:
        for i in range(6):
            pipe.empty.wait(0, i & 1)
            stage[lane] = A[i, lane]
            pipe.full.arrive(0)
    if warp == 1:
        for i in range(6):
            pipe.full.wait(0, i & 1)
            B[i, lane] = stage[lane]
            pipe.empty.arrive(0)
    if warp == 2:
        for i in range(6):
            pipe.full.wait(0, i & 1)  # fault: hang
            C[i, lane] = i
