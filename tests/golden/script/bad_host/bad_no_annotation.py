from tvm.script import tirx as T


@T.prim_func
def kernel(A_ptr: T.handle, n, B_ptr: 5):
    A = T.match_buffer(A_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    A[tid] = n
#--- expected
bad_no_annotation.py:5:29: error: parameter `n` has no annotation, expected `T.handle`, `T.Buffer(…)` or a type [BadType]
    def kernel(A_ptr: T.handle, n, B_ptr: 5):
                                ^
bad_no_annotation.py:5:32: error: parameter `B_ptr` is annotated with int, expected `T.handle`, `T.Buffer(…)` or a type such as `T.int32` [BadType]
    def kernel(A_ptr: T.handle, n, B_ptr: 5):
                                   ^~~~~~~~
