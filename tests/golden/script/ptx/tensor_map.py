# Maps that the launch makes: of a buffer, of one with extents known at launch, of a pointer.
@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (64, 128), "float16")
    B = T.match_buffer(b, (4, n, 32), "float32")
    A_map = T.tensor_map(A, box=(32, 64), swizzle=128)
    B_map = T.tensor_map(B, (1, 8, 32), fill="nan", promotion=0)
    C_map = T.tensor_map(A.data, box=[256], dims=[8192], strides=[], fill="none")
    T.device_entry()
    tx = T.thread_id([32])
    tile = T.alloc_shared((32, 64), "float16", align=1024)
    T.ptx["prefetch.tensormap"](B_map)
    T.ptx["cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"](A_map, 0, 32, T.address_of(tile[0, 0]))
    T.ptx["cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group"](C_map, 0, T.address_of(tile[0, 0]))
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (64, 128), "float16")
    B = T.match_buffer(b, (4, n, 32))
    A_map: T.let[T.handle("float16")] = T.tensor_map(A.data, box=(32, 64), dims=(64, 128), strides=(128,), swizzle=128, promotion=256)
    B_map: T.let[T.handle("float32")] = T.tensor_map(B.data, box=(1, 8, 32), dims=(4, n, 32), strides=(32 * n, 32), promotion=0, fill="nan")
    C_map: T.let[T.handle("float16")] = T.tensor_map(A.data, box=(256,), dims=(8192,), strides=(), promotion=256, fill="none")
    T.device_entry()
    tx = T.thread_id([32])
    tile = T.alloc_buffer((32, 64), "float16", scope="shared", align=1024)
    T.ptx["prefetch.tensormap"](B_map)
    T.ptx["cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"](A_map, 0, 32, T.address_of(tile[0, 0]))
    T.ptx["cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group"](C_map, 0, T.address_of(tile[0, 0]))
