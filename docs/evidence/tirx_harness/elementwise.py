# C = 2 * A + B, four elements a thread; the last block has threads without work. Right.
from tvm.script import tirx as T


@T.prim_func
def elementwise(A: T.Buffer((4000,), "float32"), B: T.Buffer((4000,), "float32"), C: T.Buffer((4000,), "float32")):
    T.device_entry()
    block = T.cta_id([8])
    thread = T.thread_id([128])
    for i in T.unroll(4):
        if block * 512 + i * 128 + thread < 4000:
            C[block * 512 + i * 128 + thread] = (
                2 * A[block * 512 + i * 128 + thread] + B[block * 512 + i * 128 + thread]
            )
