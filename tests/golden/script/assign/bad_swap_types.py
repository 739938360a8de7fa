@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = 1
    x = A.data
    x = A
    x = "text"
#--- expected
bad_swap_types.py:7:9: error: cannot convert `handle(float32)` to `int32` [BadType]
        x = A.data
            ^~~~~~
