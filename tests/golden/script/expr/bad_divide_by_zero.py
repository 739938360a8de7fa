@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = tx // 0
    y = tx % 0
    A[0, 0] = A[0, 0] / 0
#--- expected
bad_divide_by_zero.py:6:9: error: `//` by 0 [BadArgument]
        x = tx // 0
            ^~~~~~~
bad_divide_by_zero.py:7:9: error: `%` by 0 [BadArgument]
        y = tx % 0
            ^~~~~~
