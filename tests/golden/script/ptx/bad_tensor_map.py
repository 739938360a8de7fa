@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64, 128), "float16")
    m0 = T.tensor_map(A, box=(64,))
    m1 = T.tensor_map(A, box=(512, 64))
    m2 = T.tensor_map(A, box=(64, 4))
    m3 = T.tensor_map(A, box=(64, 64), swizzle=256)
    m4 = T.tensor_map(A, box=(64, 64), promotion=32)
    m5 = T.tensor_map(A, box=(64, 64), fill="inf")
    m6 = T.tensor_map(A.data, box=(64, 64))
    m7 = T.tensor_map(3, box=(64, 64))
    m8 = T.tensor_map(A, box=(1, 1, 1, 1, 1, 8), dims=(1, 1, 1, 1, 1, 8), strides=(8, 8, 8, 8, 8))
    T.device_entry()
    tx = T.thread_id([32])
    m9 = T.tensor_map(A, box=(64, 64))
    tile = T.alloc_shared((32, 64), "float16", align=1024)
    Tx.copy_async(tile[0:32, 0:64], A[0:32, 0:64], mbar=5)
#--- expected
bad_tensor_map.py:4:10: error: a tensor map of 2 extents, 1 strides and a box of 1, expected one stride less than extents, and as many of the box [BadArgument]
        m0 = T.tensor_map(A, box=(64,))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor_map.py:5:10: error: `box` of a tensor map is 512 in dimension 1, expected 1 to 256 [BadArgument]
        m1 = T.tensor_map(A, box=(512, 64))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor_map.py:6:10: error: rows of the box of a tensor map have 8 bytes, expected a multiple of 16 [BadArgument]
        m2 = T.tensor_map(A, box=(64, 4))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor_map.py:7:10: error: `swizzle` of a tensor map is 256, expected 0, 32, 64 or 128 [BadArgument]
        m3 = T.tensor_map(A, box=(64, 64), swizzle=256)
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor_map.py:8:10: error: `promotion` of a tensor map is 32, expected 0, 64, 128 or 256 [BadArgument]
        m4 = T.tensor_map(A, box=(64, 64), promotion=32)
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor_map.py:9:45: error: `fill` of a tensor map is "inf", expected "zero", "nan" or "none" [BadArgument]
        m5 = T.tensor_map(A, box=(64, 64), fill="inf")
                                                ^~~~~
bad_tensor_map.py:10:10: error: `T.tensor_map` of a pointer without `dims=` [BadArgument]
        m6 = T.tensor_map(A.data, box=(64, 64))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor_map.py:11:23: error: `T.tensor_map` of int, expected a buffer in global memory or a pointer to one [BadType]
        m7 = T.tensor_map(3, box=(64, 64))
                          ^
bad_tensor_map.py:12:10: error: a tensor map of 6 dimensions, expected 1 to 5 [BadArgument]
        m8 = T.tensor_map(A, box=(1, 1, 1, 1, 1, 8), dims=(1, 1, 1, 1, 1, 8), strides=(8, 8, 8, 8, 8))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor_map.py:15:10: error: `T.tensor_map` behind `T.device_entry()` [BadArgument]
        m9 = T.tensor_map(A, box=(64, 64))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the launch makes tensor maps: bind them before it
