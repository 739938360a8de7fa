# Y[b] is the sum of the first lens[b] rows of X[b]. The length comes from memory that the kernel only
# reads, at an address that all threads of a block share: so they all make the same number of rounds,
# and the loop may hold primitives and barriers of the block.
#
#   warpwright run examples/varlen_sum.py --expect 'Y[3] ~= sum(X[3, :3], axis=0)'
#   warpwright compile examples/varlen_sum.py --emit threads
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx


def build(blocks=4, rows=8, columns=128):
    own = TileLayout(S[columns : 1 @ tx])  # a column for each thread

    @T.prim_func
    def varlen_sum(X_ptr: T.handle, lens_ptr: T.handle, Y_ptr: T.handle):
        X = T.match_buffer(X_ptr, (blocks, rows, columns), "float32")
        lens = T.match_buffer(lens_ptr, (blocks,), "int32")
        Y = T.match_buffer(Y_ptr, (blocks, columns), "float32")
        T.device_entry()
        b = T.cta_id([blocks])
        T.thread_id([columns])
        row = T.alloc_buffer((columns,), "float32", scope="local", layout=own)
        total = T.alloc_buffer((columns,), "float32", scope="local", layout=own)
        Tx.cta.zero(total)
        for i in range(lens[b]):
            Tx.cta.copy(row, X[b, i, :])
            Tx.cta.add(total, total, row)
        Tx.cta.copy(Y[b, :], total)

    return varlen_sum


kernel = build()
