# A pair of destinations may be left out.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    u: T.uint32
    p: T.bool
    T.ptx.shfl.sync.bfly.b32(u, u, 1, 31, 0xFFFFFFFF)
    T.ptx.shfl.sync.idx.b32(u, p, u, 0, 31, 0xFFFFFFFF)
