# Calls of foreign functions.
SRC = '__device__ int twice(int x) {\n  return 2 * x;\n}'

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    T.cuda.printf("%d %f\n", tx, A[0, 0])
    x = T.cuda.func_call("twice", tx, source_code=SRC, return_type="int32")
    T.cuda.func_call("report", x, source_code="__device__ void report(int) {}")
    a0: T.let = T.cuda.get_tmem_addr(T.uint32(0), 16, tx)
    a1: T.let = T.cuda.cvta_generic_to_shared(T.alloc_shared([1], "int32").data)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    T.cuda.printf("%d %f\n", tx, A[0, 0])
    x: T.int32 = T.cuda.func_call("twice", tx, source_code="__device__ int twice(int x) {\n  return 2 * x;\n}", return_type="int32")
    T.cuda.func_call("report", x, source_code="__device__ void report(int) {}", return_type="void")
    a0: T.let[T.uint32] = T.cuda.get_tmem_addr(T.uint32(0), 16, tx)
    v = T.alloc_shared((1,), "int32")
    a1: T.let[T.uint32] = T.cuda.cvta_generic_to_shared(v.data)
