# Four mistakes in one kernel: each is found and explained.
#
#   warpwright run examples/errors/wrong.py


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32, 8), "float16")
    B = T.match_buffer(B_ptr, (32, 8), "float16")
    T.device_entry()
    T.cta_id([1])
    lane = T.lane_id([32])
    R = T.alloc_bufer((32, 8), "float16", scope="local")
    lane = lane + 1
    half = lane / 2
    B[lane, 8] = A[lane, 0]
