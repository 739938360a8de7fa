from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid, tx

@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (128, 128), "float32")
    T.device_entry()
    t = T.thread_id([128])
    s = T.alloc_shared((16,), "float32")
    r = T.alloc_buffer((128,), "float32", scope="local", layout=TileLayout(S[128 : 1 @ tx]))
    own = T.alloc_shared((4, 16), "float32")
    # one region for the unit
    Tx.cta.copy(s[:], A[t // 32, 0:16])
    Tx.warp.copy(s[:], A[t // 32, 0:16])
    row = t // 32
    row += 1
    Tx.cta.copy(s[:], A[row - 1, 0:16])
    # one shape
    part = T.decl_buffer((t + 1, 16), "float32", data=A.data)
    Tx.cta.copy(s[:], part[0, :], fill_value=0)
    # one condition
    Tx.cta.copy(s[:], A[0, 0:16], predicate=t < 64)
    Tx.cta.copy(s[:], A[0, 0:16], predicate=A[0, t] > 0.0)
    Tx.cta.copy(s[:], A[0, 0:16], predicate=A[0, 0] > 0.0)
    # one value for memory, each thread's own in registers
    Tx.cta.fill(s, T.cast(t, "float32"))
    Tx.cta.fill(r, T.cast(t, "float32"))
    # the same in step: a stage, a sum of the CTA
    stage = 0
    for k in range(n):
        Tx.cta.copy(own[stage, :], A[k, 0:16])
        stage = (stage + 1) % 4
    Tx.cta.fill(s, T.cuda.cta_sum(T.float32(1), 4, s.ptr_to([0])))
    Tx.warp.fill(s, T.cuda.warp_reduce(T.float32(1)))
    Tx.cta.fill(s, T.cuda.warp_reduce(T.float32(1)))
#--- expected
bad_operands.py:13:23: error: the start of dimension 0 of `A` is `t // 32`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(s[:], A[t // 32, 0:16])
                          ^~~~~~~~~~~~~~~~
bad_operands.py:17:23: error: the start of dimension 0 of `A` is `row - 1`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(s[:], A[row - 1, 0:16])
                          ^~~~~~~~~~~~~~~~
bad_operands.py:20:23: error: dimension 0 of `part` is `t + 1`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(s[:], part[0, :], fill_value=0)
                          ^~~~~~~~~~
bad_operands.py:22:5: error: `predicate` of `copy` is `t < 64`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(s[:], A[0, 0:16], predicate=t < 64)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_operands.py:23:5: error: `predicate` of `copy` is `A[0, t] > T.float32(0.0)`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(s[:], A[0, 0:16], predicate=A[0, t] > 0.0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_operands.py:26:5: error: `value` of `fill` is `T.Cast("float32", t)`, which differs between threads of a cta; `fill` at cta scope needs one value [BadTileCall]
        Tx.cta.fill(s, T.cast(t, "float32"))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_operands.py:35:5: error: `value` of `fill` is `T.cuda.warp_reduce(T.float32(1.0), "sum", 32)`, which differs between threads of a cta; `fill` at cta scope needs one value [BadTileCall]
        Tx.cta.fill(s, T.cuda.warp_reduce(T.float32(1)))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
