@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    v: T.let = T.Broadcast(A[0, 0], tx)
    y = [1, 2, 3][tx]
    for i in T.unroll(tx):
        A[0, i] = 0.0
#--- expected
bad_runtime_as_constant.py:6:37: error: the number of lanes is a value of run time, expected an integer that is known at compile time [BadType]
        v: T.let = T.Broadcast(A[0, 0], tx)
                                        ^~
bad_runtime_as_constant.py:7:9: error: the index is a value of run time, expected an integer that is known at compile time [BadType]
        y = [1, 2, 3][tx]
            ^~~~~~~~~~~~~
bad_runtime_as_constant.py:8:14: error: `T.unroll` over a number of rounds that is known at run time only [NeedsConstant]
        for i in T.unroll(tx):
                 ^~~~~~~~~~~~
