# Ids of the launch by their tags, and mma with offsets beside pointers.
@T.prim_func
def product(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, [16, 16], dtype="float16")
    B = T.match_buffer(b, [8, 16], dtype="float16")
    C = T.match_buffer(c, [16, 8], dtype="float32")
    row = T.env_thread("blockIdx.y")
    tx = T.env_thread("threadIdx.x")
    T.launch_thread(row, 1)
    T.launch_thread(tx, 32)
    tile = T.alloc_buffer([16, 16], "float16", scope="shared")
    left = T.decl_buffer([8], "float16", scope="local")
    both = T.decl_buffer([8], "float16", scope="local")
    total = T.decl_buffer([4], "float32", scope="local")
    T.evaluate(T.ptx_legacy.cp_async(tile.data, tx * 8, A.data, tx * 8, 16, dtype="float16"))
    T.evaluate(T.ptx_ldmatrix(False, 4, ".b16", left.data, 0, tile.data, tx % 16 * 16 + tx // 16 * 8, dtype="float16"))
    for i in range(4):
        total[i] = T.float32(0)
        both[i + 4] = B[tx // 4, i // 2 * 8 + tx % 4 * 2 + i % 2]
    T.evaluate(T.ptx_mma("m16n8k16", "row", "col", "fp16", "fp16", "fp32", left.data, 0, both.data, 4, total.data, 0, False, dtype="float32"))
    T.evaluate(T.ptx.mma.legacy("m16n8k8", "row", "col", "fp16", "fp16", "fp32", left, 4, both, 6, total.data, 0, False))
    for i in range(4):
        C[i // 2 * 8 + tx // 4, tx % 4 * 2 + i % 2] = total[i]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def product(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 16), "float16")
    B = T.match_buffer(b, (8, 16), "float16")
    C = T.match_buffer(c, (16, 8))
    T.device_entry()
    row = T.launch_thread("blockIdx.y", 1)
    tx = T.launch_thread("threadIdx.x", 32)
    tile = T.alloc_buffer((16, 16), "float16", scope="shared")
    left = T.alloc_local((8,), "float16")
    both = T.alloc_local((8,), "float16")
    total = T.alloc_local((4,))
    T.ptx["cp.async.cg.shared.global"](T.pointer_offset(tile.data, tx * 8), T.pointer_offset(A.data, tx * 8), 16)
    T.ptx.ldmatrix(T.bool(False), 4, ".b16", T.pointer_offset(tile.data, tx % 16 * 16 + tx // 16 * 8), left.data, T.pointer_offset(left.data, 2), T.pointer_offset(left.data, 4), T.pointer_offset(left.data, 6))
    for i in range(4):
        total[i] = T.float32(0.0)
        both[i + 4] = B[tx // 4, i // 2 * 8 + tx % 4 * 2 + i % 2]
    T.ptx.mma("m16n8k16", "row", "col", "float32", "float16", "float16", "float32", 4, 4, 2, 4, False, total.data, T.pointer_offset(total.data, 1), T.pointer_offset(total.data, 2), T.pointer_offset(total.data, 3), left.data, T.pointer_offset(left.data, 2), T.pointer_offset(left.data, 4), T.pointer_offset(left.data, 6), T.pointer_offset(both.data, 4), T.pointer_offset(both.data, 6), total.data, T.pointer_offset(total.data, 1), T.pointer_offset(total.data, 2), T.pointer_offset(total.data, 3))
    T.ptx.mma("m16n8k8", "row", "col", "float32", "float16", "float16", "float32", 4, 2, 1, 4, False, total.data, T.pointer_offset(total.data, 1), T.pointer_offset(total.data, 2), T.pointer_offset(total.data, 3), T.pointer_offset(T.address_of(left[0]), 4), T.pointer_offset(T.address_of(left[0]), 6), T.pointer_offset(T.address_of(both[0]), 6), total.data, T.pointer_offset(total.data, 1), T.pointer_offset(total.data, 2), T.pointer_offset(total.data, 3))
    for i in range(4):
        C[i // 2 * 8 + tx // 4, tx % 4 * 2 + i % 2] = total[i]
