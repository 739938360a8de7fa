# B = A through shared memory and registers: from global to shared memory, to registers, and the same way back.
# Each copy is one primitive; which instruction it becomes follows from the layouts.
#
#   warpwright run examples/copy_through.py --expect 'B == A'
#   warpwright run examples/copy_through.py --kernel 'build(n=1 << 30)' --device cuda --time
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx


def build(n=1 << 15, threads=128, rounds=2, dtype="float16", vec=8):
    tile = rounds * threads * vec
    # Round r, thread t, element v: what a thread holds lies contiguous in memory, so do neighbours.
    registers = TileLayout(S[(rounds, threads, vec) : (vec, 1 @ tx, 1)])

    @T.prim_func
    def copy_through(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (n,), dtype)
        B = T.match_buffer(B_ptr, (n,), dtype)
        T.device_entry()
        bx = T.cta_id([n // tile])
        T.thread_id([threads])
        staged = T.alloc_buffer((tile,), dtype, scope="shared")
        R = T.alloc_buffer((tile,), dtype, scope="local", layout=registers)
        Tx.cta.copy(staged[:], A[bx * tile : bx * tile + tile])
        T.cuda.cta_sync()
        Tx.cta.copy(R[:], staged[:])
        Tx.cta.copy(B[bx * tile : bx * tile + tile], R[:])

    return copy_through


kernel = build()
