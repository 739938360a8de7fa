@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    F = T.alloc_tcgen05_ldst_frag("16x63b", (128, 8), "float32")
    G = T.alloc_tcgen05_ldst_frag("32x32b", (128,), "float16")
    H = T.alloc_tcgen05_ldst_frag("32x32b", (100, 8), "float16")
#--- expected
bad_ldst_frag.py:6:9: error: no tcgen05.ld shape is named `16x63b`; there are 32x32b, 16x64b, 16x128b, 16x256b; did you mean `16x64b`? [BadArgument]
        F = T.alloc_tcgen05_ldst_frag("16x63b", (128, 8), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_ldst_frag.py:7:46: error: 1 extents, expected (rows, cols) [RankMismatch]
        G = T.alloc_tcgen05_ldst_frag("32x32b", (128,), "float16")
                                                 ^~~~
bad_ldst_frag.py:8:9: error: 100 rows; a warpgroup's tcgen05.ld tile has 64 or 128 [BadArgument]
        H = T.alloc_tcgen05_ldst_frag("32x32b", (100, 8), "float16")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
