# More rows than there are lanes.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    warp_id = T.warp_id([4])
    smem = T.SMEMPool()
    pool = T.TMEMPool(smem, total_cols=64)
    smem.commit()
    x = pool.alloc((256, 16), "float32")
    pool.commit()
    pool.dealloc()
#--- expected
bad_tensor_rows.py:10:9: error: `x` takes 256 lanes of tensor memory, which has 128 [BadBuffer]
        x = pool.alloc((256, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
