# A swizzle by its numbers.
from tvm.tirx.layout import S, TileLayout, ComposeLayout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    s0 = T.alloc_shared((8, 64), "float16", layout=ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]), swizzle_inner=True))
    s1 = T.alloc_shared((8, 64), "float16", layout=T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[8, 64]), swizzle_inner=False))
    s0[tx % 8, 0] = s1[0, 0]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    s0 = T.alloc_buffer((8, 64), "float16", scope="shared", layout=ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)])))
    s1 = T.alloc_buffer((8, 64), "float16", scope="shared", layout=ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]), swizzle_inner=False))
    s0[tx % 8, 0] = s1[0, 0]
