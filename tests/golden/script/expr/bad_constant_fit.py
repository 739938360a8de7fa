@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x: T.int8 = 200
    y: T.uint8 = -1
    z = tx + 4294967296
    w: T.let = T.int32(2147483648)
    h: T.let = T.float16(1e6)
#--- expected
bad_constant_fit.py:6:17: error: the constant 200 does not fit `int8` [BadType]
        x: T.int8 = 200
                    ^~~
bad_constant_fit.py:7:18: error: the constant -1 does not fit `uint8` [BadType]
        y: T.uint8 = -1
                     ^~
bad_constant_fit.py:8:9: error: `+` of `int32` and the constant 4294967296, which `int32` does not hold [BadType]
        z = tx + 4294967296
            ^~~~~~~~~~~~~~~
bad_constant_fit.py:9:16: error: the constant 2147483648 does not fit `int32` [BadType]
        w: T.let = T.int32(2147483648)
                   ^~~~~~~~~~~~~~~~~~~
bad_constant_fit.py:10:16: error: the constant 1000000 does not fit `float16` [BadType]
        h: T.let = T.float16(1e6)
                   ^~~~~~~~~~~~~~
  note: the largest `float16` is 65504
