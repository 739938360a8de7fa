@T.prim_func
def f(A: T.Buffer((128,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    Tx.cta.fill(A[32:96][4:12], T.float32(0))
#--- expected
bad_region_of_region.py:6:17: error: a region takes no index [BadType]
        Tx.cta.fill(A[32:96][4:12], T.float32(0))
                    ^~~~~~~~~~~~~~
  note: one index says which part of the buffer: `A[36:44]` for `A[32:96][4:12]`
