# An effect happens as often as it is written: it cannot be computed ahead, under a name.
from tvm.script import tirx as T


def doubled(x):
    for i in range(60):
        x = x + x
    return x


@T.prim_func
def k(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "int32")
    B = T.match_buffer(B_ptr, (64,), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    B[tid] = doubled(T.cuda.atomic_add(A.ptr_to([0]), 1))
#--- expected
bad_effect_written_out.py:7:13: error: an expression of more than 4611686018427387904 operations when its shared parts are written out, expected at most 1048576 [Budget]
            x = x + x
                ^~~~~
  note: give a part of it a name: `x: T.let = …`
