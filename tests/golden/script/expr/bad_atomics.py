@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    h = T.alloc_local((1,), "float32")
    T.cuda.atomic_add(A[0, 0], 1.0)
    T.cuda.atomic_and(A.ptr_to([0, 0]), 1)
    T.cuda.atomic_add(tx, 1)
#--- expected
bad_atomics.py:7:23: error: `T.cuda.atomic_add` of `float32`, expected a pointer to elements [BadType]
        T.cuda.atomic_add(A[0, 0], 1.0)
                          ^~~~~~~
bad_atomics.py:8:23: error: `T.cuda.atomic_and` of `handle(float32)`, expected a pointer to integers [BadType]
        T.cuda.atomic_and(A.ptr_to([0, 0]), 1)
                          ^~~~~~~~~~~~~~~~
bad_atomics.py:9:23: error: `T.cuda.atomic_add` of `int32`, expected a pointer to elements [BadType]
        T.cuda.atomic_add(tx, 1)
                          ^~
