# How often each number from 0 to 255 occurs in x. Each block counts its part in shared memory, where
# atomic additions are cheap: scatter_add puts a one at every number, and numbers out of range are left
# out (clip=True). Then it adds its counts to those in global memory: its bins are numbered, too.
#
#   warpwright run examples/histogram.py --arg counts=zeros --expect 'counts == 1'
#   warpwright run examples/histogram.py --arg x=full:7 --arg counts=zeros --expect 'counts[7] == 8192'
#   warpwright explain examples/histogram.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx


def build(numbers=8192, each=1024, bins=256, threads=128):
    own = TileLayout(S[(each // threads // 4, threads, 4) : (4, 1 @ tx, 1)])  # 4 at a time for each thread
    of_bins = TileLayout(S[(bins // threads, threads) : (1, 1 @ tx)])

    @T.prim_func
    def histogram(x_ptr: T.handle, counts_ptr: T.handle):
        x = T.match_buffer(x_ptr, (numbers,), "int32")
        counts = T.match_buffer(counts_ptr, (bins,), "int32")
        T.device_entry()
        b = T.cta_id([numbers // each])
        t = T.thread_id([threads])
        here = T.alloc_buffer((bins,), "int32", scope="shared")
        mine = T.alloc_buffer((each,), "int32", scope="local", layout=own)
        ones = T.alloc_buffer((each,), "int32", scope="local", layout=own)
        bin = T.alloc_buffer((bins,), "int32", scope="local", layout=of_bins)
        Tx.cta.zero(here)
        Tx.cta.fill(ones, 1)
        Tx.cta.copy(mine, x[b * each : b * each + each])
        Tx.cta.scatter_add(here, ones, mine, clip=True)
        own_bins = bin.local(bins // threads)  # the bins that this thread adds up
        for k in T.unroll(bins // threads):
            own_bins[k] = k * threads + t
        Tx.cta.scatter_add(counts, here, bin)

    return histogram


kernel = build()
