@T.prim_func
def f(alpha: T.float32, n: T.int32):
    T.device_entry()
    T.warp_id([1])
    T.lane_id([32])
    A = T.alloc_buffer((16, 16), "float16", scope="local")
    B = T.alloc_buffer((16, 8), "float16", scope="local")
    D = T.alloc_buffer((16, 8), "float32", scope="local")
    Tx.warp.gemm(D, A, B, D, alpha=alpha * T.float32(2), beta=n)
