# Nobody says how large it is.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    pool = T.SMEMPool()
    x = pool.alloc((8, 8), "float32")
    x[0, 0] = A[0, 0]
#--- expected
bad_shared_open.py:7:12: error: `pool` is never committed, so it has no size [BadBuffer]
        pool = T.SMEMPool()
               ^~~~~~~~~~~~
  note: `.commit()` follows the last `.alloc`
