# Synchronisation.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    s = T.alloc_shared([4], "float32")
    T.cuda.cta_sync()
    T.tvm_storage_sync("shared")
    T.tvm_storage_sync("shared.dyn")
    T.tvm_storage_sync("warp")
    T.cuda.warp_sync()
    T.cuda.warpgroup_sync(1)
    T.cuda.cluster_sync()
    T.cuda.thread_fence()
    x = T.cuda.cta_sum(A[0, 0], 4, s.data)
    m = T.alloc_shared([1], "uint64")
    T.cuda.mbarrier_wait(m.ptr_to([0]), 1)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([128])
    s = T.alloc_shared((4,))
    T.cuda.cta_sync()
    T.tvm_storage_sync("shared")
    T.tvm_storage_sync("shared.dyn")
    T.tvm_storage_sync("warp")
    T.cuda.warp_sync()
    T.cuda.warpgroup_sync(1)
    T.cuda.cluster_sync()
    T.cuda.thread_fence()
    x: T.float32 = T.cuda.cta_reduce(A[0, 0], "sum", 4, s.data)
    m = T.alloc_shared((1,), "uint64")
    T.cuda.mbarrier_wait(T.address_of(m[0]), 1)
