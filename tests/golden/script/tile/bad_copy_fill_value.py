@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (n, 16), "float16")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float16")
    Tx.cta.copy(S0, A[0:16, 0:16], fill_value="nan")
    Tx.cta.copy(S0, A[0:16, 0:16], fill_value=70000)
    Tx.cta.copy(S0, A[0:16, 0:16], fill_value=n)
    Tx.cta.copy(S0, A[0:16, 0:16], fill_value=T.cast(tx, "float16"))
    Tx.cta.copy(S0, A[0:16, 0:16], fill_mode="zero", fill_value=1)
    Tx.cta.copy(A[0:16, 0:16], S0, clip=1)
#--- expected
bad_copy_fill_value.py:7:5: error: `fill_value` of `copy` is `"nan"`, expected a number [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], fill_value="nan")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_fill_value.py:8:5: error: `fill_value` of `copy` is `70000`, which `float16` does not hold [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], fill_value=70000)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_fill_value.py:9:5: error: `fill_value` of `copy` has type `int32`, and the elements are `float16` [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], fill_value=n)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `T.cast(value, "float16")` makes one of them
bad_copy_fill_value.py:10:5: error: `fill_value` of `copy` is `T.Cast("float16", tx)`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], fill_value=T.cast(tx, "float16"))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_fill_value.py:11:5: error: `copy` with both `fill_mode` and `fill_value`, expected one of the two [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], fill_mode="zero", fill_value=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_fill_value.py:12:5: error: `clip` of `copy` is `1`, expected `True` or `False` [BadTileCall]
        Tx.cta.copy(A[0:16, 0:16], S0, clip=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
