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
bad_shared_align.py:10:9: error: an alignment of 1024 in `storage`, which is aligned to 64 bytes itself [BadBuffer]
        y = pool.alloc_mma((8, 64), "float16")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_shared_align.py:13:22: error: `move_base_to` 1099511627776 in `own`, expected 0 to 1073741824 [BadArgument]
        own.move_base_to(1 << 40)
                         ^~~~~~~
bad_shared_align.py:14:16: error: 1099511627776 bytes for `own`, expected the 128 that are used to 1073741824 [BadBuffer]
        own.commit(1 << 40)
                   ^~~~~~~
