@T.prim_func
def f(a: T.handle, i: T.handle, h: T.handle, n: T.int64):
    A = T.match_buffer(a, (16,), "float32")
    I = T.match_buffer(i, (16,), "int32")
    H = T.match_buffer(h, (16,), "float16")
    T.device_entry()
    tx = T.thread_id([16])
    # integers become floats; floats that are whole numbers are constants of integers
    A[tx] = tx
    I[tx] = 2.0
    # a declared type takes wider values of its kind
    H[tx] = A[tx]
    I[tx] = n
    x: T.int32 = n
    # a scalar that has the type of its first value takes what fits
    y = 0
    y += tx
    y = T.uint32(7)
    # a cast may lose anything
    z = 0
    z += T.cast(A[tx], "int32")
    z = T.int32(A[tx])
    z = A[tx].astype("int32")
    q: T.float16 = T.cast(1e6, "float16")
    s: T.let = T.cuda.shfl_sync(-1, A[0], 3)
    t: T.let = T.cuda.ballot_sync(0xffffffff, True)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle, i: T.handle, h: T.handle, n: T.int64):
    A = T.match_buffer(a, (16,))
    I = T.match_buffer(i, (16,), "int32")
    H = T.match_buffer(h, (16,), "float16")
    T.device_entry()
    tx = T.thread_id([16])
    A[tx] = T.Cast("float32", tx)
    I[tx] = 2
    H[tx] = T.Cast("float16", A[tx])
    I[tx] = T.Cast("int32", n)
    x: T.int32 = T.Cast("int32", n)
    y: T.int32 = 0
    y = y + tx
    y = 7
    z: T.int32 = 0
    z = z + T.Cast("int32", A[tx])
    z = T.Cast("int32", A[tx])
    z = T.Cast("int32", A[tx])
    q: T.float16 = T.float16("inf")
    s: T.let[T.float32] = T.tvm_warp_shuffle(T.uint32(4294967295), A[0], 3, 32, 32)
    t: T.let[T.uint32] = T.cuda.ballot_sync(T.uint32(4294967295), T.bool(True))
