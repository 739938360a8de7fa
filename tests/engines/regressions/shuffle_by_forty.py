# Of the amount of a shuffle the low five bits count.
from tvm.script import tirx as T


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32, 9), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    mask = T.uint32(0xFFFFFFFF)
    B[tid, 0] = T.cuda.shfl_sync(mask, tid, 40)
    B[tid, 1] = T.cuda.shfl_up_sync(mask, tid, 40)
    B[tid, 2] = T.cuda.shfl_down_sync(mask, tid, 40)
    B[tid, 3] = T.cuda.shfl_xor_sync(mask, tid, 40)
    B[tid, 4] = T.cuda.shfl_sync(mask, tid, -3)
    B[tid, 5] = T.cuda.shfl_up_sync(mask, tid, -3)
    B[tid, 6] = T.cuda.shfl_down_sync(mask, tid, -3)
    B[tid, 7] = T.cuda.shfl_xor_sync(mask, tid, 24, 8)
    B[tid, 8] = T.cuda.shfl_down_sync(mask, tid, 33, 8)
