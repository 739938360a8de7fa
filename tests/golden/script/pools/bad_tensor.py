# What a pool of tensor memory refuses.
from tvm.tirx.layout import S, TileLayout, TLane, TCol

@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    warp_id = T.warp_id([4])
    smem = T.SMEMPool()
    slot = smem.alloc((1,), "uint32")
    words = smem.alloc((4,), "uint32")
    p0 = T.TMEMPool(smem, total_cols=48)
    p1 = T.TMEMPool(smem, total_cols=1024)
    p2 = T.TMEMPool(smem, total_cols=n)
    p3 = T.TMEMPool(smem, cta_group=3)
    p4 = T.TMEMPool(None, total_cols=64)
    p5 = T.TMEMPool(smem, tmem_addr=words)
    p6 = T.TMEMPool(smem, tmem_addr=3)
    pool = T.TMEMPool(smem, total_cols=128, tmem_addr=slot)
    smem.commit()
    p7 = T.TMEMPool(smem)
    x = pool.alloc((128, 96), "float32")
    y = pool.alloc((128, 33), "float32")
    z = pool.alloc((2, 64, 8), "float32")
    u = pool.alloc((64, 16), "float32", datapath="D")
    v = pool.alloc((64, 16), "float32", datapath="F", layout=TileLayout(S[(64, 16) : (1 @ TLane, 1 @ TCol)]))
    w = pool.alloc((128, 16), "float32", cols=8)
    s = pool.alloc_sf((128, 6), "float8_e8m0fnu", sf_per_mma=4, sf_reuse=4)
    pool.move_base_to(129)
    pool.dealloc()
    pool.commit()
    pool.commit()
    q = pool.alloc((128, 8), "float32")
    pool.dealloc()
    pool.dealloc()
#--- expected
bad_tensor.py:12:38: error: `total_cols` is 48, expected 32, 64, 128, 256 or 512 [BadArgument]
        p0 = T.TMEMPool(smem, total_cols=48)
                                         ^~
bad_tensor.py:13:38: error: `total_cols` is 1024, expected 32, 64, 128, 256 or 512 [BadArgument]
        p1 = T.TMEMPool(smem, total_cols=1024)
                                         ^~~~
bad_tensor.py:14:38: error: `total_cols` is a value of run time, expected an integer that is known at compile time [BadType]
        p2 = T.TMEMPool(smem, total_cols=n)
                                         ^
bad_tensor.py:15:37: error: `cta_group` is 3, expected 1 or 2 [BadArgument]
        p3 = T.TMEMPool(smem, cta_group=3)
                                        ^
bad_tensor.py:16:21: error: `T.TMEMPool` on None without `tmem_addr`, expected a `T.SMEMPool` [BadType]
        p4 = T.TMEMPool(None, total_cols=64)
                        ^~~~
bad_tensor.py:17:37: error: `tmem_addr` is `words` of `uint32` in shared.dyn, expected a buffer of one uint32 in shared memory [BadBuffer]
        p5 = T.TMEMPool(smem, tmem_addr=words)
                                        ^~~~~
bad_tensor.py:18:37: error: `tmem_addr` is int, expected a buffer of one uint32 in shared memory [BadBuffer]
        p6 = T.TMEMPool(smem, tmem_addr=3)
                                        ^
bad_tensor.py:21:10: error: `T.TMEMPool` after `commit` of `smem` [BadBuffer]
        p7 = T.TMEMPool(smem)
             ^~~~~~~~~~~~~~~~
bad_tensor.py:9:12: note: it was made here
        smem = T.SMEMPool()
               ^~~~~~~~~~~~
bad_tensor.py:23:9: error: 33 columns from column 96 of `pool`, which has 128 [BadBuffer]
        y = pool.alloc((128, 33), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor.py:19:12: note: it was made here
        pool = T.TMEMPool(smem, total_cols=128, tmem_addr=slot)
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor.py:24:21: error: 3 extents, expected (rows, columns) or a `layout` [RankMismatch]
        z = pool.alloc((2, 64, 8), "float32")
                        ^~~~~~~~
bad_tensor.py:25:9: error: 64 rows on datapath D; it has 128 [BadArgument]
        u = pool.alloc((64, 16), "float32", datapath="D")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor.py:26:9: error: `layout` and `datapath` together [BadArgument]
        v = pool.alloc((64, 16), "float32", datapath="F", layout=TileLayout(S[(64, 16) : (1 @ TLane, 1 @ TCol)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor.py:27:9: error: `cols` is 8, but the layout reaches 16 columns [BadBuffer]
        w = pool.alloc((128, 16), "float32", cols=8)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor.py:28:9: error: 6 factors in steps of 4 [Indivisible]
        s = pool.alloc_sf((128, 6), "float8_e8m0fnu", sf_per_mma=4, sf_reuse=4)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor.py:29:23: error: `move_base_to` 129 in `pool`, expected 0 to 128 [BadArgument]
        pool.move_base_to(129)
                          ^~~
bad_tensor.py:30:5: error: `dealloc` of `pool` before `commit` [BadBuffer]
        pool.dealloc()
        ^~~~~~~~~~~~~~
bad_tensor.py:19:12: note: it was made here
        pool = T.TMEMPool(smem, total_cols=128, tmem_addr=slot)
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor.py:32:5: error: `commit` after `commit` of `pool` [BadBuffer]
        pool.commit()
        ^~~~~~~~~~~~~
bad_tensor.py:19:12: note: it was made here
        pool = T.TMEMPool(smem, total_cols=128, tmem_addr=slot)
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor.py:33:9: error: `alloc` after `commit` of `pool` [BadBuffer]
        q = pool.alloc((128, 8), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor.py:19:12: note: it was made here
        pool = T.TMEMPool(smem, total_cols=128, tmem_addr=slot)
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tensor.py:35:5: error: `dealloc` of `pool` twice [BadBuffer]
        pool.dealloc()
        ^~~~~~~~~~~~~~
bad_tensor.py:19:12: note: it was made here
        pool = T.TMEMPool(smem, total_cols=128, tmem_addr=slot)
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
