# B = 2 * A for an A of any size, through a ring of stages in shared memory: one thread of a producer warp has
# the copy engine fill the stages, a warpgroup empties them. Rows and columns outside A are filled with zeros
# by the engine, at no cost; B is clipped.
#
# `full` hears of the bytes of a stage, and `empty` of the 128 consumers. All phases begin at 0; the producer
# waits for the phase before the first one, which is complete (`empty_phase_offset`).
#
# On targets without a copy engine the producer's thread copies by cp.async (`copy_engine_fallback`).
#
#   warpwright run examples/tma_pipeline.py --arg m=100 --arg n=200 --expect 'B == 2 * A'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid, warpid


def build(rows=32, columns=64, stages=4):
    owned = TileLayout(S[(4, rows // 4, 32, columns // 32) : (1 @ warpid, columns // 32, 1 @ laneid, 1)])

    @T.prim_func
    def tma_pipeline(A_ptr: T.handle, B_ptr: T.handle):
        m = T.int32()
        n = T.int32()
        A = T.match_buffer(A_ptr, (m, n), "float32")
        B = T.match_buffer(B_ptr, (m, n), "float32")
        T.func_attr({"copy_engine_fallback": "cp_async"})
        T.device_entry()
        by = T.cta_id([T.ceildiv(m, rows)])
        warp = T.warp_id([5])
        lane = T.lane_id([32])
        pool = T.SMEMPool()
        ring = pool.alloc((stages, rows, columns), "float32", align=1024)
        pipe = T.Pipeline(
            pool, stages, full="tma", empty="mbar", init_full=1, init_empty=128, empty_phase_offset=1
        )
        pool.commit()
        T.ptx.fence.mbarrier_init()
        T.cuda.cta_sync()
        y: T.let = by * rows
        if warp == 4:
            if lane == 0:
                at = T.PipelineState(stages, 0)
                for i in range(T.ceildiv(n, columns)):
                    pipe.empty.wait(at.stage, at.phase)
                    pipe.full.arrive(at.stage, tx_count=rows * columns * 4)
                    Tx.copy_async(
                        ring[at.stage, :, :],
                        A[y : y + rows, i * columns : i * columns + columns],
                        mbar=pipe.full.ptr_to([at.stage]),
                        fill_value=0,
                    )
                    at.advance()
        else:
            at = T.PipelineState(stages, 0)
            tile = T.alloc_buffer((rows, columns), "float32", scope="local", layout=owned)
            for i in range(T.ceildiv(n, columns)):
                pipe.full.wait(at.stage, at.phase)
                Tx.wg.copy(tile, ring[at.stage, :, :])
                T.ptx.fence.proxy_async("shared::cta")  # the loads have ended before the stage is filled again
                pipe.empty.arrive(at.stage)
                Tx.wg.add(tile, tile, tile)
                Tx.wg.copy(B[y : y + rows, i * columns : i * columns + columns], tile, clip=True)
                at.advance()

    return tma_pipeline


kernel = build()
