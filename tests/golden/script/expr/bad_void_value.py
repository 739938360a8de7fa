@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.cuda.cta_sync()
    A[0, 0] = T.cuda.warp_sync()
    y = T.cuda.printf("x") + 1
#--- expected
bad_void_value.py:6:9: error: this call returns nothing, expected a value [BadType]
        x = T.cuda.cta_sync()
            ^~~~~~~~~~~~~~~~~
bad_void_value.py:7:15: error: this call returns nothing, expected a value [BadType]
        A[0, 0] = T.cuda.warp_sync()
                  ^~~~~~~~~~~~~~~~~~
bad_void_value.py:8:9: error: `+` of `void` and `int32` [BadType]
        y = T.cuda.printf("x") + 1
            ^~~~~~~~~~~~~~~~~~~~~~
