@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = A[0, 0] % 3
    y = A[0, 0] // 3
#--- expected
bad_mod_float.py:6:9: error: `%` of `float32` [BadType]
        x = A[0, 0] % 3
            ^~~~~~~~~~~
  note: `//` and `%` are for integers
bad_mod_float.py:7:9: error: `//` of `float32` [BadType]
        y = A[0, 0] // 3
            ^~~~~~~~~~~~
  note: `//` and `%` are for integers
