@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = (tx < 3) + 1
    y = -(tx < 3)
    A[0, 0] = (tx < 3) * A[0, 1]
#--- expected
bad_bool_number.py:6:9: error: `+` of `bool` [BadType]
        x = (tx < 3) + 1
            ^~~~~~~~~~~~
  note: a condition as a number: `T.cast(x, "int32")`
bad_bool_number.py:7:9: error: `-` of `bool` [BadType]
        y = -(tx < 3)
            ^~~~~~~~~
  note: a condition as a number: `T.cast(x, "int32")`
bad_bool_number.py:8:15: error: `*` of `bool` and `float32` [BadType]
        A[0, 0] = (tx < 3) * A[0, 1]
                  ^~~~~~~~~~~~~~~~~~
  note: convert one side: `T.cast(x, dtype)`
