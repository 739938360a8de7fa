@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0.5, 0] = 1.0
    A["x", 0] = 1.0
    A[A[0, 0], 0] = 1.0
    x = A[None]
    y = A[tx < 3, 0]
#--- expected
bad_index_types.py:6:5: error: `float32` where an integer is needed [BadType]
        A[0.5, 0] = 1.0
        ^~~~~~~~~
bad_index_types.py:7:5: error: `text` where an integer is needed [BadType]
        A["x", 0] = 1.0
        ^~~~~~~~~
bad_index_types.py:8:5: error: `float32` where an integer is needed [BadType]
        A[A[0, 0], 0] = 1.0
        ^~~~~~~~~~~~~
bad_index_types.py:9:9: error: None as a value of the kernel, expected a number or an expression [BadType]
        x = A[None]
            ^~~~~~~
bad_index_types.py:10:9: error: `bool` where an integer is needed [BadType]
        y = A[tx < 3, 0]
            ^~~~~~~~~~~~
