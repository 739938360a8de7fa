# The lowered form: launch variables, flat buffers, ids as lets.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), layout=None)
    A_1 = T.decl_buffer((256,), data=A.data, layout=None)
    T.device_entry()
    blockIdx_x = T.launch_thread("blockIdx.x", 1)
    threadIdx_x = T.launch_thread("threadIdx.x", 32)
    warp_id_in_cta: T.let[T.int32] = T.tvm_warp_shuffle(T.uint32(4294967295), threadIdx_x // 32, 0, 32, 32)
    v: T.let[T.int32] = threadIdx_x % 32
    T.evaluate(v)
    S0 = T.alloc_shared((1024,))
    R0 = T.alloc_local((8,))
    x: T.int32 = threadIdx_x * 4
    for i in range(8):
        R0[i] = A_1[x + i]
    V0 = T.decl_buffer((4,), "uint32", data=R0.data, scope="local", layout=None)
    T.cuda.copy_bytes(T.cuda.func_call("tvm_builtin_pointer_offset", S0.data, x), T.address_of(R0[0]), 16)
    T.cuda.cta_sync()
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), layout=None)
    A_1 = T.decl_buffer((256,), data=A.data, layout=None)
    T.device_entry()
    blockIdx_x = T.launch_thread("blockIdx.x", 1)
    threadIdx_x = T.launch_thread("threadIdx.x", 32)
    warp_id_in_cta: T.let[T.int32] = T.tvm_warp_shuffle(T.uint32(4294967295), threadIdx_x // 32, 0, 32, 32)
    v: T.let[T.int32] = threadIdx_x % 32
    T.evaluate(v)
    S0 = T.alloc_shared((1024,))
    R0 = T.alloc_local((8,))
    x: T.int32 = threadIdx_x * 4
    for i in range(8):
        R0[i] = A_1[x + i]
    V0 = T.decl_buffer((4,), "uint32", data=R0.data, scope="local", layout=None)
    T.cuda.copy_bytes(T.pointer_offset(S0.data, x), T.address_of(R0[0]), 16)
    T.cuda.cta_sync()
