# D = A @ B.T on tensor cores, as plainly as it can be written: each CTA computes a tile of D, and for each
# slice of K all its threads copy a tile of A and one of B into shared memory and multiply them.
#
#   warpwright run examples/first/product.py --expect 'D ~= A @ B.T'
#   warpwright run examples/first/product.py --kernel 'build(M=384, N=128, K=192)' --expect 'D ~= A @ B.T'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(M=256, N=256, K=256, BM=128, BN=128, BK=64, dtype="float16"):
    @T.prim_func
    def product(A: T.Buffer((M, K), dtype), B: T.Buffer((N, K), dtype), D: T.Buffer((M, N), "float32")):
        T.device_entry()
        by, bx = T.cta_id([M // BM, N // BN])
        T.thread_id([128])
        m: T.let = by * BM
        n: T.let = bx * BN
        A_s = T.alloc_shared((BM, BK), dtype, layout="auto")
        B_s = T.alloc_shared((BN, BK), dtype, layout="auto")
        acc = T.alloc_local((BM, BN), "float32", layout="auto")
        Tx.cta.zero(acc)
        for k in range(K // BK):
            Tx.cta.copy(A_s, A[m : m + BM, k * BK : k * BK + BK])
            Tx.cta.copy(B_s, B[n : n + BN, k * BK : k * BK + BK])
            T.cuda.cta_sync()
            Tx.cta.gemm(acc, A_s, B_s, acc, transpose_B=True, beta=1.0, stage=True)
            T.cuda.cta_sync()
        Tx.cta.copy(D[m : m + BM, n : n + BN], acc)

    return product


kernel = build()
