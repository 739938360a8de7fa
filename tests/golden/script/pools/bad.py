#=== entry
# Pools are made on the device.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    early = T.SMEMPool()
    tearly = T.TMEMPool(None)
    T.device_entry()
    warp_id = T.warp_id([4])
    smem = T.SMEMPool()
    tmem = T.TMEMPool(smem, alloc_warp=-1)
    more = T.TMEMPool(smem, dealloc_warp=-2)
    n = T.int32()
    large = smem.alloc((100000, 100000), "float32")
    extent = smem.alloc((n, 4), "float32")
    A[0, 0] = smem
    smem[0] = 1
#--- expected
entry.py:5:13: error: `T.SMEMPool` before `T.device_entry()` [BadBuffer]
        early = T.SMEMPool()
                ^~~~~~~~~~~~
entry.py:6:14: error: `T.TMEMPool` before `T.device_entry()` [BadBuffer]
        tearly = T.TMEMPool(None)
                 ^~~~~~~~~~~~~~~~
entry.py:10:40: error: `alloc_warp` is -1, expected a warp of the CTA [BadArgument]
        tmem = T.TMEMPool(smem, alloc_warp=-1)
                                           ^~
entry.py:11:42: error: `dealloc_warp` is -2, expected a warp of the CTA [BadArgument]
        more = T.TMEMPool(smem, dealloc_warp=-2)
                                             ^~
entry.py:13:13: error: 40000000000 bytes at byte 0 of `smem`, which takes 1073741824 at most [BadBuffer]
        large = smem.alloc((100000, 100000), "float32")
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
entry.py:14:14: error: a piece of a pool whose extents are known at launch only [NeedsConstant]
        extent = smem.alloc((n, 4), "float32")
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
entry.py:15:15: error: pool as a value of the kernel, expected a number or an expression [BadType]
        A[0, 0] = smem
                  ^~~~
entry.py:16:5: error: cannot assign an item of pool [ReadOnly]
        smem[0] = 1
        ^~~~~~~~~~~
#=== shared
# What a pool of shared memory refuses.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    pool = T.SMEMPool()
    x = pool.alloc((8, 8), "float32", align=48)
    y = pool.alloc((8, 8), "float32", scope="local")
    z = pool.alloc_mma((8, 24), "float16", swizzle_mode="128B")
    u = pool.alloc_mma((12, 64), "float16", swizzle_mode="128B")
    v = pool.alloc_mma((8, 64), "float16", swizzle_mode="256B")
    w = pool.alloc((8, 8))
    pool.move_base_to(-4)
    pool.commit(100)
    q = pool.alloc((8, 8))
    pool.move_base_to(0)
    pool.commit()
    pool.free()
    n = pool.size
#--- expected
shared.py:8:45: error: an alignment of 48, expected a power of two [BadBuffer]
        x = pool.alloc((8, 8), "float32", align=48)
                                                ^~
shared.py:9:45: error: scope "local" for a piece of `pool`, which is in shared memory [BadBuffer]
        y = pool.alloc((8, 8), "float32", scope="local")
                                                ^~~~~~~
shared.py:10:9: error: shape (8,24) has 24 columns; mode 128B takes multiples of 64 for 16-bit elements [BadArgument]
        z = pool.alloc_mma((8, 24), "float16", swizzle_mode="128B")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
shared.py:11:9: error: shape (12,64) has 12 rows; mode 128B takes multiples of 8 [BadArgument]
        u = pool.alloc_mma((12, 64), "float16", swizzle_mode="128B")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
shared.py:12:9: error: no swizzle mode is named `256B`; there are none, 32B, 64B, 128B [BadArgument]
        v = pool.alloc_mma((8, 64), "float16", swizzle_mode="256B")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
shared.py:14:23: error: `move_base_to` -4 in `pool`, expected 0 to 1073741824 [BadArgument]
        pool.move_base_to(-4)
                          ^~
shared.py:15:17: error: 100 bytes for `pool`, expected the 256 that are used to 1073741824 [BadBuffer]
        pool.commit(100)
                    ^~~
shared.py:16:9: error: `alloc` after `commit` of `pool` [BadBuffer]
        q = pool.alloc((8, 8))
            ^~~~~~~~~~~~~~~~~~
shared.py:7:12: note: it was made here
        pool = T.SMEMPool()
               ^~~~~~~~~~~~
shared.py:17:5: error: `move_base_to` after `commit` of `pool` [BadBuffer]
        pool.move_base_to(0)
        ^~~~~~~~~~~~~~~~~~~~
shared.py:7:12: note: it was made here
        pool = T.SMEMPool()
               ^~~~~~~~~~~~
shared.py:18:5: error: `commit` after `commit` of `pool` [BadBuffer]
        pool.commit()
        ^~~~~~~~~~~~~
shared.py:7:12: note: it was made here
        pool = T.SMEMPool()
               ^~~~~~~~~~~~
shared.py:19:10: error: pool has no `free` [UnknownName]
        pool.free()
             ^~~~
shared.py:20:14: error: pool has no `size` [UnknownName]
        n = pool.size
                 ^~~~
#=== shared_align
# The storage that was given begins at multiples of 64 only.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    storage = T.alloc_shared((4096,), "uint8")
    pool = T.SMEMPool(storage.data)
    x = pool.alloc((8, 4), "float32", align=64)
    y = pool.alloc_mma((8, 64), "float16")
    own = T.SMEMPool()
    z = own.alloc((8, 4), "float32")
    own.move_base_to(1 << 40)
    own.commit(1 << 40)
#--- expected
shared_align.py:10:9: error: an alignment of 1024 in `storage`, which is aligned to 64 bytes itself [BadBuffer]
        y = pool.alloc_mma((8, 64), "float16")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
shared_align.py:13:22: error: `move_base_to` 1099511627776 in `own`, expected 0 to 1073741824 [BadArgument]
        own.move_base_to(1 << 40)
                         ^~~~~~~
shared_align.py:14:16: error: 1099511627776 bytes for `own`, expected the 128 that are used to 1073741824 [BadBuffer]
        own.commit(1 << 40)
                   ^~~~~~~
#=== shared_given
# The storage that was given is too small.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    storage = T.alloc_shared((256,), "uint8")
    pool = T.SMEMPool(storage)
    x = pool.alloc((8, 4), "float32")
    y = pool.alloc((8, 8), "float32")
#--- expected
shared_given.py:10:9: error: `y` reaches bytes 128 to 383 of `storage`, which has 256 [BadBuffer]
        y = pool.alloc((8, 8), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
shared_given.py:7:15: note: declared here
        storage = T.alloc_shared((256,), "uint8")
                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== shared_open
# Nobody says how large it is.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    pool = T.SMEMPool()
    x = pool.alloc((8, 8), "float32")
    x[0, 0] = A[0, 0]
#--- expected
shared_open.py:7:12: error: `pool` is never committed, so it has no size [BadBuffer]
        pool = T.SMEMPool()
               ^~~~~~~~~~~~
  note: `.commit()` follows the last `.alloc`
#=== shared_two
# There is one arena only.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    pool = T.SMEMPool()
    x = pool.alloc((8, 8), "float32")
    pool.commit()
    more = T.SMEMPool()
    y = more.alloc((8, 8), "float32")
    more.commit()
#--- expected
shared_two.py:10:12: error: `more` is a second allocation of shared.dyn; `pool` is the only one there can be [BadBuffer]
        more = T.SMEMPool()
               ^~~~~~~~~~~~
shared_two.py:7:12: note: declared here
        pool = T.SMEMPool()
               ^~~~~~~~~~~~
#=== tensor
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
tensor.py:12:38: error: `total_cols` is 48, expected 32, 64, 128, 256 or 512 [BadArgument]
        p0 = T.TMEMPool(smem, total_cols=48)
                                         ^~
tensor.py:13:38: error: `total_cols` is 1024, expected 32, 64, 128, 256 or 512 [BadArgument]
        p1 = T.TMEMPool(smem, total_cols=1024)
                                         ^~~~
tensor.py:14:38: error: `total_cols` is a value of run time, expected an integer that is known at compile time [BadType]
        p2 = T.TMEMPool(smem, total_cols=n)
                                         ^
tensor.py:15:37: error: `cta_group` is 3, expected 1 or 2 [BadArgument]
        p3 = T.TMEMPool(smem, cta_group=3)
                                        ^
tensor.py:16:21: error: `T.TMEMPool` on None without `tmem_addr`, expected a `T.SMEMPool` [BadType]
        p4 = T.TMEMPool(None, total_cols=64)
                        ^~~~
tensor.py:17:37: error: `tmem_addr` is `words` of `uint32` in shared.dyn, expected a buffer of one uint32 in shared memory [BadBuffer]
        p5 = T.TMEMPool(smem, tmem_addr=words)
                                        ^~~~~
tensor.py:18:37: error: `tmem_addr` is int, expected a buffer of one uint32 in shared memory [BadBuffer]
        p6 = T.TMEMPool(smem, tmem_addr=3)
                                        ^
tensor.py:21:10: error: `T.TMEMPool` after `commit` of `smem` [BadBuffer]
        p7 = T.TMEMPool(smem)
             ^~~~~~~~~~~~~~~~
tensor.py:9:12: note: it was made here
        smem = T.SMEMPool()
               ^~~~~~~~~~~~
tensor.py:23:9: error: 33 columns from column 96 of `pool`, which has 128 [BadBuffer]
        y = pool.alloc((128, 33), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor.py:19:12: note: it was made here
        pool = T.TMEMPool(smem, total_cols=128, tmem_addr=slot)
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor.py:24:21: error: 3 extents, expected (rows, columns) or a `layout` [RankMismatch]
        z = pool.alloc((2, 64, 8), "float32")
                        ^~~~~~~~
tensor.py:25:9: error: 64 rows on datapath D; it has 128 [BadArgument]
        u = pool.alloc((64, 16), "float32", datapath="D")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor.py:26:9: error: `layout` and `datapath` together [BadArgument]
        v = pool.alloc((64, 16), "float32", datapath="F", layout=TileLayout(S[(64, 16) : (1 @ TLane, 1 @ TCol)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor.py:27:9: error: `cols` is 8, but the layout reaches 16 columns [BadBuffer]
        w = pool.alloc((128, 16), "float32", cols=8)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor.py:28:9: error: 6 factors in steps of 4 [Indivisible]
        s = pool.alloc_sf((128, 6), "float8_e8m0fnu", sf_per_mma=4, sf_reuse=4)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor.py:29:23: error: `move_base_to` 129 in `pool`, expected 0 to 128 [BadArgument]
        pool.move_base_to(129)
                          ^~~
tensor.py:30:5: error: `dealloc` of `pool` before `commit` [BadBuffer]
        pool.dealloc()
        ^~~~~~~~~~~~~~
tensor.py:19:12: note: it was made here
        pool = T.TMEMPool(smem, total_cols=128, tmem_addr=slot)
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor.py:32:5: error: `commit` after `commit` of `pool` [BadBuffer]
        pool.commit()
        ^~~~~~~~~~~~~
tensor.py:19:12: note: it was made here
        pool = T.TMEMPool(smem, total_cols=128, tmem_addr=slot)
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor.py:33:9: error: `alloc` after `commit` of `pool` [BadBuffer]
        q = pool.alloc((128, 8), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor.py:19:12: note: it was made here
        pool = T.TMEMPool(smem, total_cols=128, tmem_addr=slot)
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor.py:35:5: error: `dealloc` of `pool` twice [BadBuffer]
        pool.dealloc()
        ^~~~~~~~~~~~~~
tensor.py:19:12: note: it was made here
        pool = T.TMEMPool(smem, total_cols=128, tmem_addr=slot)
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== tensor_early
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
tensor_early.py:15:9: error: tensor memory of `one` is used before `commit`, which allocates it [BadBuffer]
            Tx.wg.copy_async(regs[:, :], x.view(128, 2, 8)[:, 1, :])
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor_early.py:16:5: note: committed here
        one.commit()
        ^~~~~~~~~~~~
tensor_early.py:18:5: error: tensor memory of `two` is used before `commit`, which allocates it [BadBuffer]
        T.ptx.tcgen05.ld(y.allocated_addr[0], r[0], shape="32x32b", num=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor_early.py:19:5: note: committed here
        two.commit()
        ^~~~~~~~~~~~
#=== tensor_open
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
tensor_open.py:8:12: error: `pool` is never committed, so nothing allocates its columns [BadBuffer]
        pool = T.TMEMPool(smem, total_cols=64)
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `.commit()` follows the last `.alloc`
#=== tensor_rows
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
tensor_rows.py:10:9: error: `x` takes 256 lanes of tensor memory, which has 128 [BadBuffer]
        x = pool.alloc((256, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
