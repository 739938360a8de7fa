// SPDX-License-Identifier: Apache-2.0
#include "property/lowering_programs.h"

namespace ww::lower::lowering_test {

std::vector<Program> programs() {
  return {
      {"Ldstmatrix",
       R"(def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (8, 16), "float16"); B = T.match_buffer(B_ptr, (8, 16), "float16")
    T.device_entry(); T.cta_id([1]); T.lane_id([32]); tid = T.thread_id([32])
    A_smem = T.alloc_buffer((8, 4, 2, 2), "float16", scope="shared", layout=TileLayout(S[(8, 4, 2, 2) : (16, 2, 8, 1)]))
    row = tid // 4
    cp = tid % 4
    for t in range(2):
        for w in range(2):
            A_smem[row, cp, t, w] = A[row, 8 * t + 2 * cp + w]
    T.cuda.cta_sync()
    F = T.alloc_buffer((8, 4, 2, 2), "float16", scope="local", layout=TileLayout(S[(8, 4, 2, 2) : (4 @ laneid, 1 @ laneid, 2, 1)]))
    r = F.local(4)
    for t in range(2):
        for w in range(2):
            r[t * 2 + w] = A_smem[7 - row, cp, t, w]
    for t in range(2):
        for w in range(2):
            B[row, 8 * t + 2 * cp + w] = r[t * 2 + w]
)",
       {},
       "",
       "A_smem[row * 16 + t * 8 + cp * 2 + w] = A[row * 16 + t * 8 + cp * 2 + w]"},
      {"GemmFragments",
       R"(def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A_g = T.match_buffer(A_ptr, (16, 16), "float16"); B_g = T.match_buffer(B_ptr, (16, 16), "float16")
    T.device_entry(); T.cta_id([1]); T.warp_id([1]); lane = T.lane_id([32])
    A_f = T.alloc_buffer((16, 16), "float16", scope="local", layout=TileLayout(S[(2, 8, 2, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    A_reg = A_f.local(8)
    for s in T.unroll(8):
        kp, rM, kHi = s % 2, (s // 2) % 2, s // 4
        A_reg[s] = A_g[lane // 4 + 8 * rM, 2 * (lane % 4) + kp + 8 * kHi]
    for s in T.unroll(8):
        kp = s % 2
        rM = (s // 2) % 2
        B_g[lane // 4 + 8 * rM, 2 * (lane % 4) + kp + 8 * (s // 4)] = A_reg[kp + 2 * rM + s // 4 * 4]
)",
       {},
       ""},
      {"D1LocalKeepsTheOrderOfIters",
       R"(def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32, 8), "float32")
    T.device_entry(); T.cta_id([1]); T.warp_id([1]); lane = T.lane_id([32])
    A_f = T.alloc_buffer((2, 32, 4), "float32", scope="local", layout=TileLayout(S[(2, 32, 4) : (1, 1 @ laneid, 2)]))
    a = A_f.local(2, 4, layout=TileLayout(S[(2, 4) : (1, 2)]))
    b = A_f.local(8)
    for i in range(2):
        for j in range(4):
            a[i, j] = T.cast(lane * 8 + i * 4 + j, "float32")
    for i in range(8):
        B[lane, i] = b[i]
)",
       {},
       "",
       "A_f[j * 2 + i] = "},
      {"Padded",
       R"(def kernel(A: T.Buffer((32, 32), "int32"), B: T.Buffer((32, 32), "int32")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([128])
    tile = T.alloc_buffer((32, 32), "int32", scope="shared", layout=TileLayout(S[(32, 32) : (33, 1)]))
    for k in range(8):
        tile[k * 4 + tid // 32, tid % 32] = A[k * 4 + tid // 32, tid % 32]
    T.cuda.cta_sync()
    for k in range(8):
        B[k * 4 + tid // 32, tid % 32] = tile[tid % 32, k * 4 + tid // 32]
)",
       {},
       ""},
      {"Permuted",
       R"(def kernel(A: T.Buffer((8, 16), "int8"), B: T.Buffer((16, 8), "int8")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([64])
    tile = T.alloc_buffer((8, 16), "int8", scope="shared", layout=TileLayout(S[(2, 4, 4, 4) : (64, 1, 16, 4)]))
    for k in range(2):
        tile[tid // 8, tid % 8 * 2 + k] = A[tid // 8, tid % 8 * 2 + k]
    T.cuda.cta_sync()
    back = tile.permute(1, 0)
    for k in range(2):
        B[tid // 8 * 2 + k, tid % 8] = back[tid // 8 * 2 + k, tid % 8]
)",
       {},
       ""},
      {"Swizzled",
       R"(def kernel(A: T.Buffer((64, 64), "float16"), B: T.Buffer((64, 64), "float16")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([64])
    tile = T.alloc_buffer((64, 64), "float16", scope="shared", layout=ComposeLayout(SwizzleLayout(3, 3, 3), TileLayout(S[(64, 64) : (64, 1)])))
    for k in range(64):
        tile[tid, k] = A[tid, k]
    T.cuda.cta_sync()
    for k in range(8):
        B.vstore([tid, k * 8], tile.vload([63 - tid, k * 8], dtype="float16x8"))
)",
       {},
       ""},
      {"NotGroupable",
       R"(def kernel(B: T.Buffer((4, 6), "int32")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    tile = T.alloc_buffer((4, 6), "int32", scope="shared", layout=TileLayout(S[(3, 8) : (1, 3)]))
    if tid < 24:
        tile[tid // 6, tid % 6] = tid
    T.cuda.cta_sync()
    flat = tile.view(24, layout=TileLayout(S[(24,) : (1,)]))
    if tid < 24:
        B[tid // 6, tid % 6] = flat[tid]
)",
       {},
       ""},
      {"ViewsOfOtherTypes",
       R"(def kernel(A: T.Buffer((32, 4), "float16"), B: T.Buffer((32, 2), "uint32"), C: T.Buffer((32, 8), "uint8")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    tile = T.alloc_buffer((32, 4), "float16", scope="shared", layout=TileLayout(S[(32, 4) : (6, 1)]))
    for k in range(4):
        tile[tid, k] = A[tid, k]
    words = tile.view("uint32")
    bytes_ = tile.view("uint8")
    for k in range(2):
        B[tid, k] = words[tid, k]
    for k in range(8):
        C[tid, k] = bytes_[tid, k]
    regs = T.alloc_local((4,), "float16")
    pairs = regs.view("uint32")
    for k in range(2):
        pairs[k] = words[tid, k]
    for k in range(4):
        A[tid, k] = regs[k] + T.float16(1)
)",
       {},
       ""},
      {"Offsets",
       R"(def kernel(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([16])
    tile = T.alloc_buffer((128,), "float32", scope="shared")
    part = T.decl_buffer((4, 16), "float32", data=tile.data, elem_offset=8, scope="shared")
    here = T.decl_buffer((4,), "float32", data=tile.data, elem_offset=tid * 4 + 8, scope="shared")
    words = T.decl_buffer((4,), "uint32", data=tile.data, elem_offset=tid * 4 + 8, scope="shared")
    behind = T.decl_buffer((2,), "float16", data=tile.data, byte_offset=6, scope="shared")
    for k in range(4):
        here[k] = A[tid * 4 + k]
    behind[1] = T.float16(2)
    T.cuda.cta_sync()
    for k in range(4):
        B[k * 16 + tid] = part[k, 15 - tid] + T.cast(behind[1], "float32")
    for k in range(4):
        A[tid * 4 + k] = T.reinterpret("float32", words[k])
)",
       {},
       ""},
      {"ManyDimensions",
       R"(def kernel(A: T.Buffer((2, 3, 4, 5, 6), "int32")):
    T.device_entry(); bx, by, bz = T.cta_id([4, 3, 2]); tx, ty, tz = T.thread_id([2, 3, 5])
    A[bz, by, bx, tz, ty * 2 + tx] = bz * 10000 + by * 1000 + bx * 100 + tz * 10 + ty * 2 + tx
)",
       {},
       ""},
      {"WarpsOfAMultiDimensionalBlock",
       R"(def kernel(A: T.Buffer((128, 5), "int32")):
    T.device_entry(); T.cta_id([1]); tx, ty = T.thread_id([16, 8]); w = T.warp_id([4]); l = T.lane_id([32])
    g = T.warpgroup_id([1]); i = T.warp_id_in_wg([4]); t = T.thread_id_in_wg([128])
    A[ty * 16 + tx, 0] = w
    A[ty * 16 + tx, 1] = l
    A[ty * 16 + tx, 2] = g
    A[ty * 16 + tx, 3] = i
    A[ty * 16 + tx, 4] = t
)",
       {},
       ""},
      {"Warpgroups",
       R"(def kernel(A: T.Buffer((256, 5), "int32")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([256]); w = T.warp_id([8]); l = T.lane_id([32])
    g = T.warpgroup_id([2]); i = T.warp_id_in_wg([4]); t = T.thread_id_in_wg([128])
    A[tid, 0] = w
    A[tid, 1] = l
    A[tid, 2] = g
    A[tid, 3] = i
    A[tid, 4] = t
)",
       {},
       ""},
      {"Clusters",
       R"(def kernel(A: T.Buffer((4, 4, 32, 4), "int32")):
    T.device_entry(); bx, by = T.cta_id([4, 4]); cx, cy = T.cluster_id([2, 4])
    rx, ry = T.cta_id_in_cluster([2, 1]); tid = T.thread_id([32]); p = T.cta_id_in_pair()
    A[by, bx, tid, 0] = cx * 10 + cy
    A[by, bx, tid, 1] = rx * 10 + ry
    A[by, bx, tid, 2] = p
    A[by, bx, tid, 3] = bx
)",
       {},
       ""},
      {"LinearClusterIds",
       R"(def kernel(A: T.Buffer((4, 32, 3), "int32")):
    T.device_entry(); bx = T.cta_id([4]); c = T.cluster_id([2]); r = T.cta_id_in_cluster([2]); tid = T.thread_id([32])
    A[bx, tid, 0] = c
    A[bx, tid, 1] = r
    A[bx, tid, 2] = tid
)",
       {},
       ""},
      {"RuntimeExtents",
       R"(def kernel(A_ptr: T.handle, B_ptr: T.handle):
    m = T.int32()
    n = T.int32()
    A = T.match_buffer(A_ptr, (m, n), "float32"); B = T.match_buffer(B_ptr, (n, m), "float32")
    T.device_entry(); bx = T.cta_id([T.ceildiv(m, 4)]); tid = T.thread_id([32])
    for r in range(4):
        i = bx * 4 + r
        if i < m:
            for k in range(T.ceildiv(n, 32)):
                j = k * 32 + tid
                if j < n:
                    B[j, i] = A[i, j] + T.float32(1)
)",
       {{"m", 6}, {"n", 40}},
       ""},
      {"RuntimeRows",
       R"(def kernel(A: T.Buffer(("n", 16), "int16"), B: T.Buffer(("n",), "int32")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    for i in range(T.ceildiv(A.shape[0], 32)):
        if i * 32 + tid < A.shape[0]:
            s: T.int32 = 0
            for k in range(16):
                s += T.cast(A[i * 32 + tid, k], "int32")
            B[i * 32 + tid] = s
)",
       {{"n", 37}},
       ""},
      {"ScalarsOfTheLaunch",
       R"(def kernel(A: T.Buffer((4, 32), "int32"), k: T.int32, u: T.uint32):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    A[k, tid] = A[k - 1, (tid + 5) % 32] // -3 + (tid - 16) // 4 * 100 + (tid - 16) % 5
    A[u - T.uint32(1), tid] = T.cast(u, "int32")
)",
       {{"k", 2}, {"u", 4}},
       ""},
      {"Vectors",
       R"(def kernel(A: T.Buffer((32, 8), "float32"), B: T.Buffer((32, 8), "float32"), C: T.Buffer((8, 32), "float32")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    tile = T.alloc_buffer((32, 8), "float32", scope="shared", layout=TileLayout(S[(32, 2, 4) : (4, 128, 1)]))
    turned = T.alloc_buffer((32, 8), "float32", scope="shared", layout=TileLayout(S[(32, 8) : (1, 32)]))
    for k in range(2):
        tile.vstore([tid, k * 4], A.vload([tid, k * 4], dtype="float32x4"))
        turned.vstore([tid, k * 4], A.vload([tid, k * 4], dtype="float32x4") * T.Broadcast(T.float32(2), 4))
    T.cuda.cta_sync()
    for k in range(4):
        B.vstore([tid, k * 2], tile.vload([31 - tid, k * 2], dtype="float32x2"))
    for k in range(8):
        C[k, tid] = turned[tid, k]
    T.cuda.cta_sync()
    regs = T.alloc_local((8,), "float32")
    regs.vstore([2], turned.vload([tid, 1], dtype="float32x4"))
    tile.vstore([tid, 1], regs.vload([2], dtype="float32x4"))
    A.vstore([tid, 0], tile.vload([tid, 1], dtype="float32x4"))
)",
       {},
       ""},
      {"Ramps",
       R"(def kernel(A: T.Buffer((32, 8), "int32"), B: T.Buffer((32, 8), "int32")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    B[tid, T.Ramp(0, 2, 4)] = A[tid, T.Ramp(4, 1, 4)]
    B[tid, T.Ramp(7, -2, 4)] = A[tid, T.Ramp(0, 2, 4)]
)",
       {},
       ""},
      {"NestedLoops",
       R"(def kernel(B: T.Buffer((32, 16), "int32")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    acc = T.alloc_local((4, 4), "int32")
    for i in range(4):
        for j in range(4):
            acc[i, j] = 0
    for k in range(5):
        for i in range(4):
            for j in range(i + 1):
                twice: T.let = k * 2
                acc[i, j] += twice * tid + j
            if i % 2 == 0:
                acc[i, 3 - i] = acc[i, 3 - i] + 100
            else:
                acc[i, 0] = acc[i, 0] - 1
    for i in range(4):
        for j in range(4):
            B[tid, i * 4 + j] = acc[i, j]
)",
       {},
       ""},
      {"StorageInLoops",
       R"(def kernel(A: T.Buffer((32, 4), "int32")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    for i in T.unroll(4):
        own = T.alloc_local((2,), "int32")
        s = T.alloc_buffer((32,), "int32", scope="shared")
        own[0] = A[tid, i]
        own[1] = own[0] * 2
        s[tid] = own[1]
        T.cuda.cta_sync()
        for j in range(2):
            x = s[(tid + i + j) % 32] + own[j]
            if x > 10:
                A[tid, i] = x
        T.cuda.cta_sync()
)",
       {},
       ""},
      {"Jumps",
       R"(def kernel(A: T.Buffer((32, 8), "int32")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    r = T.alloc_local((8,), "int32")
    q = T.alloc_local((2,), "int32")
    for i in range(8):
        r[i] = A[tid, i]
    for i in range(8):
        if r[i] > 9:
            break
        r[i] = r[i] + 1
    for i in T.unroll(8):
        if i == 3:
            continue
        A[tid, i] = r[i]
    for i in range(2):
        q[i] = i
        for j in range(3):
            if j == q[i]:
                break
            A[tid, j] = q[i]
)",
       {},
       "r: indexed by `i`, whose loop is left by `break` or `continue`"},
      {"Spills",
       R"(def kernel(A: T.Buffer((32, 8), "int32"), n: T.int32):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    by_thread = T.alloc_local((8,), "int32")
    by_loop = T.alloc_local((8,), "int32")
    by_value = T.alloc_local((8,), "int32")
    large = T.alloc_local((128, 64), "int32")
    stays = T.alloc_local((8,), "int32")
    k: T.int32 = 0
    for i in range(8):
        by_thread[i] = i
        by_value[i] = i * 3
        by_loop[i] = i * 5
        stays[i] = i * 7
    for i in range(n):
        by_loop[i] = by_thread[(tid + i) % 8]
        k += 1
    for i in range(128):
        for j in range(64):
            large[i, j] = i * j
    for i in range(8):
        A[tid, i] = by_loop[i] + stays[i] + by_value[k] + large[i, i]
)",
       {{"n", 5}},
       "by_thread: indexed by `tid`; by_loop: indexed by `i`, whose loop goes as far as `n` says; "
       "by_value: indexed by `k`; large: indexed by `i`, whose loop would become 8192 statements, "
       "of 4096 at "
       "most"},
      {"Pointers",
       R"(def kernel(A: T.Buffer((32, 8), "float32"), B: T.Buffer((32, 8), "float32")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    r = T.alloc_local((8,), "float32")
    s = T.alloc_buffer((32, 8), "float32", scope="shared", layout=TileLayout(S[(32, 8) : (12, 1)]))
    for f in range(2):
        to: T.let = T.pointer_offset(T.address_of(r[0]), f * 4)
        at: T.let = T.address_of(A[tid, f * 4])
        T.cuda.copy_bytes(to, at, 16)
    for f in range(2):
        T.cuda.copy_bytes(T.address_of(s[tid, f * 4]), T.address_of(r[f * 4]), 16)
    T.cuda.cta_sync()
    p = T.decl_buffer((8,), "float32", data=T.address_of(s[31 - tid, 0]), scope="shared")
    for f in range(8):
        B[tid, f] = p[f]
    T.cuda.atomic_add(T.address_of(B[tid, tid % 8]), T.float32(1))
)",
       {},
       ""},
      {"PtxOperands",
       R"(def kernel(A: T.Buffer((8, 8), "float16"), B: T.Buffer((32, 2), "float16")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    s = T.alloc_buffer((8, 8), "float16", scope="shared", layout=TileLayout(S[(8, 8) : (16, 1)]))
    r = T.alloc_local((2, 2), "float16")
    w = T.alloc_local((2,), "uint32")
    for k in range(2):
        s[tid // 4, tid % 4 * 2 + k] = A[tid // 4, tid % 4 * 2 + k]
    T.cuda.cta_sync()
    for i in T.unroll(2):
        T.ptx["ldmatrix.sync.aligned.m8n8.x1.shared.b16"](T.ptx.at(T.address_of(r[i, 0])), T.address_of(s[tid % 8, 0]))
    for i in range(2):
        T.ptx["add.u32"](w[i], T.cast(tid, "uint32"), T.uint32(3))
    for i in range(2):
        B[tid, i] = r[1, i] + T.cast(w[i], "float16")
)",
       {},
       ""},
      {"KindsOfLoops",
       R"(def kernel(A: T.Buffer((32, 8), "int64"), B: T.Buffer((8,), "bool")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    for i in T.vectorized(4):
        A[tid, i] = T.cast(i, "int64")
    for i in T.serial(4, 8, step=2):
        A[tid, i] = T.cast(i, "int64") * T.int64(1000000007)
    for i in T.unroll(5, 8, step=2):
        A[tid, i] = T.cast(tid, "int64") * T.int64(-3)
    for x in T.thread_binding(32, "threadIdx.x"):
        if x < 8:
            B[x] = A[x, 1] > T.int64(0)
    i: T.int32 = 0
    while i < 4:
        A[tid, i] += T.int64(1)
        i += 1
)",
       {},
       ""},
      {"SmallFloats",
       R"(def kernel(A: T.Buffer((32, 4), "float8_e4m3fn"), B: T.Buffer((4, 32), "bfloat16")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    r = T.alloc_local((4,), "bfloat16")
    s = T.alloc_buffer((32, 4), "float8_e4m3fn", scope="shared", layout=TileLayout(S[(8, 4, 4) : (16, 1, 4)]))
    for k in range(4):
        s[tid, k] = A[tid, k]
    for k in range(4):
        r[k] = T.cast(s[tid, 3 - k], "bfloat16")
    for k in range(4):
        B[k, tid] = r[k]
)",
       {},
       ""},
      {"DynamicShared",
       R"(def kernel(A: T.Buffer((32, 4), "float64")):
    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])
    buf = T.alloc_buffer((2048,), "uint8", scope="shared.dyn")
    s = T.decl_buffer((32, 4), "float64", data=buf.data, scope="shared.dyn", byte_offset=512)
    for k in range(4):
        s[tid, k] = A[tid, k]
    T.cuda.cta_sync()
    for k in range(4):
        A[tid, k] = s[31 - tid, 3 - k]
)",
       {},
       ""},
  };
}

}  // namespace ww::lower::lowering_test
