# Pools that allocate more memory than they have.
#
#   warpwright run examples/errors/pool.py
@T.prim_func
def pools(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (128, 64), "float32")
    T.device_entry()
    warp_id = T.warp_id([4])
    smem = T.SMEMPool()
    tile = smem.alloc((64, 64), "float16", align=100)
    tmem = T.TMEMPool(smem, total_cols=128)
    acc = tmem.alloc((128, 96), "float32")
    more = tmem.alloc((128, 64), "float32")
