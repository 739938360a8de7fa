# A pool over storage of the program, and one that is committed with a size.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    storage = T.alloc_shared((256,), "uint8", align=128)
    given = T.SMEMPool(storage.data)
    x = given.alloc((8,), "float32")
    y = given.alloc((8,), "float32", align=64)
    given.commit()
    own = T.SMEMPool()
    z = own.alloc((4, 4), "float16")
    own.commit(4096)
    x[0] = y[0]
