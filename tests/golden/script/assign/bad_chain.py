@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = y = 1
    A[0, 0] = x + y
#--- expected
bad_chain.py:6:9: error: found a second `=`, expected one assignment per statement in a kernel [Syntax]
        x = y = 1
            ^
