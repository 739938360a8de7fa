from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


# A lane of tensor memory belongs to a thread.
@T.prim_func
def kernel(A: T.Buffer((128, 32), "float32"), B: T.Buffer((128, 32), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.warpgroup_id([1])
    T.warp_id_in_wg([4])
    T.lane_id([32])
    pool = T.SMEMPool()
    address = pool.alloc((1,), "uint32")
    pool.commit()
    tmem = T.TMEMPool(pool, total_cols=32, tmem_addr=address)
    t = tmem.alloc((128, 32), "float32")
    tmem.commit()
    x = T.alloc_local((128, 32), "float32", layout="auto")
    y = T.alloc_local((128, 32), "float32", layout="auto")
    Tx.wg.copy(x, A)
    Tx.wg.copy_async(t, x)
    T.ptx.tcgen05.wait.st()
    Tx.wg.copy_async(y, t)
    T.ptx.tcgen05.wait.ld()
    Tx.wg.add(y, y, x)
    Tx.wg.copy(B, y)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, TLane, TCol, tid_in_wg

@T.prim_func
def kernel(A: T.Buffer((128, 32)), B: T.Buffer((128, 32))):
    T.device_entry()
    T.cta_id([1])
    T.warpgroup_id([1])
    T.warp_id_in_wg([4])
    T.lane_id([32])
    pool = T.alloc_buffer((4,), "uint8", scope="shared.dyn")
    address = T.decl_buffer((1,), "uint32", data=pool.data, scope="shared.dyn")
    t = T.decl_buffer((128, 32), scope="tmem", allocated_addr=address[0], layout=TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)]))
    warp = T.warp_id()
    if warp == 0:
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(address[0]), T.uint32(32))
        T.cuda.warp_sync()
    x = T.alloc_buffer((128, 32), scope="local", layout=TileLayout(S[(128, 32) : (1 @ tid_in_wg, 1)]))
    y = T.alloc_buffer((128, 32), scope="local", layout=TileLayout(S[(128, 32) : (1 @ tid_in_wg, 1)]))
    Tx.wg.copy(x[0:128, 0:32], A[0:128, 0:32])
    Tx.wg.copy_async(t[0:128, 0:32], x[0:128, 0:32])
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    Tx.wg.copy_async(y[0:128, 0:32], t[0:128, 0:32])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.add(y[0:128, 0:32], y[0:128, 0:32], x[0:128, 0:32])
    Tx.wg.copy(B[0:128, 0:32], y[0:128, 0:32])
