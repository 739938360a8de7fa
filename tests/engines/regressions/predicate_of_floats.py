# Conditions and starts that are made from floats. The proof took any value for a comparison of floats,
# and another one where the code had a simpler form of it.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (128, 64), "float16")
    B = T.match_buffer(B_ptr, (128, 64), "float16")
    T.device_entry()
    bx, by = T.cta_id([1, 2])
    T.thread_id([128])
    s = T.alloc_shared((64, 64), "float16")
    half = T.cast(T.floor(T.cast(by, "float32") * 64.5), "int32")
    Tx.cta.fill(s[:, :], T.float16(7))
    T.cuda.cta_sync()
    Tx.cta.copy(s[:, :], A[half : half + 64, 0:64], predicate=T.isnan(T.cast(bx, "float32")))
    T.cuda.cta_sync()
    Tx.cta.copy(s[0:32, :], A[half : half + 32, 0:64], predicate=(T.cast(bx, "float64") != 2.0) ^ (T.sqrt(T.cast(by + bx, "float32")) > 0.5))
    T.cuda.cta_sync()
    Tx.cta.copy(B[half : half + 64, 0:64], s[:, :])
