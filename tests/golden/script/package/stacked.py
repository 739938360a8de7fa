# `@ww.kernel` above TVMScript's own decorator.
import warpwright as ww
from tvm.script import tirx as T


@ww.kernel
@T.prim_func
def fill(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "int32")
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = t
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def fill(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "int32")
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = t
