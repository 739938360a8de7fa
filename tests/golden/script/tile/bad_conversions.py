@T.prim_func
def f(a: T.handle, i: T.handle):
    A = T.match_buffer(a, (16,), "float32")
    I = T.match_buffer(i, (16,), "int32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((16,), "float32")
    k = T.alloc_local((16,), "int32")
    b = T.alloc_local((16,), "int8")
    h = T.alloc_local((16,), "float16")
    Tx.fill(k, 0.5)
    Tx.fill(k, A[0])
    Tx.add(k, r, r)
    Tx.add(k, k, 0.5)
    Tx.sqrt(k, k)
    Tx.select(k, r, k, k)
    Tx.fill(b, 300)
    Tx.add(b, b, -129)
    Tx.fill(h, 1e6)
    # good
    Tx.fill(k, 2.0)
    Tx.cast(k, r)
    Tx.add(r, k, r)
    Tx.select(r, k, r, r)
    Tx.fill(h, 0.1)
#--- expected
bad_conversions.py:11:5: error: `fill` with the constant 0.5, which `int32` does not hold [BadTileCall]
        Tx.fill(k, 0.5)
        ^~~~~~~~~~~~~~~
bad_conversions.py:12:5: error: `fill` is given `float32`, and `k` holds `int32` [BadTileCall]
        Tx.fill(k, A[0])
        ^~~~~~~~~~~~~~~~
  note: `cast` alone makes integers of floats: put the result into a tile of floats first
bad_conversions.py:13:5: error: `add` computes in `float32`, and `k` holds `int32` [BadTileCall]
        Tx.add(k, r, r)
        ^~~~~~~~~~~~~~~
  note: `cast` alone makes integers of floats: put the result into a tile of floats first
bad_conversions.py:14:5: error: `add` computes in `float32`, and `k` holds `int32` [BadTileCall]
        Tx.add(k, k, 0.5)
        ^~~~~~~~~~~~~~~~~
  note: `cast` alone makes integers of floats: put the result into a tile of floats first
bad_conversions.py:15:5: error: `sqrt` computes in `float32`, and `k` holds `int32` [BadTileCall]
        Tx.sqrt(k, k)
        ^~~~~~~~~~~~~
  note: `cast` alone makes integers of floats: put the result into a tile of floats first
bad_conversions.py:16:5: error: `select` is given `float32`, and `k` holds `int32` [BadTileCall]
        Tx.select(k, r, k, k)
        ^~~~~~~~~~~~~~~~~~~~~
  note: `cast` alone makes integers of floats: put the result into a tile of floats first
bad_conversions.py:17:5: error: `fill` with the constant 300, which `int8` does not hold [BadTileCall]
        Tx.fill(b, 300)
        ^~~~~~~~~~~~~~~
bad_conversions.py:18:5: error: `add` with the constant -129, which `int8` does not hold [BadTileCall]
        Tx.add(b, b, -129)
        ^~~~~~~~~~~~~~~~~~
bad_conversions.py:19:5: error: `fill` with the constant 1000000, which `float16` does not hold [BadTileCall]
        Tx.fill(h, 1e6)
        ^~~~~~~~~~~~~~~
