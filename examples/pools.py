# C = A through shared and tensor memory, both allocated by pools.
#
#   warpwright run examples/pools.py --device eval --expect 'C == A'
@T.prim_func
def through_pools(A_ptr: T.handle, C_ptr: T.handle):
    A = T.match_buffer(A_ptr, (128, 64), "float16"); C = T.match_buffer(C_ptr, (128, 64), "float16")
    T.device_entry()
    T.cta_id([1]); wg_id = T.warpgroup_id([1]); tid = T.thread_id_in_wg([128])

    pool = T.SMEMPool()
    tmem_addr = pool.alloc((1,), "uint32")
    tile = pool.alloc_mma((128, 64), "float16")                # swizzled, from byte 1024 on
    pool.commit()

    tmem_pool = T.TMEMPool(pool, total_cols=32, tmem_addr=tmem_addr)
    left = tmem_pool.alloc((128, 32), "float16")               # 16 columns
    right = tmem_pool.alloc((128, 32), "float16")              # the next 16
    tmem_pool.commit()                                         # one warp allocates
    Tx.cta.copy(tile[:, :], A[:, :])
    T.cuda.cta_sync()                                          # all threads see the address

    regs = T.wg_reg_tile(32, "float16")
    Tx.wg.copy(regs[:, :], tile[:, 0:32])
    Tx.wg.copy_async(left[:, :], regs[:, :]); T.ptx.tcgen05.wait.st()
    Tx.wg.copy(regs[:, :], tile[:, 32:64])
    Tx.wg.copy_async(right[:, :], regs[:, :]); T.ptx.tcgen05.wait.st()
    Tx.wg.copy_async(regs[:, :], left[:, :]); T.ptx.tcgen05.wait.ld()
    Tx.wg.copy(C[:, 0:32], regs[:, :])
    Tx.wg.copy_async(regs[:, :], right[:, :]); T.ptx.tcgen05.wait.ld()
    Tx.wg.copy(C[:, 32:64], regs[:, :])
    T.cuda.cta_sync()
    tmem_pool.dealloc()
