# The address is kept where the program says; other warps allocate and give back.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (128, 64), "float32")
    T.device_entry()
    warp_id = T.warp_id([8])
    lane = T.lane_id([32])
    pool = T.SMEMPool()
    slot = pool.alloc([1], "uint32", align=4)
    pool.commit()
    first = T.TMEMPool(None, total_cols=64, alloc_warp=2, dealloc_warp=1, tmem_addr=slot, sync_after_alloc=False)
    x = first.alloc((128, 64), "float32")
    first.commit()
    T.cuda.cta_sync()
    first.dealloc()
