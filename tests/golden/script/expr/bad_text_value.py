@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    s = "abc"
    A[0, 0] = "abc"
    x = tx + "abc"
    A[0, 0] = None
#--- expected
bad_text_value.py:7:15: error: cannot convert `text` to `float32` [BadType]
        A[0, 0] = "abc"
                  ^~~~~
bad_text_value.py:8:9: error: `+` of `int32` and `text` [BadType]
        x = tx + "abc"
            ^~~~~~~~~~
bad_text_value.py:9:15: error: None as a value of the kernel, expected a number or an expression [BadType]
        A[0, 0] = None
                  ^~~~
