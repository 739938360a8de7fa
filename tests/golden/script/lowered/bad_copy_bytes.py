@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16,), layout=None)
    T.device_entry()
    x = T.launch_thread("threadIdx.x", 32)
    T.cuda.copy_bytes(A.data, A.data, 3)
    T.cuda.copy_bytes(A.data, 1, 16)
    T.cuda.copy_bytes(A.data, A.data, x)
#--- expected
bad_copy_bytes.py:6:39: error: `T.cuda.copy_bytes` of 3 bytes, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        T.cuda.copy_bytes(A.data, A.data, 3)
                                          ^
bad_copy_bytes.py:7:31: error: `T.cuda.copy_bytes` of `int32`, expected a pointer [BadType]
        T.cuda.copy_bytes(A.data, 1, 16)
                                  ^
bad_copy_bytes.py:8:39: error: `T.cuda.copy_bytes` of bytes counted at run time, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        T.cuda.copy_bytes(A.data, A.data, x)
                                          ^
