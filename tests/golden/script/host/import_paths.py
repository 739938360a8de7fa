# Where TVM's versions keep the language.
import tvm.script.parser.tirx as P
from tvm.script import ir as I
from tvm.script.parser import tirx as T
from tvm.script.parser.tirx import handle
from tvm.tirx.script import ir_builder as B
from tvm.tirx.script.ir_builder import match_buffer

FIRST = True


@T.prim_func
def kernel(A_ptr: handle):
    A = match_buffer(A_ptr, (32,), "int32")
    B.device_entry()
    tid = P.thread_id([32])
    if I.constexpr(FIRST):
        A[tid] = 1
    else:
        A[tid] = T.no_such_name
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "int32")
    T.device_entry()
    tid = T.thread_id([32])
    A[tid] = 1
