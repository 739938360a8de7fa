@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0, 0] = 1.0
    x = A[0, 1, 2]
    p = A.ptr_to([0])
    v = A.vload([0], "float32x2")
#--- expected
bad_rank.py:6:5: error: 3 indices for `A`, which has 2 dimensions [RankMismatch]
        A[0, 0, 0] = 1.0
        ^~~~~~~~~~
bad_rank.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_rank.py:7:9: error: 3 indices for `A`, which has 2 dimensions [RankMismatch]
        x = A[0, 1, 2]
            ^~~~~~~~~~
bad_rank.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_rank.py:8:9: error: 1 index for `A`, which has 2 dimensions [RankMismatch]
        p = A.ptr_to([0])
            ^~~~~~~~~~~~~
bad_rank.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_rank.py:9:9: error: 1 index for `A`, which has 2 dimensions [RankMismatch]
        v = A.vload([0], "float32x2")
            ^~~~~~~~~~~~~~~~~~~~~~~~~
bad_rank.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
