# SPDX-License-Identifier: Apache-2.0
"""Primitives under the names of their instructions, and the parts of a region."""
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayout, laneid

OWN = TileLayout(S[(32, 8) : (1 @ laneid, 1)])


@T.function
def kernel(A: T.Tensor((64, 8), "float32"), B: T.Tensor((64, 8), "float16"), n: T.int32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=2, block=32))
    bx = T.cuda.block_idx("x")
    src = T.meta_var(A[bx * 32 : bx * 32 + 32, 0:8])
    staged = T.alloc_tensor([r.extent for r in src.region], src.source.dtype, scope="shared")
    R = T.alloc_tensor((32, 8), "float32", scope="local", layout=OWN)
    H = T.alloc_tensor((32, 8), "float16", scope="local", layout=OWN)
    W = T.alloc_tensor((8, 8), "float32", scope="local")
    v = T.alloc_local((4,), "float32")
    T.cuda.tile.ld(v, A[n, 0:4], vec_bits=128, cache="nc", l1_evict="L1::no_allocate")
    T.cuda.tile.cp_async(staged, src, n, scope="cta", fill_mode="zero", prefetch_size=-1)
    T.cuda.tile.ld(R, staged, scope="warp")
    T.cuda.tile.mov(R, T.float32(2), scope="warp")
    T.cuda.tile.mov(R, R, scope="warp")
    T.cuda.tile.add(R, R, T.float32(1), scope="warp")
    T.cuda.tile.div(R, 1.0, R, scope="warp")
    T.cuda.tile.max(R, lhs=R, rhs=0.0, scope="warp")
    T.cuda.tile.fma(R, R, R, T.float32(3), scope="warp")
    T.cuda.tile.ex2(R, scope="warp")
    T.cuda.tile.compose.exp_with_scale_bias(R, R, T.float32(2), T.float32(1), scope="warp")
    T.cuda.tile.cvt(H, R, scope="warp")
    T.cuda.tile.st(B[bx * 32 : bx * 32 + 32, :], H, scope="warp")
    T.cuda.tile.mma_sync(W, A[0:8, :], A[8:16, :], W, transpose_B=True, beta=1.0)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def kernel(A: T.Buffer((64, 8)), B: T.Buffer((64, 8), "float16"), n: T.int32):
    T.device_entry()
    bx = T.cta_id([2])
    T.thread_id([32])
    staged = T.alloc_buffer((32, 8), scope="shared")
    R_1 = T.alloc_buffer((32, 8), scope="local", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))
    H = T.alloc_buffer((32, 8), "float16", scope="local", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))
    W = T.alloc_buffer((8, 8), scope="local")
    v = T.alloc_local((4,))
    Tx.copy(v[0:4], A[n:n + 1, 0:4], cache="nc", l1_evict="no_allocate", dispatch="vec_128b")
    Tx.cta.copy_async(staged[0:32, 0:8], A[bx * 32:bx * 32 + 32, 0:8], predicate=n, fill_mode="zero", dispatch="ldgsts")
    Tx.warp.copy(R_1[0:32, 0:8], staged[0:32, 0:8], dispatch="reg")
    Tx.warp.fill(R_1[0:32, 0:8], T.float32(2.0))
    Tx.warp.copy(R_1[0:32, 0:8], R_1[0:32, 0:8])
    Tx.warp.add(R_1[0:32, 0:8], R_1[0:32, 0:8], T.float32(1.0))
    Tx.warp.fdiv(R_1[0:32, 0:8], T.float32(1.0), R_1[0:32, 0:8])
    Tx.warp.maximum(R_1[0:32, 0:8], R_1[0:32, 0:8], T.float32(0.0))
    Tx.warp.fma(R_1[0:32, 0:8], R_1[0:32, 0:8], R_1[0:32, 0:8], T.float32(3.0))
    Tx.warp.exp2(R_1[0:32, 0:8])
    Tx.warp.exp(R_1[0:32, 0:8], src=R_1[0:32, 0:8], bias=T.float32(1.0), scale=T.float32(2.0))
    Tx.warp.cast(H[0:32, 0:8], src=R_1[0:32, 0:8])
    Tx.warp.copy(B[bx * 32:bx * 32 + 32, 0:8], H[0:32, 0:8], dispatch="reg")
    Tx.gemm(W[0:8, 0:8], A[0:8, 0:8], A[8:16, 0:8], W[0:8, 0:8], transpose_B=True, beta=1.0)
