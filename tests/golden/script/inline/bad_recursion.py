@T.inline
def loop(B):
    loop(B)

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    loop(A)
#--- expected
bad_recursion.py:3:5: error: inline functions call each other without end [Budget]
        loop(B)
        ^~~~~~~
