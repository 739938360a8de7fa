# Tensor maps as TVM's host code makes them: space on the stack, then the driver's function.
@T.prim_func
def f(A: T.Buffer((16, 64), "float16"), B: T.Buffer((4, 16, 64), "float32")):
    A_map: T.let[T.handle("tensormap")] = T.tvm_stack_alloca("tensormap", 1)
    B_map = T.stack_alloca("tensormap", 1)
    T.call_packed("runtime.cuTensorMapEncodeTiled", A_map, "float16", 2, A.data, 64, 16, 128, 64, 8, 1, 1, 0, 3, 1, 1)
    T.tensormap_encode_tiled(B_map, B.data, 64, 16, 4, 256, 4096, 32, 8, 1, 1, 1, 1, descriptor_dtype="float32", rank=3, swizzle=0, l2_promotion=2)
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    tile = T.alloc_buffer((8, 64), "float16", scope="shared", align=1024)
    bar = T.shared_scalar("uint64")
    if t == 0:
        T.ptx["cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"](tile.data, T.address_of(A_map), 0, 8, T.address_of(bar))
        T.ptx["prefetch.tensormap"](B_map)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((16, 64), "float16"), B: T.Buffer((4, 16, 64))):
    A_map: T.let[T.handle("float16")] = T.tensor_map(A.data, box=(8, 64), dims=(16, 64), strides=(64,), swizzle=128, promotion=64, fill="nan")
    B_map: T.let[T.handle("float32")] = T.tensor_map(B.data, box=(1, 8, 32), dims=(4, 16, 64), strides=(1024, 64), promotion=128)
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    tile = T.alloc_buffer((8, 64), "float16", scope="shared", align=1024)
    bar = T.alloc_scalar("uint64", "shared")
    if t == 0:
        T.ptx["cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"](tile.data, A_map, 0, 8, T.address_of(bar))
        T.ptx["prefetch.tensormap"](B_map)
