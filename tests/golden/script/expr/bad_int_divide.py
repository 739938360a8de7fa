@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = tx / 4
    y = T.int64(3) / tx
    A[0, 0] = x + y
#--- expected
bad_int_divide.py:6:9: error: `/` of `int32` [BadType]
        x = tx / 4
            ^~~~~~
  note: `/` divides floats; `//` is integer division, rounding down
bad_int_divide.py:7:9: error: `/` of `int64` [BadType]
        y = T.int64(3) / tx
            ^~~~~~~~~~~~~~~
  note: `/` divides floats; `//` is integer division, rounding down
