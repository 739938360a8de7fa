@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    s0 = T.alloc_shared((16, 16), "float32")
    Tx.copy(s0)
    Tx.copy(s0, A, A, A)
    Tx.copy(s0, 3)
    Tx.copy(s0, A, src=A)
    Tx.copy("x", A)
    Tx.fill(s0)
    Tx.sum(s0, A, accum=3)
    Tx.copy(s0, A, workspace=3)
    Tx.copy(s0, A, dispatch=4)
#--- expected
bad_arguments.py:7:5: error: `copy` without `src` [BadTileCall]
        Tx.copy(s0)
        ^~~~~~~~~~~
  note: it takes (dst, src, predicate=None)
bad_arguments.py:8:23: error: `copy` with 4 arguments, expected at most 3 [BadTileCall]
        Tx.copy(s0, A, A, A)
                          ^
  note: it takes (dst, src, predicate=None)
bad_arguments.py:9:17: error: `src` is int, expected a buffer or a region of one [BadTileCall]
        Tx.copy(s0, 3)
                    ^
bad_arguments.py:10:24: error: `src` of `copy` is given twice [BadTileCall]
        Tx.copy(s0, A, src=A)
                           ^
bad_arguments.py:11:13: error: `dst` is str, expected a buffer or a region of one [BadTileCall]
        Tx.copy("x", A)
                ^~~
bad_arguments.py:12:5: error: `fill` without `value` [BadTileCall]
        Tx.fill(s0)
        ^~~~~~~~~~~
  note: it takes (dst, value)
bad_arguments.py:14:30: error: `workspace` is int, expected a dict [BadTileCall]
        Tx.copy(s0, A, workspace=3)
                                 ^
bad_arguments.py:15:29: error: `dispatch` is int, expected a text [BadType]
        Tx.copy(s0, A, dispatch=4)
                                ^
