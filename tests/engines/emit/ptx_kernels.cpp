// SPDX-License-Identifier: Apache-2.0
#include "engines/emit/ptx_kernels.h"

namespace ww::engines {

using num::DType;

std::vector<PtxKernel> ptx_kernels() {
  const DType f16 = DType::Float16;
  const DType f32 = DType::Float32;
  const DType i32 = DType::Int32;
  return {
      {"control",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "int32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 128)
    total: T.int32 = 0
    for i in range(a[tx]):
        if i % 3 == 1:
            continue
        if i > 20:
            break
        total = total + i * a[i]
    n: T.int32 = a[tx] + 1
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = n * 3 + 1
        total = total + 1
    for i in range(4, 12, 3):
        for j in range(i):
            total = total + i * j
    for i in range(1):
        if total % 2 == 0:
            break
        total = total * 3
    o[tx] = total
    if tx < 7:
        return
    o[128 + tx] = T.if_then_else(tx < 100, a[tx + 384], -5)
    o[256 + tx] = T.if_then_else(tx > 100, a[tx + 300] + 1, a[tx] * 2)
    if tx > 3 and a[tx] > 5:
        o[384 + tx] = 1
)",
       {i32, i32}},
      {"packed",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "float16", layout=None)
    o = T.match_buffer(o_ptr, (512,), "float16", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    r = T.alloc_local((8,), "float16", layout=None)
    s = T.alloc_local((4,), "float16", layout=None)
    w = T.decl_buffer((4,), "uint32", data=r.data, scope="local", layout=None)
    T.cuda.copy_bytes(T.address_of(r[0]), T.address_of(a[tx * 8]), 16)
    s[0] = r[3]
    s[1] = r[2] + r[7]
    r[1] = s[0]
    if tx > 10:
        r[0] = s[1]
        s[2] = r[5]
    else:
        s[2] = r[4]
    s[3] = T.float16(2.0)
    w[3] = w[3] ^ T.uint32(65537)
    T.cuda.copy_bytes(T.address_of(r[4]), T.address_of(s[0]), 8)
    T.cuda.copy_bytes(T.address_of(o[tx * 8]), T.address_of(r[0]), 16)
)",
       {f16, f16}},
      {"bytes",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int8", layout=None)
    o = T.match_buffer(o_ptr, (512,), "int8", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    r = T.alloc_local((8,), "int8", layout=None)
    T.cuda.copy_bytes(T.address_of(r[0]), T.address_of(a[tx * 8]), 8)
    r[2] = r[1] - T.int8(100)
    r[4] = r[0]
    r[5] = r[2]
    r[6] = r[3] * r[3]
    r[7] = T.int8(-3)
    T.cuda.copy_bytes(T.address_of(o[tx * 8]), T.address_of(r[0]), 8)
)",
       {DType::Int8, DType::Int8}},
      {"local memory",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "int32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    r = T.alloc_local((8,), "int32", layout=None)
    for i in range(8):
        r[i] = a[tx * 8 + i]
    for i in range(8):
        o[tx * 8 + i] = r[(i + tx) % 8]
)",
       {i32, i32}},
      {"shared",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "float32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "float32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    s = T.alloc_buffer((512,), "float32", scope="shared", layout=None)
    d = T.alloc_buffer((512,), "float32", scope="shared.dyn", layout=None)
    for i in range(2):
        p: T.let[T.handle("float32")] = T.pointer_offset(T.address_of(s[0]), tx * 8 + i * 4)
        T.cuda.copy_bytes(p, T.address_of(a[tx * 8 + i * 4]), 16)
    T.cuda.cta_sync()
    for i in range(8):
        d[i * 64 + tx] = s[(tx ^ 5) * 8 + i]
    T.tvm_storage_sync("shared")
    v = T.decl_buffer((128,), "float32", data=d.data, scope="shared.dyn", elem_offset=64, layout=None)
    for i in range(8):
        o[tx * 8 + i] = d[tx * 8 + 7 - i] + v[tx]
)",
       {f32, f32}},
      {"vectors",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, h_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "float32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "float32", layout=None)
    h = T.match_buffer(h_ptr, (512,), "float16", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    o[T.Ramp(tx * 4, 1, 4)] = a[T.Ramp(tx * 4, 1, 4)] * T.Broadcast(T.float32(2.0), 4) + a[T.Ramp(tx * 4 + 256, 1, 4)]
    o[T.Ramp(tx + 256, 64, 4)] = a[T.Ramp(tx * 3, 2, 4)]
    h[T.Ramp(tx * 8, 1, 8)] = T.Cast("float16x8", a[T.Ramp(tx * 8, 1, 8)])
)",
       {f32, f32, f16}},
      {"lanes",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, h_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "int32", layout=None)
    h = T.match_buffer(h_ptr, (512,), "float64", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    full: T.let[T.uint32] = T.uint32(4294967295)
    o[tx] = T.tvm_warp_shuffle(full, a[tx], tx % 7, 16, 32) + T.tvm_warp_shuffle_up(full, a[tx], 3, 32, 32)
    o[64 + tx] = T.tvm_warp_shuffle_down(full, a[tx], 5, 8, 32) + T.tvm_warp_shuffle_xor(full, a[tx], 9, 32, 32)
    o[128 + tx] = T.Cast("int32", T.cuda.ballot_sync(full, a[tx] > 20))
    o[192 + tx] = T.Cast("int32", T.cuda.any_sync(full, a[tx] > 60)) + 2 * T.Cast("int32", T.cuda.all_sync(full, a[tx] > 0))
    o[256 + tx] = T.cuda.warp_reduce(a[tx], "sum", 32) + T.cuda.warp_reduce(a[tx], "max", 8)
    o[320 + tx] = T.Cast("int32", T.cuda.elect_sync())
    h[tx] = T.tvm_warp_shuffle_xor(full, h[64 + tx], 1, 32, 32)
    h[128 + tx] = T.cuda.warp_reduce(h[64 + tx], "sum", 32)
    s = T.alloc_buffer((32,), "float64", scope="shared", layout=None)
    h[192 + tx] = T.cuda.cta_reduce(h[64 + tx], "sum", 2, T.address_of(s[0]))
    h[256 + tx] = T.cuda.cta_reduce(h[64 + tx], "max", 2, T.address_of(s[0]))
)",
       {i32, i32, DType::Float64}},
      {"atomics",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, f_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "int32", layout=None)
    f = T.match_buffer(f_ptr, (512,), "float32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    s = T.alloc_buffer((4,), "int32", scope="shared", layout=None)
    if tx < 4:
        s[tx] = 0
    T.cuda.cta_sync()
    T.cuda.atomic_add(T.address_of(s[tx % 4]), a[tx])
    T.cuda.atomic_max(T.address_of(o[0]), a[tx] * 3)
    T.cuda.atomic_min(T.address_of(o[1]), a[tx] - 30)
    T.cuda.atomic_or(T.address_of(o[2]), a[tx])
    T.cuda.atomic_xor(T.address_of(o[3]), a[tx])
    T.cuda.atomic_and(T.address_of(o[4]), a[tx])
    T.cuda.atomic_max(T.address_of(f[0]), f[tx + 64])
    T.cuda.atomic_min(T.address_of(f[1]), f[tx + 64])
    o[tx + 64] = T.cuda.atomic_exch(T.address_of(o[tx + 128]), a[tx])
    o[tx + 192] = T.cuda.atomic_cas(T.address_of(o[tx + 256]), 7, 9)
    T.cuda.cta_sync()
    if tx < 4:
        o[tx + 320] = s[tx] + T.cuda.ldg(T.address_of(a[tx]))
)",
       {i32, i32, f32}},
      {"prints",
       R"(def kernel(a_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 2)
    T.cuda.printf("%d: %f %s 100%% %lld\n", tx, T.Cast("float32", a[tx]) / T.float32(4.0), "text", T.Cast("int64", a[tx]) * T.int64(10000000000))
    assert a[tx] < 100, "small"
)",
       {i32}},
      {"matrix",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, d_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "float16", layout=None)
    o = T.match_buffer(o_ptr, (512,), "float16", layout=None)
    d = T.match_buffer(d_ptr, (512,), "float32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 32)
    s = T.alloc_buffer((512,), "float16", scope="shared", layout=None)
    for i in range(2):
        T.ptx.cp_async(T.address_of(s[tx * 16 + i * 8]), T.address_of(a[tx * 16 + i * 8]), 16)
    T.ptx.cp_async.commit_group()
    T.ptx.cp_async.wait_group(0)
    T.cuda.cta_sync()
    r = T.alloc_local((8,), "float16", layout=None)
    c = T.alloc_local((4,), "float32", layout=None)
    for i in T.unroll(1):
        c[0] = T.float32(1.0)
        c[1] = T.float32(2.0)
        c[2] = T.float32(3.0)
        c[3] = T.float32(4.0)
    T.ptx.ldmatrix(T.bool(False), 4, ".b16", T.address_of(s[tx * 8]), T.address_of(r[0]), T.address_of(r[2]), T.address_of(r[4]), T.address_of(r[6]))
    T.ptx.mma("m16n8k16", "row", "col", "float32", "float16", "float16", "float32", 4, 4, 2, 4, False, T.address_of(c[0]), T.address_of(c[1]), T.address_of(c[2]), T.address_of(c[3]), T.address_of(r[0]), T.address_of(r[2]), T.address_of(r[4]), T.address_of(r[6]), T.address_of(r[0]), T.address_of(r[2]), T.address_of(c[0]), T.address_of(c[1]), T.address_of(c[2]), T.address_of(c[3]))
    T.ptx.stmatrix(T.bool(True), 2, ".b16", T.address_of(s[tx * 8]), T.address_of(r[4]), T.address_of(r[6]))
    T.cuda.cta_sync()
    T.cuda.copy_bytes(T.address_of(o[tx * 8]), T.address_of(s[tx * 8]), 16)
    T.cuda.copy_bytes(T.address_of(d[tx * 4]), T.address_of(c[0]), 16)
)",
       {f16, f16, f32},
       kTargets[1],
       1e-5},
      {"cells",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, h_ptr: T.handle, g_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "int16", layout=None)
    h = T.match_buffer(h_ptr, (512,), "float16", layout=None)
    g = T.match_buffer(g_ptr, (512,), "float64", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    flag: T.bool = a[tx] > 9
    small: T.int16 = T.Cast("int16", a[tx])
    half: T.float16 = h[tx]
    wide: T.float64 = g[tx]
    bits = T.alloc_local((2,), "int16", layout=None)
    over = T.decl_buffer((2,), "float16", data=bits.data, scope="local", layout=None)
    over[1] = half
    bits[0] = small
    for i in range(a[tx]):
        flag = not flag
        small = small * T.int16(17) + T.int16(3)
        half = half + T.float16(0.5)
        wide = wide * T.float64(1.5)
        if i > 3:
            bits[0] = bits[0] + bits[1]
    o[tx] = T.Select(flag, small, bits[0])
    o[tx + 64] = bits[1]
    h[tx + 64] = half
    h[tx + 128] = over[0]
    g[tx + 64] = wide
    pair = T.alloc_local((4,), "float64", layout=None)
    T.cuda.copy_bytes(T.address_of(pair[0]), T.address_of(g[tx * 2 + 128]), 16)
    pair[2] = pair[1] + wide
    pair[3] = pair[0]
    T.cuda.copy_bytes(T.address_of(g[tx * 2 + 256]), T.address_of(pair[2]), 16)
    g[tx + 448] = T.reinterpret("float64", T.Cast("int64", a[tx]) * T.int64(72057594037927937))
    a[tx + 64] = T.reinterpret("int32", T.Cast("float32", a[tx]))
    a[tx + 128] = T.Cast("int32", T.reinterpret("uint16", h[tx]))
)",
       {i32, DType::Int16, f16, DType::Float64}},
      {"pointers",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, flag: T.int32):
    a = T.match_buffer(a_ptr, (512,), "float32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "float32", layout=None)
    T.device_entry()
    bx = T.launch_thread("blockIdx.x", 2)
    tx = T.launch_thread("threadIdx.x", 64)
    s = T.alloc_buffer((128,), "float32", scope="shared", layout=None)
    p: T.let[T.handle("float32")] = T.pointer_offset(T.address_of(a[bx * 64]), tx)
    q: T.let[T.handle("float32")] = T.pointer_offset(T.address_of(s[0]), tx)
    T.cuda.copy_bytes(q, p, 4)
    b = T.decl_buffer((64,), "float32", data=q, scope="shared", layout=None)
    o[bx * 64 + tx] = b[0] + T.Cast("float32", flag)
)",
       {f32, f32, i32}},
      {"choices of vectors",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, h_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "float32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "float32", layout=None)
    h = T.match_buffer(h_ptr, (512,), "uint8", layout=None)
    T.device_entry()
    bx = T.launch_thread("blockIdx.x", 2)
    ty = T.launch_thread("threadIdx.y", 2)
    tx = T.launch_thread("threadIdx.x", 16)
    i: T.let[T.int32] = (bx * 2 + ty) * 16 + tx
    r = T.alloc_local((4,), "float32", layout=None)
    r[T.Ramp(0, 1, 4)] = T.if_then_else(i < 20, a[T.Ramp(i * 4, 1, 4)], T.Broadcast(a[i], 4))
    o[T.Ramp(i * 4, 1, 4)] = r[T.Ramp(0, 1, 4)]
    r[T.Ramp(0, 1, 4)] = T.Broadcast(r[1] * T.float32(2.0), 4)
    o[T.Ramp(i * 2 + 256, 1, 2)] = r[T.Ramp(2, 1, 2)]
    h[T.Ramp(i * 8, 1, 8)] = h[T.Ramp(i * 8, 1, 8)] + T.Broadcast(T.uint8(250), 8)
    x: T.uint32 = T.Cast("uint32", h[i * 8]) - T.uint32(3)
    o[i + 448] = a[x % T.uint32(512)]
)",
       {f32, f32, DType::Uint8}},
  };
}

}  // namespace ww::engines
