from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "float32")
    T.device_entry()
    t = T.thread_id([32])
    s = T.alloc_shared((64,), "float32")
    Tx.cta.copy(A[:], s[:], prefetch_size=128)
    Tx.cta.copy_async(s[:], A[:], multicast="warpx4")
    Tx.cta.copy_async(s[:], A[:], prefetch_size=128)
#--- expected
bad_setting_memories.py:9:5: error: `prefetch_size` of `copy` is for global to local or global to shared memory, this is shared to global [BadTileCall]
        Tx.cta.copy(A[:], s[:], prefetch_size=128)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_setting_memories.py:10:5: error: `multicast` of `copy_async` is for shared to tmem memory, this is global to shared [BadTileCall]
        Tx.cta.copy_async(s[:], A[:], multicast="warpx4")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
