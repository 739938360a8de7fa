@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 8), "float32")
    s = T.alloc_local((4, 8), "float32")
    Tx.select(r, r, s, lambda i, j: i < j)
    Tx.fill(r, lambda: 1.0)
#--- expected
bad_function_argument.py:8:24: error: `pred` is a function, expected a tile or a value for all elements [BadTileCall]
        Tx.select(r, r, s, lambda i, j: i < j)
                           ^~~~~~~~~~~~~~~~~~
  note: store what the function gives for each element into a tile, and pass this
bad_function_argument.py:9:16: error: `value` is a function, expected a tile or a value for all elements [BadTileCall]
        Tx.fill(r, lambda: 1.0)
                   ^~~~~~~~~~~
  note: store what the function gives for each element into a tile, and pass this
