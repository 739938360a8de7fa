# SPDX-License-Identifier: Apache-2.0
"""Functions of T.cuda that are made of others."""
from tvm.script import tirx as T


@T.prim_func
def kernel(H: T.Buffer((32, 8), "float16"), F: T.Buffer((32, 8), "float32"), U: T.Buffer((32,), "uint32"),
           P: T.Buffer((32,), "uint64")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    scratch = T.alloc_buffer((32,), "float32", scope="shared")
    F[t, 0] = T.cuda.half2float(H[t, 0]) + T.cuda.uint_as_float(U[t])
    F[t, 1] = T.cuda.fdividef(F[t, 0], F[t, 2]) + T.cuda.float2_x(P[t]) + T.cuda.float2_y(P[t])
    P[t] = T.cuda.fmul2_rn(P[t], T.cuda.make_float2(F[t, 0], F[t, 1]))
    U[t] = T.cuda.float_as_uint(F[t, 0])
    U[t] = T.cuda.float22bfloat162_rn(F[t, 0], F[t, 1])
    P[t] = T.cuda.bfloat1622float2(U[t])
    U[t] = T.cuda.hmin2(U[t], T.uint32(0))
    U[t] = T.cuda.reduce_add_sync_u32(T.uint32(0xFFFFFFFF), U[t])
    F[t, 3] = T.cuda.warp_max(F[t, 3]) + T.cuda.warp_sum(F[t, 3], 8)
    F[t, 4] = T.cuda.cta_max(F[t, 4], 1, scratch.data)
    F[t, 5] = T.cuda.ldg(F.ptr_to([t, 6]), "float32") + T.cast(T.cuda.ffs_u32(U[t]), "float32")
    T.cuda.float22half2(H.ptr_to([t, 0]), F.ptr_to([t, 2]))
    T.cuda.nano_sleep(20)
    T.cuda.trap_when_assert_failed(U[t] > T.uint32(0))
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(H: T.Buffer((32, 8), "float16"), F: T.Buffer((32, 8)), U: T.Buffer((32,), "uint32"), P: T.Buffer((32,), "uint64")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    scratch = T.alloc_shared((32,))
    F[t, 0] = T.Cast("float32", H[t, 0]) + T.reinterpret("float32", U[t])
    F[t, 1] = F[t, 0] / F[t, 2] + T.reinterpret("float32", T.Cast("uint32", P[t])) + T.reinterpret("float32", T.Cast("uint32", P[t] >> T.uint64(32)))
    P[t] = T.Cast("uint64", T.reinterpret("uint32", T.reinterpret("float32", T.Cast("uint32", P[t])) * T.reinterpret("float32", T.Cast("uint32", T.reinterpret("uint64", T.Shuffle([F[t, 0], F[t, 1]], [0, 1])))))) | T.Cast("uint64", T.reinterpret("uint32", T.reinterpret("float32", T.Cast("uint32", P[t] >> T.uint64(32))) * T.reinterpret("float32", T.Cast("uint32", T.reinterpret("uint64", T.Shuffle([F[t, 0], F[t, 1]], [0, 1])) >> T.uint64(32))))) << T.uint64(32)
    U[t] = T.reinterpret("uint32", F[t, 0])
    U[t] = T.Cast("uint32", T.reinterpret("uint16", T.Cast("bfloat16", F[t, 0]))) | T.Cast("uint32", T.reinterpret("uint16", T.Cast("bfloat16", F[t, 1]))) << T.uint32(16)
    P[t] = T.Cast("uint64", T.reinterpret("uint32", T.Cast("float32", T.reinterpret("bfloat16", T.Cast("uint16", U[t]))))) | T.Cast("uint64", T.reinterpret("uint32", T.Cast("float32", T.reinterpret("bfloat16", T.Cast("uint16", U[t] >> T.uint32(16)))))) << T.uint64(32)
    U[t] = T.Cast("uint32", T.reinterpret("uint16", T.min(T.reinterpret("bfloat16", T.Cast("uint16", U[t])), T.reinterpret("bfloat16", T.uint16(0))))) | T.Cast("uint32", T.reinterpret("uint16", T.min(T.reinterpret("bfloat16", T.Cast("uint16", U[t] >> T.uint32(16))), T.reinterpret("bfloat16", T.uint16(0))))) << T.uint32(16)
    U[t] = T.cuda.warp_reduce(U[t], "sum", 32)
    F[t, 3] = T.cuda.warp_reduce(F[t, 3], "max", 32) + T.cuda.warp_reduce(F[t, 3], "sum", 8)
    F[t, 4] = T.cuda.cta_reduce(F[t, 4], "max", 1, scratch.data)
    F[t, 5] = T.cuda.ldg(T.address_of(F[t, 6])) + T.Cast("float32", 32 - T.Cast("int32", T.clz(U[t] & T.uint32(0) - U[t])))
    H[t, 0] = T.Cast("float16", F[t, 2])
    H[t, 1] = T.Cast("float16", F[t, 3])
    T.ptx["nanosleep.u32"](T.uint32(20))
    assert U[t] > T.uint32(0)
