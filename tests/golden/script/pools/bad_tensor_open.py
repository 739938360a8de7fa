# Nobody allocates the columns.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    warp_id = T.warp_id([4])
    smem = T.SMEMPool()
    pool = T.TMEMPool(smem, total_cols=64)
    smem.commit()
    x = pool.alloc((128, 16), "float32")
#--- expected
bad_tensor_open.py:8:12: error: `pool` is never committed, so nothing allocates its columns [BadBuffer]
        pool = T.TMEMPool(smem, total_cols=64)
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `.commit()` follows the last `.alloc`
