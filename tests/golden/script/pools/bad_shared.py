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
bad_shared.py:8:45: error: an alignment of 48, expected a power of two [BadBuffer]
        x = pool.alloc((8, 8), "float32", align=48)
                                                ^~
bad_shared.py:9:45: error: scope "local" for a piece of `pool`, which is in shared memory [BadBuffer]
        y = pool.alloc((8, 8), "float32", scope="local")
                                                ^~~~~~~
bad_shared.py:10:9: error: shape (8,24) has 24 columns; mode 128B takes multiples of 64 for 16-bit elements [BadArgument]
        z = pool.alloc_mma((8, 24), "float16", swizzle_mode="128B")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_shared.py:11:9: error: shape (12,64) has 12 rows; mode 128B takes multiples of 8 [BadArgument]
        u = pool.alloc_mma((12, 64), "float16", swizzle_mode="128B")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_shared.py:12:9: error: no swizzle mode is named `256B`; there are none, 32B, 64B, 128B [BadArgument]
        v = pool.alloc_mma((8, 64), "float16", swizzle_mode="256B")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_shared.py:14:23: error: `move_base_to` -4 in `pool`, expected 0 to 1073741824 [BadArgument]
        pool.move_base_to(-4)
                          ^~
bad_shared.py:15:17: error: 100 bytes for `pool`, expected the 256 that are used to 1073741824 [BadBuffer]
        pool.commit(100)
                    ^~~
bad_shared.py:16:9: error: `alloc` after `commit` of `pool` [BadBuffer]
        q = pool.alloc((8, 8))
            ^~~~~~~~~~~~~~~~~~
bad_shared.py:7:12: note: it was made here
        pool = T.SMEMPool()
               ^~~~~~~~~~~~
bad_shared.py:17:5: error: `move_base_to` after `commit` of `pool` [BadBuffer]
        pool.move_base_to(0)
        ^~~~~~~~~~~~~~~~~~~~
bad_shared.py:7:12: note: it was made here
        pool = T.SMEMPool()
               ^~~~~~~~~~~~
bad_shared.py:18:5: error: `commit` after `commit` of `pool` [BadBuffer]
        pool.commit()
        ^~~~~~~~~~~~~
bad_shared.py:7:12: note: it was made here
        pool = T.SMEMPool()
               ^~~~~~~~~~~~
bad_shared.py:19:10: error: pool has no `free` [UnknownName]
        pool.free()
             ^~~~
bad_shared.py:20:14: error: pool has no `size` [UnknownName]
        n = pool.size
                 ^~~~
