# Y[c, t] = W[c, 0] X[c, t-1] + W[c, 1] X[c, t] + W[c, 2] X[c, t+1]: every channel has a filter of its own.
# A block takes a part of all channels and one number more at both sides; what X does not have is 0.
#
#   warpwright run examples/depthwise_conv.py --expect 'Y[:, 1:-1] ~= W[:, :1] * X[:, :-2] + W[:, 1:2] * X[:, 1:-1] + W[:, 2:] * X[:, 2:]' --expect 'Y[:, 0] ~= W[:, 1] * X[:, 0] + W[:, 2] * X[:, 1]'
#   warpwright run examples/depthwise_conv.py --expect 'Y[:, -1] ~= W[:, 0] * X[:, -2] + W[:, 1] * X[:, -1]'
#   warpwright explain examples/depthwise_conv.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, tx


def build(channels=16, length=500, part=64, taps=3):
    parts = (length + part - 1) // part
    # A channel lies in 8 threads; each has part/8 numbers of it, and the whole filter.
    tile = TileLayout(S[(channels, 8, part // 8) : (8 @ tx, 1 @ tx, 1)])
    of_channels = TileLayout(S[(channels, taps) : (8 @ tx, 1)] + R[8 : 1 @ tx])

    @T.prim_func
    def depthwise_conv(X_ptr: T.handle, W_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (channels, length), "float32")
        W = T.match_buffer(W_ptr, (channels, taps), "float32")
        Y = T.match_buffer(Y_ptr, (channels, length), "float32")
        T.device_entry()
        bx = T.cta_id([parts])
        T.thread_id([channels * 8])
        xs = T.alloc_buffer((channels, part + taps - 1), "float32", scope="shared")
        w = T.alloc_buffer((channels, taps), "float32", scope="local", layout=of_channels)
        y = T.alloc_buffer((channels, part), "float32", scope="local", layout=tile)
        first = bx * part - taps // 2
        Tx.cta.copy(xs, X[:, first : first + part + taps - 1], fill_value=0)
        Tx.cta.copy(w, W)
        T.cuda.cta_sync()
        Tx.cta.zero(y)
        for k in T.unroll(taps):
            Tx.cta.fma(y, xs[:, k : k + part], w[:, k : k + 1], y)
        Tx.cta.copy(Y[:, bx * part : bx * part + part], y, clip=True)

    return depthwise_conv


kernel = build()
