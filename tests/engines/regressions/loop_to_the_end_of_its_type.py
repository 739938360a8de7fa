# The last value of the loop is the greatest of its type; with a step, the end lies behind it.
from tvm.script import tirx as T


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32, 2), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    count: T.int32 = 0
    for i in T.serial(2147483640 + tid % 4, 2147483647):
        count = count + i % 7
    B[tid, 0] = count
    count = 0
    for i in T.serial(2147483600, 2147483647, step=5):
        count = count * 3 + i % 11
    B[tid, 1] = count
