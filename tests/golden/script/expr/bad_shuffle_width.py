from tvm.script import tirx as T


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.cuda.shfl_sync(T.uint32(0xFFFFFFFF), tid, 40, 12)
#--- expected
bad_shuffle_width.py:10:62: error: a width of 12 lanes, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        B[tid] = T.cuda.shfl_sync(T.uint32(0xFFFFFFFF), tid, 40, 12)
                                                                 ^~
