# There is one arena only.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    pool = T.SMEMPool()
    x = pool.alloc((8, 8), "float32")
    pool.commit()
    more = T.SMEMPool()
    y = more.alloc((8, 8), "float32")
    more.commit()
#--- expected
bad_shared_two.py:10:12: error: `more` is a second allocation of shared.dyn; `pool` is the only one there can be [BadBuffer]
        more = T.SMEMPool()
               ^~~~~~~~~~~~
bad_shared_two.py:7:12: note: declared here
        pool = T.SMEMPool()
               ^~~~~~~~~~~~
