@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    p = A.data
    x = p + 1
    y = A.ptr_to([0, 0]) * 2
    A[0, 0] = p
#--- expected
bad_pointer_arith.py:7:9: error: `+` of `handle(float32)` and `int32` [BadType]
        x = p + 1
            ^~~~~
  note: `B.ptr_to([i])` and `T.ptr_byte_offset(p, bytes)` give addresses
bad_pointer_arith.py:8:9: error: `*` of `handle(float32)` and `int32` [BadType]
        y = A.ptr_to([0, 0]) * 2
            ^~~~~~~~~~~~~~~~~~~~
  note: `B.ptr_to([i])` and `T.ptr_byte_offset(p, bytes)` give addresses
bad_pointer_arith.py:9:15: error: cannot convert `handle(float32)` to `float32` [BadType]
        A[0, 0] = p
                  ^
