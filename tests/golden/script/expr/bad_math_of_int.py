@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0] = T.exp(tx)
    x = T.popcount(A[0, 0])
    y = T.isnan(tx)
#--- expected
bad_math_of_int.py:6:21: error: `T.exp` of `int32`, expected a float [BadType]
        A[0, 0] = T.exp(tx)
                        ^~
bad_math_of_int.py:7:20: error: `value` of `T.popcount` is `float32`, expected an integer [BadType]
        x = T.popcount(A[0, 0])
                       ^~~~~~~
  note: it takes `T.popcount(value)`
bad_math_of_int.py:8:17: error: `T.isnan` of `int32`, expected a float [BadType]
        y = T.isnan(tx)
                    ^~
