@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    return 3
    return tx
#--- expected
bad_return_value.py:6:12: error: `return` of int, expected nothing or 0: a kernel has no result [BadType]
        return 3
               ^
bad_return_value.py:7:12: error: `return` of expression, expected nothing or 0: a kernel has no result [BadType]
        return tx
               ^~
