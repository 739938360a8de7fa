@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    Tx.copy(3, A)
    Tx.fill(tx, 1.0)
#--- expected
bad_read_only.py:6:13: error: `dst` is int, expected a buffer or a region of one [BadTileCall]
        Tx.copy(3, A)
                ^
bad_read_only.py:7:13: error: `dst` is expression, expected a buffer or a region of one [BadTileCall]
        Tx.fill(tx, 1.0)
                ^~
