@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    p = A.data
    p = A.ptr_to([1, 0])
    A = T.alloc_shared((4,), "float32")
    A[0] = 1.0
#--- expected
bad_pointer_again.py:7:5: error: `p` is a pointer (bound once) and cannot be assigned [ReadOnly]
        p = A.ptr_to([1, 0])
        ^
bad_pointer_again.py:6:5: note: bound here
        p = A.data
        ^~~~~~~~~~
