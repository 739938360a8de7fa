# Mathematics.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x: T.float32 = A[tx, 0]
    x = T.exp(x) + T.exp2(x) + T.exp10(x) + T.log(x) + T.log2(x) + T.log10(x) + T.log1p(x) + T.expm1(x)
    x = T.sqrt(x) + T.rsqrt(x) + T.sin(x) + T.cos(x) + T.tan(x) + T.tanh(x) + T.sigmoid(x) + T.erf(x) + T.gelu(x) + T.gelu_tanh(x)
    x = T.pow(x, 2.0) + T.fmod(x, 3.0) + T.fma(x, x, 1.0) + T.floor(x) + T.ceil(x) + T.trunc(x)
    x = T.round(x) + T.nearbyint(x) + T.copysign(x, -1.0) + T.fabs(x)
    if T.isnan(x) or T.isinf(x) or T.likely(T.isfinite(x)):
        A[tx, 0] = x
    A[tx, 1] = T.popcount(tx) + T.clz(tx)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.float32 = A[tx, 0]
    x = T.exp(x) + T.exp2(x) + T.exp10(x) + T.log(x) + T.log2(x) + T.log10(x) + T.log1p(x) + T.expm1(x)
    x = T.sqrt(x) + T.rsqrt(x) + T.sin(x) + T.cos(x) + T.tan(x) + T.tanh(x) + T.sigmoid(x) + T.erf(x) + T.gelu(x) + T.gelu_tanh(x)
    x = T.pow(x, T.float32(2.0)) + T.fmod(x, T.float32(3.0)) + T.fma(x, x, T.float32(1.0)) + T.floor(x) + T.ceil(x) + T.trunc(x)
    x = T.round(x) + T.nearbyint(x) + T.copysign(x, T.float32(-1.0)) + T.abs(x)
    if T.isnan(x) or T.isinf(x) or T.likely(T.isfinite(x)):
        A[tx, 0] = x
    A[tx, 1] = T.Cast("float32", T.popcount(tx) + T.clz(tx))
