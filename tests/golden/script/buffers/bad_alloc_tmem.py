@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    t = T.alloc_buffer((128, 8), "float32", scope="tmem")
#--- expected
bad_alloc_tmem.py:6:9: error: `t` is allocated in tensor memory, which a kernel cannot allocate; use `T.decl_buffer` with `allocated_addr` [BadBuffer]
        t = T.alloc_buffer((128, 8), "float32", scope="tmem")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
