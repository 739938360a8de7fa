# Columns that are used before anybody allocates them: through a view, and by address.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    warp_id = T.warp_id([4])
    smem = T.SMEMPool()
    one = T.TMEMPool(smem, total_cols=64)
    two = T.TMEMPool(smem, total_cols=64)
    smem.commit()
    x = one.alloc((128, 16), "float32")
    y = two.alloc((128, 16), "float32")
    regs = T.wg_reg_tile(8, "float32")
    if warp_id < 4:
        Tx.wg.copy_async(regs[:, :], x.view(128, 2, 8)[:, 1, :])
    one.commit()
    r = T.alloc_local((1,), "uint32")
    T.ptx.tcgen05.ld(y.allocated_addr[0], r[0], shape="32x32b", num=1)
    two.commit()
#--- expected
bad_tensor_early.py:15:9: error: tensor memory of `one` is used before `commit`, which allocates it [BadBuffer]
            Tx.wg.copy_async(regs[:, :], x.view(128, 2, 8)[:, 1, :])
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor_early.py:16:5: note: committed here
        one.commit()
        ^~~~~~~~~~~~
bad_tensor_early.py:18:5: error: tensor memory of `two` is used before `commit`, which allocates it [BadBuffer]
        T.ptx.tcgen05.ld(y.allocated_addr[0], r[0], shape="32x32b", num=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor_early.py:19:5: note: committed here
        two.commit()
        ^~~~~~~~~~~~
