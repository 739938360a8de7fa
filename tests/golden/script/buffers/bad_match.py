@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.match_buffer(tx, (4,), "float32")
    y = T.match_buffer(A, (4,), "float32")
    z = T.match_buffer(n, (4,), "float32")
#--- expected
bad_match.py:6:24: error: `T.match_buffer` of `int32`, expected a parameter of type `T.handle` [BadArgument]
        x = T.match_buffer(tx, (4,), "float32")
                           ^~
bad_match.py:7:24: error: `T.match_buffer` of buffer, expected a parameter of type `T.handle` [BadArgument]
        y = T.match_buffer(A, (4,), "float32")
                           ^
bad_match.py:8:24: error: `T.match_buffer` of `int32`, expected a parameter of type `T.handle` [BadArgument]
        z = T.match_buffer(n, (4,), "float32")
                           ^
