@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    x, y = T.warp_id([2, 2])
    T.cta_id([])
    T.cta_id([1, 2, 3, 4])
    A[0, 0] = 1.0
#--- expected
bad_dims.py:5:22: error: `T.warp_id` with 2 extents, expected 1 [BadScopeIds]
        x, y = T.warp_id([2, 2])
                         ^~~~~~
bad_dims.py:6:14: error: `T.cta_id` with 0 extents, expected 1 to 3 [BadScopeIds]
        T.cta_id([])
                 ^~
bad_dims.py:7:14: error: `T.cta_id` with 4 extents, expected 1 to 3 [BadScopeIds]
        T.cta_id([1, 2, 3, 4])
                 ^~~~~~~~~~~~
