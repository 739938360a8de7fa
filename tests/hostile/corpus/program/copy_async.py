# Asynchronous copies.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy_async(S0, A, dispatch="ldgsts")
    T.ptx.cp_async.commit_group()
    T.ptx.cp_async.wait_group(0)
    Tx.warp.permute_layout(S0, S0)
