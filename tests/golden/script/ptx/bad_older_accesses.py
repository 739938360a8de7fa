@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "uint32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4,), "uint32")
    T.ptx.ld(A.ptr_to([tx]), "uint32", "u32", dst=r.ptr_to([0]), vec="v")
    T.ptx.ld(A.ptr_to([tx]), "uint32", "u32", dst=r.ptr_to([0]), vec="v3")
    T.ptx.st(A.ptr_to([tx]), src=r.ptr_to([0]), vec="4", ptx_type="u32", space="global")
#--- expected
bad_older_accesses.py:7:70: error: `vec` is "v", expected "v2", "v4" or "v8" [BadArgument]
        T.ptx.ld(A.ptr_to([tx]), "uint32", "u32", dst=r.ptr_to([0]), vec="v")
                                                                         ^~~
bad_older_accesses.py:8:70: error: `vec` is "v3", expected "v2", "v4" or "v8" [BadArgument]
        T.ptx.ld(A.ptr_to([tx]), "uint32", "u32", dst=r.ptr_to([0]), vec="v3")
                                                                         ^~~~
bad_older_accesses.py:9:53: error: `vec` is "4", expected "v2", "v4" or "v8" [BadArgument]
        T.ptx.st(A.ptr_to([tx]), src=r.ptr_to([0]), vec="4", ptx_type="u32", space="global")
                                                        ^~~
