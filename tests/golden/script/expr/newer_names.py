# SPDX-License-Identifier: Apache-2.0
"""Names that TVM's head has for what there was before, and some that are nodes of its trees."""
from tvm.script import tirx as T

SOURCE = "__device__ int add_one(int a) { return a + 1; }"


@T.function
def kernel(A: T.Tensor((32,), "float32"), U: T.Tensor((32,), "uint32"), I: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32))
    t = T.cuda.lane_id()
    A[t] = A[t] + T.gpu_warp_shuffle_xor(0xFFFFFFFF, A[t], 16, 32, 32)
    A[t] = T.cuda.__shfl_sync(0xFFFFFFFF, A[t], 0, 32)
    T.gpu_storage_sync("shared")
    U[t] = T.reinterpret(A[t], ty="uint32")
    U[t] = T.gpu_warp_activemask() + T.cuda.__activemask()
    if T.constexpr(2 > 1):
        I[t] = T.cuda.func_call("add_one", I[t], SOURCE, ty="int32")
    if T.logical_and(t > 3, T.logical_not(t == 5)):
        I[t] = T.FloorDiv(I[t], 3) + T.FloorMod(I[t], 3) + T.LShift(I[t], 1) + T.RShift(I[t], 1)
        I[t] = T.BitwiseAnd(I[t], 3) + T.BitwiseOr(I[t], 3) + T.BitwiseXor(I[t], 3)
        I[t] = T.Max(I[t], 3) + T.Min(I[t], 3) + T.BitwiseNot(I[t]) + T.select(t > 4, 1, 2)
    if (t == 0) & T.cuda.elect_sync():
        U[t] = (t == 0) & U[t]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((32,)), U: T.Buffer((32,), "uint32"), I: T.Buffer((32,), "int32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    t = T.lane_id()
    A[t] = A[t] + T.tvm_warp_shuffle_xor(T.uint32(4294967295), A[t], 16, 32, 32)
    A[t] = T.tvm_warp_shuffle(T.uint32(4294967295), A[t], 0, 32, 32)
    T.tvm_storage_sync("shared")
    U[t] = T.reinterpret("uint32", A[t])
    U[t] = T.tvm_warp_activemask() + T.tvm_warp_activemask()
    I[t] = T.cuda.func_call("add_one", I[t], source_code="__device__ int add_one(int a) { return a + 1; }", return_type="int32")
    if t > 3 and not t == 5:
        I[t] = I[t] // 3 + I[t] % 3 + (I[t] << 1) + (I[t] >> 1)
        I[t] = (I[t] & 3) + (I[t] | 3) + (I[t] ^ 3)
        I[t] = T.max(I[t], 3) + T.min(I[t], 3) + ~I[t] + T.if_then_else(t > 4, 1, 2)
    if (t == 0) & (T.cuda.elect_sync() != T.uint32(0)):
        U[t] = T.Cast("uint32", t == 0) & U[t]
