@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16,), layout=None)
    T.device_entry()
    x = T.launch_thread("threadIdx.x", 32)
    Tx.copy(A, A)
#--- expected
bad_tile.py:6:5: error: tile call `copy` in a lowered program [BrokenIr]
        Tx.copy(A, A)
        ^~~~~~~~~~~~~
