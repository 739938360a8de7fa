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
    bar.arrive(0, remote="next")
    bar.wait(0)
    with bar:
        A[t] = 0.0
#--- expected
bad_barriers.py:11:11: error: `__init__` without `depth` [BadArgument]
        few = T.MBarrier(pool)
              ^~~~~~~~~~~~~~~~
tvm.backend.cuda.lang:36:30: note: the parameter
        def __init__(self, pool, depth, phase_offset=0, leader=None):
                                 ^~~~~
bad_barriers.py:13:12: error: assertion failed: a barrier of kind 'bar', expected 'mbar', 'tma' or 'tcgen05' [HostError]
        pipe = T.Pipeline(pool, 2, full="tma", empty="bar")
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `kind` is 'bar'
bad_barriers.py:14:13: error: buffer has no `alloc` [UnknownName]
        other = T.MBarrier(A, 2)
                ^~~~~~~~~~~~~~~~
bad_barriers.py:17:5: error: cannot convert `text` to `uint32` [BadType]
        bar.arrive(0, remote="next")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_barriers.py:18:5: error: `wait` without `phase` [BadArgument]
        bar.wait(0)
        ^~~~~~~~~~~
tvm.backend.cuda.lang:49:27: note: the parameter
        def wait(self, stage, phase):
                              ^~~~~
bad_barriers.py:19:10: error: `with` object, expected `T.attr`, a role or a loop [BadType]
        with bar:
             ^~~
