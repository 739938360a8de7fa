# One arena of dynamic shared memory: pieces side by side, swizzled tiles, and space used twice.
from tvm.tirx.layout import S, TileLayout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64, 64), "float16")
    T.device_entry()
    tx = T.thread_id([128])
    pool = T.SMEMPool()
    flag = pool.alloc((1,), "uint8")
    addr = pool.alloc((1,), "uint32")
    bars = pool.alloc([4], "uint64", align=8)
    padded = pool.alloc((8, 8), "float32", layout=TileLayout(S[(8, 8) : (12, 1)]))
    pool.move_base_to(1024)
    As = pool.alloc_mma((64, 64), "float16")
    here = T.meta_var(pool.offset)
    Bs = pool.alloc_mma((2, 8, 32), "float16", swizzle_mode="64B")
    pool.move_base_to(here)
    Cs = pool.alloc((64, 64), align=128)
    pool.commit()
    Tx.cta.copy(As[:, :], A[:, :])
    Cs[tx // 64, tx % 64] = T.cast(pool.max_offset, "float32")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64, 64), "float16")
    T.device_entry()
    tx = T.thread_id([128])
    pool = T.alloc_buffer((25600,), "uint8", scope="shared.dyn", align=1024)
    flag = T.decl_buffer((1,), "uint8", data=pool.data, scope="shared.dyn")
    addr = T.decl_buffer((1,), "uint32", data=pool.data, byte_offset=4, scope="shared.dyn")
    bars = T.decl_buffer((4,), "uint64", data=pool.data, byte_offset=8, scope="shared.dyn")
    padded = T.decl_buffer((8, 8), data=pool.data, byte_offset=40, scope="shared.dyn", layout=TileLayout(S[(8, 8) : (12, 1)]))
    As = T.decl_buffer((64, 64), "float16", data=pool.data, byte_offset=1024, scope="shared.dyn", layout=ComposeLayout(3, 3, 3, TileLayout(S[4096 : 1])))
    Bs = T.decl_buffer((2, 8, 32), "float16", data=pool.data, byte_offset=9216, scope="shared.dyn", layout=ComposeLayout(3, 2, 3, TileLayout(S[512 : 1])))
    Cs = T.decl_buffer((64, 64), data=pool.data, byte_offset=9216, scope="shared.dyn")
    Tx.cta.copy(As[0:64, 0:64], A[0:64, 0:64])
    Cs[tx // 64, tx % 64] = T.float32(25600.0)
