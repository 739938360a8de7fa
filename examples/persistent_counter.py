# Persistent blocks that draw work from a counter until none is left: one thread of a block draws the next
# tile from a counter in global memory, and passes it on through shared memory. The first barrier comes
# before the others read it, the second one before it is written again; with both, the compiler knows
# that a block has one tile at a time.
#
#   warpwright run examples/persistent_counter.py --arg counter=zeros --expect 'B == 2 * A'
#   warpwright explain examples/persistent_counter.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx


def build(tiles=16, columns=128, blocks=4):
    own = TileLayout(S[columns : 1 @ tx])

    @T.prim_func
    def persistent_counter(A_ptr: T.handle, B_ptr: T.handle, counter_ptr: T.handle):
        A = T.match_buffer(A_ptr, (tiles, columns), "float32")
        B = T.match_buffer(B_ptr, (tiles, columns), "float32")
        counter = T.match_buffer(counter_ptr, (1,), "int32")
        T.device_entry()
        T.cta_id([blocks])
        t = T.thread_id([columns])
        drawn = T.alloc_buffer((1,), "int32", scope="shared")
        R = T.alloc_buffer((columns,), "float32", scope="local", layout=own)
        while True:
            if t == 0:
                drawn[0] = T.cuda.atomic_add(T.address_of(counter[0]), 1)
            T.cuda.cta_sync()
            tile = drawn[0]
            T.cuda.cta_sync()
            if tile >= tiles:
                break
            Tx.cta.copy(R, A[tile, :])
            Tx.cta.mul(R, R, T.float32(2))
            Tx.cta.copy(B[tile, :], R)

    return persistent_counter


kernel = build()
