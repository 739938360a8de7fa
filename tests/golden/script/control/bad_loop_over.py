@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    for i in [1, 2, 3]:
        A[0, i] = 0.0
    for i in A:
        pass
    for i in 4:
        pass
    for i, j in range(4):
        pass
    for i in T.grid(2, 2):
        pass
#--- expected
bad_loop_over.py:6:14: error: a loop over list, expected `range`, `T.serial`, `T.unroll`, `T.vectorized` or `T.grid` [BadType]
        for i in [1, 2, 3]:
                 ^~~~~~~~~
  note: write a comprehension, or call an inline function per element
bad_loop_over.py:8:14: error: a loop over buffer, expected `range`, `T.serial`, `T.unroll`, `T.vectorized` or `T.grid` [BadType]
        for i in A:
                 ^
bad_loop_over.py:10:14: error: a loop over int, expected `range`, `T.serial`, `T.unroll`, `T.vectorized` or `T.grid` [BadType]
        for i in 4:
                 ^
bad_loop_over.py:12:5: error: 2 loop variables for 1 extent [BadArgument]
        for i, j in range(4):
        ^~~~~~~~~~~~~~~~~~~~
bad_loop_over.py:14:5: error: 1 loop variable for 2 extents [BadArgument]
        for i in T.grid(2, 2):
        ^~~~~~~~~~~~~~~~~~~~~
