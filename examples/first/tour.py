# Y = factor * (X - mean of its row), and how many elements of each row are positive: a kernel with a bit of everything,
# for docs/guide/language_tour.md. A warp takes a row; m is known when the kernel is launched.
#
#   warpwright run examples/first/tour.py --arg m=10 --arg factor=3.0 --expect 'Y ~= 3 * (X - mean(X, axis=1, keepdims=True))' --expect 'Count == int32(sum(where(X > 0, 1, 0), 1))'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(n=256, warps=4, dtype="float32"):
    assert n % 32 == 0, f"n is {n}, expected a multiple of 32"
    each = n // 32  # elements of a lane

    @T.inline
    def centre(tile, mean):
        Tx.warp.sum(mean, tile)
        Tx.warp.mul(mean, mean, 1.0 / n)
        Tx.warp.sub(tile, tile, mean)

    @T.prim_func
    def tour(X_ptr: T.handle, Y_ptr: T.handle, Count_ptr: T.handle, factor: T.float32):
        m = T.int32()
        X = T.match_buffer(X_ptr, (m, n), dtype)
        Y = T.match_buffer(Y_ptr, (m, n), dtype)
        Count = T.match_buffer(Count_ptr, (m,), "int32")
        T.device_entry()
        block = T.cta_id([T.ceildiv(m, warps)])
        warp = T.warp_id([warps])
        lane = T.lane_id([32])
        row: T.let = block * warps + warp
        if row < m:
            x = T.alloc_local((n,), dtype, layout="auto")
            mean = T.alloc_local((1,), dtype, layout="auto")
            Tx.warp.copy(x, X[row, :])
            mine = x.local(each)
            positive: T.int32 = 0
            for i in T.unroll(each):
                if mine[i] > 0:
                    positive += 1
            centre(x, mean)
            Tx.warp.mul(x, x, factor)
            Tx.warp.copy(Y[row, :], x)
            total = T.cuda.warp_sum(positive)
            if lane == 0:
                Count[row] = total

    return tour


kernel = build()
