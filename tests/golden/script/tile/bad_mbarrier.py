@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64, 128), "float16")
    T.device_entry()
    tx = T.thread_id([32])
    tile = T.alloc_shared((32, 64), "float16", align=1024)
    if tx == 0:
        Tx.copy_async(tile[0:32, 0:64], A[0:32, 0:64], mbar=5)
        Tx.copy_async(tile[0:32, 0:64], A[0:32, 0:64], mbar="full")
#--- expected
bad_mbarrier.py:8:9: error: `mbar` of `copy_async` is `5`, expected the address of an mbarrier [BadTileCall]
            Tx.copy_async(tile[0:32, 0:64], A[0:32, 0:64], mbar=5)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_mbarrier.py:9:9: error: `mbar` of `copy_async` is `"full"`, expected the address of an mbarrier [BadTileCall]
            Tx.copy_async(tile[0:32, 0:64], A[0:32, 0:64], mbar="full")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
