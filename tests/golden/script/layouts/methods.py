# What layouts give.
from tvm.tirx.layout import S, TileLayout, laneid

FRAG = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    a0 = T.alloc_local((FRAG.size(),), "float32", layout=FRAG)
    a1 = T.alloc_local((FRAG.storage().span(),), "float32")
    a2 = T.alloc_local((16, 16), "float32", layout=FRAG.tile_to([16, 16], [16, 8]))
    a3 = T.alloc_local((8, 16), "float32", layout=FRAG.permute_dims([1, 0], (16, 8)))
    a4 = T.alloc_local((8, 8), "float32", layout=FRAG.slice((16, 8), [(0, 8), (0, 8)]))
    a5 = T.alloc_local((16, 4), "uint32", layout=FRAG.pack(2))
    a6 = T.alloc_local((16, 16), "uint8", layout=FRAG.unpack(2))
    a7 = T.alloc_local((16, 8), "float32", layout=FRAG.canonicalize())
    a8 = T.alloc_local((32, 8), "float32", layout=FRAG.tile(TileLayout(S[2 : 4]), (2, 1), (16, 8)))
    T.static_assert(FRAG.size() == 128 and FRAG.span() == 4)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    a0 = T.alloc_buffer((128,), scope="local", layout=TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]))
    a1 = T.alloc_local((4,))
    a2 = T.alloc_buffer((16, 16), scope="local", layout=TileLayout(S[(2, 8, 2, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    a3 = T.alloc_buffer((8, 16), scope="local", layout=TileLayout(S[(4, 2, 2, 8) : (1 @ laneid, 1, 2, 4 @ laneid)]))
    a4 = T.alloc_buffer((8, 8), scope="local", layout=TileLayout(S[(1, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]))
    a5 = T.alloc_buffer((16, 4), "uint32", scope="local", layout=TileLayout(S[(2, 8, 4) : (1, 4 @ laneid, 1 @ laneid)]))
    a6 = T.alloc_buffer((16, 16), "uint8", scope="local", layout=TileLayout(S[(2, 8, 4, 2, 2) : (4, 4 @ laneid, 1 @ laneid, 2, 1)]))
    a7 = T.alloc_buffer((16, 8), scope="local", layout=TileLayout(S[(2, 32, 2) : (2, 1 @ laneid, 1)]))
    a8 = T.alloc_buffer((32, 8), scope="local", layout=TileLayout(S[(2, 2, 32, 2) : (16, 2, 1 @ laneid, 1)]))
