# A tile of tensor memory by its address and its type.
from tvm.script import tirx as T
from tvm.tirx.layout import S, TCol, TileLayout, TLane

LANES = TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)])


@T.function
def f(A: T.Tensor((128, 32), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=128))
    t = T.cuda.thread_in_warpgroup()
    addr = T.alloc_shared([1], "uint32")
    a = T.cuda.decl_tmem(addr[0], ty_args=[T.Tensor((128, 32), "float32", scope="tmem", layout=LANES)])
    b = T.cuda.decl_tmem(addr[0] + 32, ty_args=[T.Tensor((128, 32), layout=LANES)])
    R = T.wg_reg_tile(32, "float32")
    T.cuda.tile.tcgen05.ld(R, a, scope="warpgroup")
    T.cuda.tile.tcgen05.st(b, R, scope="warpgroup")
    word: T.uint32
    T.ptx["tcgen05.ld.sync.aligned.32x32b.x1.b32"](word, T.cuda.get_tmem_addr(T.cast(T.reinterpret(a.data, ty="uint64"), "uint32"), 0, 1))
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, TLane, TCol, tid_in_wg

@T.prim_func
def f(A: T.Buffer((128, 32))):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    t = T.thread_id_in_wg()
    addr = T.alloc_shared((1,), "uint32")
    a = T.decl_buffer((128, 32), scope="tmem", allocated_addr=addr[0], layout=TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)]))
    b = T.decl_buffer((128, 32), scope="tmem", allocated_addr=addr[0] + T.uint32(32), layout=TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)]))
    R_1 = T.alloc_buffer((128, 32), scope="local", layout=TileLayout(S[(128, 32) : (1 @ tid_in_wg, 1)]))
    Tx.wg.copy_async(R_1[0:128, 0:32], a[0:128, 0:32], dispatch="tcgen05_ldst")
    Tx.wg.copy_async(b[0:128, 0:32], R_1[0:128, 0:32], dispatch="tcgen05_ldst")
    word: T.uint32
    T.ptx.tcgen05.ld(T.Cast("uint32", T.Cast("uint64", addr[0])), 0, 1, "32x32b", 1, False, word)
