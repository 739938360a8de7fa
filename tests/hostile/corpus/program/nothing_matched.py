# A parameter that nothing is matched to: its argument has no bytes.
@T.prim_func
def f(a: T.handle, b: T.handle):
    B = T.match_buffer(b, (32,), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    B[tx] = T.float32(1)
