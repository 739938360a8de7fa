# A product of 8-bit floats with a tile that holds 3 in the end, which an assembler learns only once it has unrolled the loop.
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle):
    A = T.match_buffer(A_ptr, (2, 16, 32), "float8_e5m2")
    B = T.match_buffer(B_ptr, (32, 8), "float8_e5m2")
    C = T.match_buffer(C_ptr, (16, 8), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    a = T.alloc_buffer((16, 32), "float8_e5m2", scope="local", layout=TileLayout(S[(2, 8, 2, 4, 4) : (8, 4 @ laneid, 4, 1 @ laneid, 1)]))
    b = T.alloc_buffer((32, 8), "float8_e5m2", scope="local", layout=TileLayout(S[(2, 4, 4, 8) : (4, 1 @ laneid, 1, 4 @ laneid)]))
    c = T.alloc_buffer((16, 8), "float32", scope="local", layout=TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]))
    Tx.warp.copy(b[:, :], B[:, :])
    for i in T.serial(2):
        Tx.warp.copy(a[:, :], A[i, :, :], fill_value=3, predicate=i % 2 == 0)
    Tx.warp.gemm(c, a, b, c, beta=0.0)
    Tx.warp.copy(C[:, :], c[:, :])
