# Shapes and types that do not go together; more indices than places.
@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (100, 16), "float32")
    ids = T.match_buffer(b, (32,), "int32")
    T.device_entry()
    tx = T.thread_id([32])
    s = T.alloc_shared((32, 16), "float32")
    h = T.alloc_shared((32, 16), "float16")
    few = T.alloc_shared((8, 16), "float32")
    bytes = T.alloc_shared((8, 16), "uint8")
    Tx.cta.gather(s, A, s[:, 0])
    Tx.cta.gather(h, A, ids)
    Tx.cta.gather(s, A, ids, axis=2)
    Tx.cta.gather(s, A, ids, axis=(0, 1))
    Tx.cta.gather(s, A[:, 0:8], ids)
    Tx.cta.gather(s, A, ids[0:16])
    Tx.cta.gather(s, A, ids, clip=True)
    Tx.cta.gather(s, A, ids, fill_value="none")
    Tx.cta.scatter(few, s, ids)
    Tx.cta.scatter_add(bytes, bytes, ids[0:8])
#--- expected
bad_indexed.py:12:5: error: `gather` by `s`, which holds `float32`, expected `int32` or `int64` [BadTileCall]
        Tx.cta.gather(s, A, s[:, 0])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_indexed.py:13:5: error: `gather` with `float16` of `h` and `float32` of `A`, expected one element type [BadTileCall]
        Tx.cta.gather(h, A, ids)
        ^~~~~~~~~~~~~~~~~~~~~~~~
bad_indexed.py:14:5: error: `gather` over axis 2 of (100, 16) of `A`, which has 2 axes [BadTileCall]
        Tx.cta.gather(s, A, ids, axis=2)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_indexed.py:15:5: error: `axis` of `gather` is not one number [BadTileCall]
        Tx.cta.gather(s, A, ids, axis=(0, 1))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_indexed.py:16:5: error: `gather` along axis 0 of (100, 8) of `A` with a tile (32, 16) of `s`; the other extents differ [BadTileCall]
        Tx.cta.gather(s, A[:, 0:8], ids)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_indexed.py:17:5: error: `gather` along axis 0 with a tile (32, 16) of `s` by (16) of `ids`, expected an index for each row, or for each element of it [BadTileCall]
        Tx.cta.gather(s, A, ids[0:16])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_indexed.py:18:5: error: `gather` has no setting `clip` [UnknownName]
        Tx.cta.gather(s, A, ids, clip=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its settings: fill_value
bad_indexed.py:19:5: error: `fill_value` of `gather` is `"none"`, expected a number [BadTileCall]
        Tx.cta.gather(s, A, ids, fill_value="none")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_indexed.py:20:5: error: `scatter` by 32 indices along axis 0 of (8, 16) of `few`: two of them are the same, which is a race [BadTileCall]
        Tx.cta.scatter(few, s, ids)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `scatter_add` adds them; `clip=True` leaves out those out of range
bad_indexed.py:21:5: error: `scatter_add` of `uint8`, which no instruction adds atomically; expected integers of 32 or 64 bits, `float16`, `bfloat16`, `float32` or `float64` [BadTileCall]
        Tx.cta.scatter_add(bytes, bytes, ids[0:8])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
