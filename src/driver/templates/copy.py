# B is A: every element goes from global memory to shared memory, from there to registers, and back
# out. Each copy is one primitive; which instruction it becomes follows from the layouts.
#
#   {{run}} --expect 'B == A'
#   {{explain}}
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx


# A builder: its arguments are known when the kernel is compiled. `--kernel 'build(n=1 << 20)'`
# makes another kernel of it.
def build(n=1 << 14, threads=128, dtype="float16"):
    vec = 8  # elements of a thread: 16 bytes of float16, the widest load there is
    tile = threads * vec  # elements of a block

    # Where the elements of a tile are: element (t, v) in register v of thread t.
    registers = TileLayout(S[(threads, vec) : (1 @ tx, 1)])

    @T.prim_func
    def {{name}}(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (n,), dtype)
        B = T.match_buffer(B_ptr, (n,), dtype)
        T.device_entry()
        block = T.cta_id([n // tile])
        T.thread_id([threads])
        staged = T.alloc_buffer((tile,), dtype, scope="shared")
        R = T.alloc_buffer((tile,), dtype, scope="local", layout=registers)
        begin: T.let = block * tile

        Tx.cta.copy(staged[:], A[begin : begin + tile])  # all threads of the block together
        T.cuda.cta_sync()  # `--device eval` reports a race without it
        Tx.cta.copy(R[:], staged[:])
        Tx.cta.copy(B[begin : begin + tile], R[:])

    return {{name}}


kernel = build()
