// SPDX-License-Identifier: Apache-2.0
// The demonstration programs and a lowered one, as whole texts.
#include <gtest/gtest.h>

#include "ir/print/print.h"
#include "ir/test_programs.h"

namespace ww::ir::print_programs_test {
namespace {

TEST(PrintProgram, LdmatrixProgram) {
  EXPECT_EQ(print(test::ldmatrix_program().done()), R"py(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (8, 16), "float16")
    B = T.match_buffer(B_ptr, (8, 16), "float16")
    T.device_entry()
    T.cta_id([1])
    T.lane_id([32])
    tid = T.thread_id([32])
    A_smem = T.alloc_buffer((8, 4, 2, 2), "float16", scope="shared", layout=TileLayout(S[(8, 4, 2, 2) : (16, 2, 8, 1)]))
    row: T.int32 = tid // 4
    cp: T.int32 = tid % 4
    for t in range(2):
        for w in range(2):
            A_smem[row, cp, t, w] = A[row, t * 8 + cp * 2 + w]
    T.cuda.cta_sync()
    R_1 = T.alloc_buffer((8, 4, 2, 2), "float16", scope="local", layout=TileLayout(S[(8, 4, 2, 2) : (4 @ laneid, 1 @ laneid, 2, 1)]))
    Tx.warp.copy(R_1[0:8, 0:4, 0:2, 0:2], A_smem[0:8, 0:4, 0:2, 0:2])
    R_local = T.decl_buffer((4,), "float16", data=R_1.data, scope="local")
    for t in range(2):
        for w in range(2):
            B[row, t * 8 + cp * 2 + w] = R_local[t * 2 + w]
)py");
}

TEST(PrintProgram, RegProgram) {
  EXPECT_EQ(print(test::reg_program().done()), R"py(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32, 8))
    T.device_entry()
    T.cta_id([1])
    T.lane_id([32])
    tid = T.thread_id([32])
    A_smem = T.alloc_buffer((32, 8), scope="shared", layout=TileLayout(S[(32, 8) : (8, 1)]))
    for kk in range(8):
        A_smem[tid, kk] = T.Cast("float32", tid * 100 + kk + 1)
    T.cuda.cta_sync()
    R_1 = T.alloc_buffer((32, 8), scope="local", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))
    Tx.warp.copy(R_1[0:32, 0:8], A_smem[0:32, 0:8])
    for kk in range(8):
        A_smem[tid, kk] = T.float32(0.0)
    T.cuda.cta_sync()
    Tx.warp.copy(A_smem[0:32, 0:8], R_1[0:32, 0:8])
    T.cuda.cta_sync()
    for kk in range(8):
        B[tid, kk] = A_smem[tid, kk]
)py");
}

TEST(PrintProgram, TensorProgram) {
  EXPECT_EQ(print(test::tensor_program().done()), R"py(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, TLane, TCol, tid_in_wg

@T.prim_func
def copy_async_test(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (128, 8), "float16")
    B = T.match_buffer(B_ptr, (128, 8), "float16")
    T.device_entry()
    warp_id = T.warp_id([4])
    wg_id = T.warpgroup_id([1])
    tid = T.thread_id([128])
    tmem_addr = T.alloc_shared((1,), "uint32")
    if wg_id == 0:
        if warp_id == 0:
            T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(tmem_addr[0]), T.uint32(32))
        T.tvm_storage_sync("shared")
        tmem = T.decl_buffer((128, 8), "float16", scope="tmem", allocated_addr=tmem_addr[0], layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 @ TCol)]))
        A_reg = T.alloc_local((8,), "float16")
        B_reg = T.alloc_local((8,), "float16")
        A_local = T.decl_buffer((128, 8), "float16", data=A_reg.data, scope="local", layout=TileLayout(S[(128, 8) : (1 @ tid_in_wg, 1)]))
        B_local = T.decl_buffer((128, 8), "float16", data=B_reg.data, scope="local", layout=TileLayout(S[(128, 8) : (1 @ tid_in_wg, 1)]))
        for i in range(8):
            A_reg[i] = A[tid, i]
            B_reg[i] = T.float16(0.0)
        T.cuda.cta_sync()
        Tx.wg.copy_async(tmem[0:128, 0:8], A_local[0:128, 0:8])
        T.ptx["tcgen05.wait::st.sync.aligned"]()
        T.cuda.cta_sync()
        Tx.wg.copy_async(B_local[0:128, 0:8], tmem[0:128, 0:8])
        T.ptx["tcgen05.wait::ld.sync.aligned"]()
        for i in range(8):
            B[tid, i] = B_reg[i]
)py");
}

TEST(PrintProgram, GemmProgram) {
  EXPECT_EQ(print(test::gemm_program().done()), R"py(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def gemm(A_g_ptr: T.handle, B_g_ptr: T.handle, D_g_ptr: T.handle):
    A_g = T.match_buffer(A_g_ptr, (16, 16), "float16")
    B_g = T.match_buffer(B_g_ptr, (16, 8), "float16")
    D_g = T.match_buffer(D_g_ptr, (16, 8))
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    A_f = T.alloc_buffer((16, 16), "float16", scope="local", layout=TileLayout(S[(2, 8, 2, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    B_f = T.alloc_buffer((16, 8), "float16", scope="local", layout=TileLayout(S[(2, 4, 2, 8) : (2, 1 @ laneid, 1, 4 @ laneid)]))
    D_f = T.alloc_buffer((16, 8), scope="local", layout=TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]))
    A_reg = T.decl_buffer((8,), "float16", data=A_f.data, scope="local", layout=TileLayout(S[(2, 2, 2) : (2, 4, 1)]))
    for s in T.unroll(8):
        A_reg[s] = A_g[lane // 4 + 8 * (s // 4), 2 * (lane % 4) + s % 2 + 8 * (s // 2 % 2)]
    B_reg = T.decl_buffer((4,), "float16", data=B_f.data, scope="local", layout=TileLayout(S[(2, 2) : (2, 1)]))
    for s in T.unroll(4):
        B_reg[s] = B_g[2 * (lane % 4) + s % 2 + 8 * (s // 2), lane // 4]
    Tx.warp.gemm(D_f[0:16, 0:8], A_f[0:16, 0:16], B_f[0:16, 0:8], D_f[0:16, 0:8])
    D_reg = T.decl_buffer((4,), data=D_f.data, scope="local", layout=TileLayout(S[(2, 2) : (2, 1)]))
    for s in T.unroll(4):
        D_g[lane // 4 + 8 * (s // 2), 2 * (lane % 4) + s % 2] = D_reg[s]
)py");
}

TEST(PrintProgram, LoweredProgram) {
  EXPECT_EQ(print(test::lowered_program().done()), R"py(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32, 8), layout=None)
    T.device_entry()
    B_1 = T.decl_buffer((256,), data=B.data, layout=None)
    blockIdx_x = T.launch_thread("blockIdx.x", 1)
    threadIdx_x = T.launch_thread("threadIdx.x", 32)
    warp_id_in_cta: T.let[T.int32] = T.tvm_warp_shuffle(T.uint32(4294967295), threadIdx_x // 32, 0, 32, 32)
    A_smem = T.alloc_shared((256,))
    r_local = T.alloc_local((8,))
    for f in range(2):
        s_ptr: T.let[T.handle("float32")] = T.pointer_offset(T.address_of(A_smem[0]), threadIdx_x % 32 * 8 + f * 4)
        r_ptr: T.let[T.handle("float32")] = T.pointer_offset(T.address_of(r_local[0]), f * 4)
        T.cuda.copy_bytes(r_ptr, s_ptr, 16)
    w = T.alloc_local((4,), "float16")
    for mm in T.unroll(1):
        T.ptx.ldmatrix(T.bool(False), 2, ".b16", T.address_of(A_smem[0]), T.address_of(w[mm * 4]), T.address_of(w[2]))
    B_1[threadIdx_x] = r_local[0]
)py");
}

}  // namespace
}  // namespace ww::ir::print_programs_test
