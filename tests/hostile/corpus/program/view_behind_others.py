@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (128, 64), "float32")
    T.device_entry()
    tid = T.thread_id([128])
    smem = T.SMEMPool()
    x = smem.alloc((8, 8), "float16", align=128)
    y = smem.alloc((4, 4), "float16", align=128)
    y[0, 0] = T.float16(1)
    smem.commit()
    A[0, tid % 8] = T.float32(1)
