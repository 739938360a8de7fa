#: kernel = f.specialize(N=8, DT="float16")
# Constants are given when the kernel is made; they are no parameters of it.
@T.jit
def f(A: T.Buffer((4, "m"), "float32"), n: T.int32, *, N: T.constexpr, DT: T.constexpr = "float32"):
    T.device_entry()
    tx = T.thread_id([N])
    r = T.alloc_local((N,), DT)
    if N > 4:
        r[0] = A[0, tx]
    A[1, tx] = r[0] + n
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((4, "m")), n: T.int32):
    T.device_entry()
    tx = T.thread_id([8])
    r = T.alloc_local((8,), "float16")
    r[0] = T.Cast("float16", A[0, tx])
    A[1, tx] = T.Cast("float32", r[0] + T.Cast("float16", n))
