@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    T.ptx.ldmatrix(False, 1, ".b16", sm.ptr_to([0]), r[0])
    T.ptx.mma("m16n8k16", "row", "col", "float32", "half", "float16", "float32", [], [], [], [])
    T.ptx.ldmatrix("x", 1, ".b16", sm.ptr_to([0]), r[0])
#--- expected
bad_pointers.py:8:54: error: a register given by `uint32`, expected a pointer to it [BadOperand]
        T.ptx.ldmatrix(False, 1, ".b16", sm.ptr_to([0]), r[0])
                                                         ^~~~
bad_pointers.py:9:52: error: `T.ptx.mma` of "half", expected one of float16, bfloat16, tfloat32, tf32, float32, float64, int32, int8, uint8, int4, uint4, float8_e4m3fn, float8_e5m2, e4m3, e5m2 [BadType]
        T.ptx.mma("m16n8k16", "row", "col", "float32", "half", "float16", "float32", [], [], [], [])
                                                       ^~~~~~
bad_pointers.py:10:20: error: `trans` is str, expected True or False [BadType]
        T.ptx.ldmatrix("x", 1, ".b16", sm.ptr_to([0]), r[0])
                       ^~~
