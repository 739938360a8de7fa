from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "float32")
    T.device_entry()
    block = T.cta_id([2])
    t = T.thread_id([32])
    r = T.alloc_local((32,), "float32")
    Tx.copy(r[:], A[::2])
    Tx.copy(r[:], A[::-1])
#--- expected
bad_step.py:10:19: error: a slice with a step in a region of `A` [BadTileCall]
        Tx.copy(r[:], A[::2])
                      ^~~~~~
  note: regions take every element; a buffer whose layout has the strides selects others
bad_step.py:11:19: error: a slice of 64 elements by steps of -1, expected both to be at least 1 [OutOfBounds]
        Tx.copy(r[:], A[::-1])
                      ^~~~~~~
