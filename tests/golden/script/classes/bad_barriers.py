# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


@T.prim_func
def kernel(A: T.Buffer((64,), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    pool = T.SMEMPool()
    few = T.MBarrier(pool)
    bar = T.MBarrier(pool, 2)
    pipe = T.Pipeline(pool, 2, full="tma", empty="bar")
    other = T.MBarrier(A, 2)
    pool.commit()
    bar.init(64)
    bar.arrive(0, remote=1)
    bar.wait(0)
    with bar:
        A[t] = 0.0
#--- expected
bad_barriers.py:11:11: error: `__init__` without `depth` [BadArgument]
        few = T.MBarrier(pool)
              ^~~~~~~~~~~~~~~~
tvm.backend.cuda.lang:31:30: note: the parameter
        def __init__(self, pool, depth, phase_offset=0, leader=None):
                                 ^~~~~
bad_barriers.py:18:5: error: `wait` without `phase` [BadArgument]
        bar.wait(0)
        ^~~~~~~~~~~
tvm.backend.cuda.lang:44:27: note: the parameter
        def wait(self, stage, phase):
                              ^~~~~
bad_barriers.py:19:10: error: `with` object, expected `T.attr`, a role or a loop [BadType]
        with bar:
             ^~~
tvm.backend.cuda.lang:32:25: error: buffer has no `alloc` [UnknownName]
            self.buf = pool.alloc((depth,), "uint64", align=8)
                            ^~~~~
bad_barriers.py:14:13: note: in a call of `__init__`
        other = T.MBarrier(A, 2)
                ^~~~~~~~~~~~~~~~
tvm.backend.cuda.lang:49:64: error: `remote=` of `T.ptx.mbarrier.arrive` is not taken: mbarriers of other CTAs are not evaluated [BadArgument]
            T.ptx.mbarrier.arrive(self.buf.ptr_to([stage]), remote=remote, pred=pred, count=count)
                                                                   ^~~~~~
tvm.backend.cuda.lang:79:13: error: assertion failed: a barrier of kind 'bar', expected 'mbar', 'tma' or 'tcgen05' [HostError]
                assert kind in _BARRIERS, f"a barrier of kind {kind!r}, expected 'mbar', 'tma' or 'tcgen05'"
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `kind` is 'bar'
bad_barriers.py:13:12: note: in a call of `__init__`
        pipe = T.Pipeline(pool, 2, full="tma", empty="bar")
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
