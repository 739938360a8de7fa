# SPDX-License-Identifier: Apache-2.0
"""Loads and stores as functions; an arrival whose state is unused; joined mnemonics."""
from tvm.script import tirx as T


@T.prim_func
def kernel(A: T.Buffer((64,), "uint32"), F: T.Buffer((64,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    smem = T.alloc_buffer((64,), "uint32", scope="shared", align=16)
    bar = T.alloc_buffer((2,), "uint64", scope="shared", align=16)
    x = T.alloc_local((4,), "uint32")
    T.ptx.st(smem.ptr_to([0]), src=x.ptr_to([0]), space="shared", vec="v4", ptx_type="u32")
    T.ptx.ld(smem.ptr_to([0]), "uint32", "u32", dst=x.ptr_to([0]), space="shared", vec="v4")
    A[0] = T.ptx.ld_acquire(A.ptr_to([1]), "uint32", "u32", scope="gpu", space="global")
    T.ptx.st_release(A.ptr_to([2]), A[3], scope="gpu", space="global", ptx_type="u32")
    T.ptx.mbarrier.arrive.shared.b64(bar.ptr_to([0]), T.uint32(2))
    T.ptx.mbarrier.arrive.shared.b64(bar.ptr_to([1]), pred=A[0])
    T.ptx.st_bulk.weak.shared__cta(smem.data, T.uint64(16))
    T.ptx.shfl_sync.bfly.b32(x[0], x[1], 1, 31, 0xFFFFFFFF)
    F[0] = T.ptx.exp2(F[1]) + T.ptx.rcp(F[2])
    T.ptx.fence("sc", "gpu")
    T.ptx.setmaxnreg(True, 64)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((64,), "uint32"), F: T.Buffer((64,))):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    smem = T.alloc_shared((64,), "uint32", align=16)
    bar = T.alloc_shared((2,), "uint64", align=16)
    x = T.alloc_local((4,), "uint32")
    T.ptx["st.shared.v4.u32"](T.address_of(smem[0]), T.ptx.at(T.address_of(x[0])), T.ptx.at(T.pointer_offset(T.address_of(x[0]), 1)), T.ptx.at(T.pointer_offset(T.address_of(x[0]), 2)), T.ptx.at(T.pointer_offset(T.address_of(x[0]), 3)))
    T.ptx["ld.shared.v4.u32"](T.ptx.at(T.address_of(x[0])), T.ptx.at(T.pointer_offset(T.address_of(x[0]), 1)), T.ptx.at(T.pointer_offset(T.address_of(x[0]), 2)), T.ptx.at(T.pointer_offset(T.address_of(x[0]), 3)), T.address_of(smem[0]))
    v = T.alloc_local((1,), "uint32")
    T.ptx["ld.acquire.gpu.global.u32"](v[0], T.address_of(A[1]))
    A[0] = v[0]
    T.ptx["st.release.gpu.global.u32"](T.address_of(A[2]), A[3])
    T.ptx["mbarrier.arrive.shared.b64"](T.ptx.SINK, T.address_of(bar[0]), T.uint32(2))
    T.ptx["mbarrier.arrive.shared.b64"](T.ptx.SINK, T.address_of(bar[1]), pred=A[0] != T.uint32(0))
    T.ptx["st.bulk.weak.shared::cta"](smem.data, T.uint64(16), 0)
    T.ptx["shfl.sync.bfly.b32"](x[0], x[1], T.uint32(1), T.uint32(31), T.uint32(4294967295))
    v_1 = T.alloc_local((1,))
    T.ptx["ex2.approx.ftz.f32"](v_1[0], F[1])
    v_2 = T.alloc_local((1,))
    T.ptx["rcp.approx.ftz.f32"](v_2[0], F[2])
    F[0] = v_1[0] + v_2[0]
    T.ptx["fence.sc.gpu"]()
    T.ptx["setmaxnreg.inc.sync.aligned.u32"](T.uint32(64))
