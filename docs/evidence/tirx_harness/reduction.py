# The sum of each row of A, by halving through shared memory. Right.
from tvm.script import tirx as T


@T.prim_func
def reduction(A: T.Buffer((4, 256), "float32"), B: T.Buffer((4,), "float32")):
    T.device_entry()
    row = T.cta_id([4])
    thread = T.thread_id([256])
    pool = T.SMEMPool()
    part = pool.alloc((256,), "float32")
    pool.commit()
    part[thread] = A[row, thread]
    T.cuda.cta_sync()
    for i in T.unroll(8):
        if thread < 128 >> i:
            part[thread] = part[thread] + part[thread + (128 >> i)]
        T.cuda.cta_sync()
    if thread == 0:
        B[row] = part[0]
