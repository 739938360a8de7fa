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
bad_shared_given.py:10:9: error: `y` reaches bytes 128 to 383 of `storage`, which has 256 [BadBuffer]
        y = pool.alloc((8, 8), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_shared_given.py:7:15: note: declared here
        storage = T.alloc_shared((256,), "uint8")
                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
