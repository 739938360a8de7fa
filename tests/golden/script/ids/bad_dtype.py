@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32], dtype="float32")
    A[0, 0] = 1.0
#--- expected
bad_dtype.py:5:34: error: an id of type `float32`, expected an integer [BadType]
        tx = T.thread_id([32], dtype="float32")
                                     ^~~~~~~~~
