#: kernel = outer
from tvm.script import tirx as T


@T.prim_func
def outer(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])

    @T.prim_func
    def inner(A_ptr: T.handle):
        A = T.match_buffer(A_ptr, (32,), "float32")
        A[0] = tid
#--- expected
bad_kernel_in_kernel.py:13:5: error: kernel `inner` inside of kernel `outer` [BadType]
        def inner(A_ptr: T.handle):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a function decorated with `@T.inline` becomes part of the kernel that calls it
