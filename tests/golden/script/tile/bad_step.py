from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (64,), "float32")
    B = T.match_buffer(b, (n, 64), "float32")
    T.device_entry()
    block = T.cta_id([2])
    t = T.thread_id([32])
    r = T.alloc_local((32,), "float32")
    Tx.copy(r[:], A[::3])
    Tx.copy(r[:], A[::-1])
    Tx.copy(r[:], A[::0])
    Tx.copy(r[0:8], A[block * 3 : block * 3 + 16 : 2])
    Tx.copy(r[:], A[0:66:2])
    Tx.copy(r[0:4], B[0:8:2, 0])
#--- expected
bad_step.py:12:19: error: a step of 3 in dimension 0 of `A`, which has 64 elements, expected a divisor of that [Indivisible]
        Tx.copy(r[:], A[::3])
                      ^~~~~~
bad_step.py:6:9: note: declared here
        A = T.match_buffer(a, (64,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_step.py:13:19: error: a slice of 64 elements by steps of -1, expected both to be at least 1 [OutOfBounds]
        Tx.copy(r[:], A[::-1])
                      ^~~~~~~
bad_step.py:14:19: error: a slice of 64 elements by steps of 0, expected both to be at least 1 [OutOfBounds]
        Tx.copy(r[:], A[::0])
                      ^~~~~~
bad_step.py:15:21: error: a slice from `block * 3` on by steps of 2, expected a start that is known to be a multiple of 2 [Unprovable]
        Tx.copy(r[0:8], A[block * 3 : block * 3 + 16 : 2])
                        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_step.py:16:19: error: 0:65 in dimension 0 of `A`, which has extent 64 [OutOfBounds]
        Tx.copy(r[:], A[0:66:2])
                      ^~~~~~~~~
bad_step.py:6:9: note: declared here
        A = T.match_buffer(a, (64,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_step.py:17:21: error: a step of 2 in dimension 0 of `B`, whose extent is known at launch only [NeedsConstant]
        Tx.copy(r[0:4], B[0:8:2, 0])
                        ^~~~~~~~~~~
bad_step.py:7:9: note: declared here
        B = T.match_buffer(b, (n, 64), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
