@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0:4, 0] = 1.0
    A[0] = 2.0
    A[0:2, 0] += 1.0
#--- expected
bad_region_store.py:6:5: error: a store to a region of `A`, expected one index per dimension [RankMismatch]
        A[0:4, 0] = 1.0
        ^~~~~~~~~
  note: use a tile primitive (`Tx.copy`, `Tx.fill`) for regions
bad_region_store.py:7:5: error: a store to a region of `A`, expected one index per dimension [RankMismatch]
        A[0] = 2.0
        ^~~~
  note: use a tile primitive (`Tx.copy`, `Tx.fill`) for regions
bad_region_store.py:8:5: error: `+=` of a region; give all indices [BadType]
        A[0:2, 0] += 1.0
        ^~~~~~~~~
