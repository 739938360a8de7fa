@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    for i in range(4):
        T.device_entry()
    tx = T.thread_id([32])
#--- expected
bad_entry_in_loop.py:5:9: error: `T.device_entry()` inside of a block, expected at the top of the kernel [BadScopeIds]
            T.device_entry()
            ^~~~~~~~~~~~~~~~
