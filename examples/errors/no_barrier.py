# One thread writes a number and the others read it without a barrier: docs/reference/language.md.
#
#   warpwright run examples/errors/no_barrier.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A: T.Buffer((16, 128), "float32"), B: T.Buffer((16, 128), "float32"), n: T.Buffer((1,), "int32")):
    T.device_entry()
    t = T.thread_id([128])
    rows = T.alloc_buffer((1,), "int32", scope="shared")
    if t == 0:
        rows[0] = n[0] // 2
    for i in range(rows[0]):
        Tx.cta.copy(B[i, :], A[i, :])
