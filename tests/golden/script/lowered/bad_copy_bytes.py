@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16,), layout=None)
    T.device_entry()
    x = T.launch_thread("threadIdx.x", 32)
    T.cuda.copy_bytes(A.data, A.data, 3)
    T.cuda.copy_bytes(A.data, 1, 16)
    T.cuda.copy_bytes(A.data, A.data, x)
#--- expected
bad_copy_bytes.py:6:39: error: `bytes` of `T.cuda.copy_bytes` is 3, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        T.cuda.copy_bytes(A.data, A.data, 3)
                                          ^
  note: it takes `T.cuda.copy_bytes(dst, src, bytes)`
bad_copy_bytes.py:7:31: error: `src` of `T.cuda.copy_bytes` is `int32`, expected a pointer [BadType]
        T.cuda.copy_bytes(A.data, 1, 16)
                                  ^
  note: it takes `T.cuda.copy_bytes(dst, src, bytes)`
bad_copy_bytes.py:8:39: error: `bytes` of `T.cuda.copy_bytes` is known at run time only, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        T.cuda.copy_bytes(A.data, A.data, x)
                                          ^
  note: it takes `T.cuda.copy_bytes(dst, src, bytes)`
