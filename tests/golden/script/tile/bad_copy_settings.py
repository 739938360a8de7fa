@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy(S0, A, fill_mode="one")
    Tx.cta.copy(S0, A, fill_mode=0)
    Tx.cta.copy_async(S0, A, predicate="yes")
    Tx.cta.copy_async(S0, A, predicate=T.float32(1))
    Tx.cta.copy_async(S0, A, direct=1)
#--- expected
bad_copy_settings.py:7:5: error: `fill_mode` of `copy` is `"one"`, expected "zero" [BadTileCall]
        Tx.cta.copy(S0, A, fill_mode="one")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_settings.py:8:5: error: `fill_mode` of `copy` is `0`, expected "zero" [BadTileCall]
        Tx.cta.copy(S0, A, fill_mode=0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_settings.py:9:5: error: `predicate` of `copy_async` is `"yes"`, expected a condition [BadTileCall]
        Tx.cta.copy_async(S0, A, predicate="yes")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_settings.py:10:5: error: `predicate` of `copy_async` is `T.float32(1.0)`, expected a condition [BadTileCall]
        Tx.cta.copy_async(S0, A, predicate=T.float32(1))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_copy_settings.py:11:5: error: `direct` of `copy_async` is `1`, expected `True` or `False` [BadTileCall]
        Tx.cta.copy_async(S0, A, direct=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
