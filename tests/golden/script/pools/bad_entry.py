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
bad_entry.py:5:13: error: `T.SMEMPool` before `T.device_entry()` [BadBuffer]
        early = T.SMEMPool()
                ^~~~~~~~~~~~
bad_entry.py:6:14: error: `T.TMEMPool` before `T.device_entry()` [BadBuffer]
        tearly = T.TMEMPool(None)
                 ^~~~~~~~~~~~~~~~
bad_entry.py:10:40: error: `alloc_warp` is -1, expected a warp of the CTA [BadArgument]
        tmem = T.TMEMPool(smem, alloc_warp=-1)
                                           ^~
bad_entry.py:11:42: error: `dealloc_warp` is -2, expected a warp of the CTA [BadArgument]
        more = T.TMEMPool(smem, dealloc_warp=-2)
                                             ^~
bad_entry.py:13:13: error: 40000000000 bytes at byte 0 of `smem`, which takes 1073741824 at most [BadBuffer]
        large = smem.alloc((100000, 100000), "float32")
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_entry.py:14:14: error: a piece of a pool whose extents are known at launch only [NeedsConstant]
        extent = smem.alloc((n, 4), "float32")
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_entry.py:15:15: error: pool as a value of the kernel, expected a number or an expression [BadType]
        A[0, 0] = smem
                  ^~~~
bad_entry.py:16:5: error: cannot assign an item of pool [ReadOnly]
        smem[0] = 1
        ^~~~~~~~~~~
