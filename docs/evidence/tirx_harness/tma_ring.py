# B = 2 * A through a ring of three stages: one thread has the copy engine (TMA) fill them, a warpgroup
# empties them. Right.
from tvm.backend.cuda.lang import Pipeline, PipelineState
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def tma_ring(A: T.Buffer((64, 256), "float32"), B: T.Buffer((64, 256), "float32")):
    T.device_entry()
    block = T.cta_id([2])
    warp = T.warp_id([5])
    lane = T.lane_id([32])
    pool = T.SMEMPool()
    ring = pool.alloc((3, 32, 32), "float32", align=1024)
    pipe = Pipeline(pool, 3, full="tma", empty="mbar", init_full=1, init_empty=128, empty_phase_offset=1)
    pool.commit()
    T.ptx["fence.mbarrier_init.release.cluster"]()
    T.cuda.cta_sync()
    at = PipelineState(3, 0)
    if warp == 4:
        if lane == 0:
            for i in range(8):
                pipe.empty.wait(at.stage, at.phase)
                pipe.full.arrive(at.stage, tx_count=4096)
                Tx.copy_async(
                    ring[at.stage, :, :],
                    A[block * 32 : block * 32 + 32, i * 32 : i * 32 + 32],
                    dispatch="tma",
                    mbar=pipe.full.ptr_to([at.stage]),
                )
                at.advance()
    else:
        for i in range(8):
            pipe.full.wait(at.stage, at.phase)
            for row in range(8):
                B[block * 32 + warp * 8 + row, i * 32 + lane] = 2 * ring[at.stage, warp * 8 + row, lane]
            T.ptx["fence.proxy.async.shared::cta"]()
            pipe.empty.arrive(at.stage)
            at.advance()
