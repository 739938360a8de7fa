# O = softmax(Q @ K.T / sqrt(dim)) @ V for packed sequences of different lengths. The compiler infers the
# layouts, which ../attention_varlen.py has by hand: the products decide, and because the first one's
# sums become an operand of the second, all warps stand one below the other.
#
#   warpwright run examples/rows/attention.py --arg cu_seqlens=list:0,99,100,256 --arg Q=zeros --expect 'O[:99] ~= mean(V[:99], axis=0, keepdims=True)'
#   warpwright explain examples/rows/attention.py
import math

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(rows=256, sequences=3, heads=2, dim=64, slots=2, BM=64, BN=64, dtype="float16"):
    scale = math.log2(math.e) / math.sqrt(dim)
    tensor = T.Buffer((rows, heads, dim), dtype)

    @T.prim_func
    def attention(Q: tensor, K: tensor, V: tensor, cu_seqlens: T.Buffer((sequences + 1,), "int32"),
                  O: tensor):
        T.device_entry()
        slot, h, b = T.cta_id([slots, heads, sequences])
        T.thread_id([BM * 2])
        lane = T.lane_id([32])
        K_s = T.alloc_shared((BN, dim), dtype, layout="auto")
        V_s = T.alloc_shared((BN, dim), dtype, layout="auto")
        q = T.alloc_local((BM, dim), dtype, layout="auto")
        s = T.alloc_local((BM, BN), "float32", layout="auto")
        p = T.alloc_local((BM, BN), dtype, layout="auto")
        o = T.alloc_local((BM, dim), "float32", layout="auto")
        o_out = T.alloc_local((BM, dim), dtype, layout="auto")
        most = T.alloc_local((BM, 1), "float32", layout="auto")
        total = T.alloc_local((BM, 1), "float32", layout="auto")
        factor = T.alloc_local((BM, 1), "float32", layout="auto")
        scores = s.local(BN // 2)
        begin: T.let = cu_seqlens[b]
        end: T.let = cu_seqlens[b + 1]
        V_b = T.decl_buffer((end, heads, dim), dtype, data=V.data)
        O_b = T.decl_buffer((end, heads, dim), dtype, data=O.data)
        for m0 in T.serial(begin + slot * BM, end, step=slots * BM):
            Tx.cta.copy(K_s, Q[m0 : m0 + BM, h, :], fill_value=0)
            T.cuda.cta_sync()
            Tx.cta.copy(q, K_s)
            T.cuda.cta_sync()
            Tx.cta.fill(most, float("-inf"))
            Tx.cta.zero(total)
            Tx.cta.zero(o)
            for n0 in T.serial(begin, end, step=BN):
                Tx.cta.copy_async(K_s, K[n0 : n0 + BN, h, :], fill_value=0)
                T.ptx.cp_async.commit_group()
                Tx.cta.copy_async(V_s, V_b[n0 : n0 + BN, h, :], fill_value=0)
                T.ptx.cp_async.commit_group()
                T.ptx.cp_async.wait_group(1)
                T.cuda.cta_sync()
                Tx.cta.gemm(s, q, K_s, s, transpose_B=True, stage=True, alpha=scale)
                for i in T.unroll(BN // 2):
                    if n0 + i // 4 * 8 + lane % 4 * 2 + i % 2 >= end:
                        scores[i] = float("-inf")
                Tx.cta.copy(factor, most)
                Tx.cta.max(most, s, accum=True)
                Tx.cta.sub(factor, factor, most)
                Tx.cta.exp2(factor, factor)
                Tx.cta.sub(s, s, most)
                Tx.cta.exp2(s, s)
                Tx.cta.mul(total, total, factor)
                Tx.cta.sum(total, s, accum=True)
                Tx.cta.mul(o, o, factor)
                Tx.cta.cast(p, s)
                T.ptx.cp_async.wait_group(0)
                T.cuda.cta_sync()
                Tx.cta.gemm(o, p, V_s, o, beta=1.0, stage=True)
                T.cuda.cta_sync()
            Tx.cta.fdiv(o, o, total)
            Tx.cta.cast(o_out, o)
            Tx.cta.copy(O_b[m0 : m0 + BM, h, :], o_out, clip=True)

    return attention


kernel = build()
