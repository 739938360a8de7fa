# Views whose extents are read from memory: copies fill and clip at the view's end, rows are as long as
# the view says, and an index counts by its extents.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A_ptr: T.handle, n_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle, D_ptr: T.handle):
    A = T.match_buffer(A_ptr, (2, 32, 32), "float32")
    n = T.match_buffer(n_ptr, (4,), "int32")
    B = T.match_buffer(B_ptr, (2, 32, 32), "float32")
    C = T.match_buffer(C_ptr, (2, 1024), "float32")
    D = T.match_buffer(D_ptr, (2, 64), "float32")
    T.device_entry()
    b = T.cta_id([2])
    t = T.thread_id([64])
    rows: T.let = n[b] % 32
    columns: T.let = n[b + 2] % 31 + 1
    S = T.alloc_buffer((16, 16), "float32", scope="shared")
    A_n = T.decl_buffer((rows, 32), "float32", data=A.data, elem_offset=b * 1024)
    B_n = T.decl_buffer((rows, 32), "float32", data=B.data, elem_offset=b * 1024)
    C_n = T.decl_buffer((rows + 1, columns), "float32", data=C.data, elem_offset=b * 1024)
    for i in range(2):
        Tx.cta.copy(S, A_n[i * 16 : i * 16 + 16, 8:24], fill_value=1)
        T.cuda.cta_sync()
        Tx.cta.copy(B_n[i * 16 : i * 16 + 16, 8:24], S, clip=True)
        Tx.cta.copy(C_n[i * 16 : i * 16 + 16, i * 16 : i * 16 + 16], S, clip=True)
        T.cuda.cta_sync()
    D[b, t] = 0
    if t < columns and t < 16:
        D[b, t] = C_n[0, t]
