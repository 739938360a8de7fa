# Places of elements whose coordinates are known at run time.
from tvm.tirx.layout import S, TileLayout, ComposeLayout, laneid

FRAG = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])
SW = ComposeLayout(3, 3, 3, TileLayout(S[(8, 64)]))

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    at = FRAG.apply(tx, 3, shape=(16, 8))
    A[at["laneid"] % 16, at["m"]] = 1.0
    sw = SW.apply(tx * 8)
    A[0, sw["m"] % 16] = 2.0
    one = FRAG.apply(5)
    A[one["laneid"], one["m"]] = 3.0
