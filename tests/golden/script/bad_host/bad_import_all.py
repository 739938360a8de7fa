from tvm.script.parser.tirx import *


@prim_func
def kernel(A_ptr: handle):
    A = match_buffer(A_ptr, (32,), "int32")
    device_entry()
    A[thread_id([32])] = 0
#--- expected
--kernel:1:1: error: this value is not known at compile time: `prim_func` has no value here; did you mean `T.prim_func`? [Opaque]
    kernel
    ^~~~~~
bad_import_all.py:5:1: note: it comes from here
    def kernel(A_ptr: handle):
    ^~~~~~~~~~~~~~~~~~~~~~~~~
