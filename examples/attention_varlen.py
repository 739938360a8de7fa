# O = softmax(Q @ K.T / sqrt(dim)) @ V for packed sequences of different lengths, layouts by hand:
# sequence b is the rows cu_seqlens[b] to cu_seqlens[b + 1] of Q, K, V and O. A block takes 64 queries of
# a head at a time, each warp 16 of them, and goes over the keys 64 at a time. Both loops end where
# cu_seqlens says.
#
# The softmax is online: `most` and `total` have the greatest score so far and the sum of the weights
# that follow from it, and when a greater score comes, `total` and the weighted sum `o` are scaled. A
# score is held in base 2, so that exp2 gives the weight. The accumulator of the first product, rounded,
# is the operand A of the second one as it stands: both layouts have an element in the same lane.
#
#   warpwright run examples/attention_varlen.py --arg cu_seqlens=list:0,99,100,256 --arg Q=zeros --expect 'O[:99] ~= mean(V[:99], axis=0, keepdims=True)'
#   warpwright run examples/attention_varlen.py --kernel 'build(dim=128, causal=True)' --arg cu_seqlens=list:0,99,100,256 --expect 'O[99] == V[99]'
#   warpwright explain examples/attention_varlen.py
import math

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import mma_shared_layout, mma_tile_layout, reduced_layout


def build(rows=256, sequences=3, heads=2, dim=64, slots=2, causal=False, dtype="float16"):
    BM, BN = 64, 64  # queries and keys
    # Rows of 128 bytes, swizzled; wider ones are panels of such rows.
    panels = mma_shared_layout(dtype, "auto", (64, dim))

    # Fragments of four warps, one below the other: of an accumulator, which is an operand A as well;
    # and what each row has once, which the four lanes of the row all hold.
    def frag(columns):
        return mma_tile_layout("D", (BM, columns), "float32", warps=(4, 1))

    of_row = reduced_layout(frag(BN), (BM, BN), 1)

    @T.prim_func
    def attention(Q_ptr: T.handle, K_ptr: T.handle, V_ptr: T.handle, cu_seqlens_ptr: T.handle,
                  O_ptr: T.handle):
        Q = T.match_buffer(Q_ptr, (rows, heads, dim), dtype)
        K = T.match_buffer(K_ptr, (rows, heads, dim), dtype)
        V = T.match_buffer(V_ptr, (rows, heads, dim), dtype)
        cu_seqlens = T.match_buffer(cu_seqlens_ptr, (sequences + 1,), "int32")
        O = T.match_buffer(O_ptr, (rows, heads, dim), dtype)
        T.device_entry()
        slot, h, b = T.cta_id([slots, heads, sequences])
        warp = T.warp_id([4])
        lane = T.lane_id([32])
        K_s = T.alloc_buffer((BN, dim), dtype, scope="shared", layout=panels)
        V_s = T.alloc_buffer((BN, dim), dtype, scope="shared", layout=panels)
        q = T.alloc_buffer((BM, dim), dtype, scope="local", layout=frag(dim))
        s = T.alloc_buffer((BM, BN), "float32", scope="local", layout=frag(BN))
        p = T.alloc_buffer((BM, BN), dtype, scope="local", layout=frag(BN))
        o = T.alloc_buffer((BM, dim), "float32", scope="local", layout=frag(dim))
        o_out = T.alloc_buffer((BM, dim), dtype, scope="local", layout=frag(dim))
        most = T.alloc_buffer((BM, 1), "float32", scope="local", layout=of_row)
        total = T.alloc_buffer((BM, 1), "float32", scope="local", layout=of_row)
        factor = T.alloc_buffer((BM, 1), "float32", scope="local", layout=of_row)
        scores = s.local(BN // 2)

        begin: T.let = cu_seqlens[b]
        end: T.let = cu_seqlens[b + 1]
        # V and O up to the sequence's end: rows behind it are read as 0 (a weight of 0 does not do,
        # because 0 * inf is NaN), and are not written.
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
            for n0 in T.serial(begin, T.min(end, m0 + BM) if causal else end, step=BN):
                Tx.cta.copy_async(K_s, K[n0 : n0 + BN, h, :], fill_value=0)
                T.ptx.cp_async.commit_group()
                Tx.cta.copy_async(V_s, V_b[n0 : n0 + BN, h, :], fill_value=0)
                T.ptx.cp_async.commit_group()
                T.ptx.cp_async.wait_group(1)
                T.cuda.cta_sync()
                Tx.cta.gemm(s, q, K_s, s, transpose_B=True, stage=True,
                            alpha=math.log2(math.e) / math.sqrt(dim))
                for i in T.unroll(BN // 2):
                    row: T.let = m0 + warp * 16 + i // 2 % 2 * 8 + lane // 4
                    key: T.let = n0 + i // 4 * 8 + lane % 4 * 2 + i % 2
                    if key >= end or (causal and key > row):
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
