@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy(S0, A, prefetch_size=96)
    Tx.cta.copy(S0, A, prefetch_size="128")
    Tx.cta.copy(S0, A, prefetch_size=-1)
    Tx.cta.copy(S0, A, cache="ca")
    Tx.cta.copy(S0, A, l1_evict="soon")
    Tx.cta.copy_async(S0, A, shape="64x256b")
    Tx.cta.copy_async(S0, A, cta_group=3)
    Tx.cta.copy_async(S0, A, cta_group=tx)
    Tx.cta.gemm(A, A, A, A, stage=1)
    Tx.cta.gemm(A, A, A, A, allow_tf32="yes")
#--- expected
bad_setting_values.py:7:5: error: `prefetch_size` of `copy` is `96`, expected 64, 128 or 256 [BadTileCall]
        Tx.cta.copy(S0, A, prefetch_size=96)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_setting_values.py:10:5: error: `cache` of `copy` is `"ca"`, expected "nc" [BadTileCall]
        Tx.cta.copy(S0, A, cache="ca")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_setting_values.py:11:5: error: `l1_evict` of `copy` is `"soon"`, expected "evict_normal", "evict_unchanged", "evict_first", "evict_last" or "no_allocate" [BadTileCall]
        Tx.cta.copy(S0, A, l1_evict="soon")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_setting_values.py:12:5: error: `shape` of `copy_async` is `"64x256b"`, expected "128x256b", "128x128b", "64x128b", "32x128b" or "4x256b" [BadTileCall]
        Tx.cta.copy_async(S0, A, shape="64x256b")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_setting_values.py:13:5: error: `cta_group` of `copy_async` is `3`, expected 1 or 2 [BadTileCall]
        Tx.cta.copy_async(S0, A, cta_group=3)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_setting_values.py:14:5: error: `cta_group` of `copy_async` is `tx`, expected 1 or 2 [BadTileCall]
        Tx.cta.copy_async(S0, A, cta_group=tx)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_setting_values.py:15:5: error: `stage` of `gemm` is `1`, expected `True` or `False` [BadTileCall]
        Tx.cta.gemm(A, A, A, A, stage=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_setting_values.py:16:5: error: `allow_tf32` of `gemm` is `"yes"`, expected `True` or `False` [BadTileCall]
        Tx.cta.gemm(A, A, A, A, allow_tf32="yes")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
