@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x: T.float32[4] = 1.0
    y: T.let
    z: T.int32[tx]
#--- expected
bad_array_value.py:6:23: error: an initial value for the array `x`, which cannot have one [BadBuffer]
        x: T.float32[4] = 1.0
                          ^~~
bad_array_value.py:7:5: error: `y` is immutable and has no value [NotBound]
        y: T.let
        ^~~~~~~~
