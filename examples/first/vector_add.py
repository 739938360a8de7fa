# C = A + B, one element per thread; n need not be a multiple of the block.
#
#   warpwright run examples/first/vector_add.py --expect 'C == A + B'
#   warpwright run examples/first/vector_add.py --kernel 'build(n=4096, threads=256)' --expect 'C == A + B'
from tvm.script import tirx as T


def build(n=1000, threads=128):
    @T.prim_func
    def vector_add(A: T.Buffer((n,), "float32"), B: T.Buffer((n,), "float32"), C: T.Buffer((n,), "float32")):
        T.device_entry()
        block = T.cta_id([T.ceildiv(n, threads)])
        thread = T.thread_id([threads])
        i: T.let = block * threads + thread
        if i < n:
            C[i] = A[i] + B[i]

    return vector_add


kernel = build()
