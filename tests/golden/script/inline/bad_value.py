@T.inline
def put(B):
    B[0, 0] = 1.0

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = put(A)
    A[0, 0] = x
#--- expected
bad_value.py:10:9: error: this call returns nothing, expected a value [BadType]
        x = put(A)
            ^~~~~~
