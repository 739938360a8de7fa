#=== before_entry
@T.prim_func
def f(a: T.handle):
    tx = T.thread_id([32])
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.thread_id([32])
#--- expected
before_entry.py:3:10: error: `T.thread_id` before `T.device_entry()` [BadScopeIds]
        tx = T.thread_id([32])
             ^~~~~~~~~~~~~~~~~
  note: put `T.device_entry()` behind the buffers of the parameters: what follows it runs on the GPU
#=== cluster
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.cta_id_in_cluster([32])
    T.cta_id([64])
    T.thread_id([32])
    A[0, 0] = 1.0
#--- expected
cluster.py:5:5: error: a cluster has 32 CTAs: at most 16 are possible [BadScopeIds]
        T.cta_id_in_cluster([32])
        ^~~~~~~~~~~~~~~~~~~~~~~~~
#=== contradiction
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    w = T.warp_id([4])
    ln = T.lane_id([32])
    tx = T.thread_id([256])
    A[0, 0] = 1.0
#--- expected
contradiction.py:7:10: error: a CTA has 256 threads by `thread_id`, but 128 threads by `warp_id` [BadScopeIds]
        tx = T.thread_id([256])
             ^~~~~~~~~~~~~~~~~~
contradiction.py:5:9: note: `warp_id([4])` is declared here
        w = T.warp_id([4])
            ^~~~~~~~~~~~~~
#=== dims
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    x, y = T.warp_id([2, 2])
    T.cta_id([])
    T.cta_id([1, 2, 3, 4])
    A[0, 0] = 1.0
#--- expected
dims.py:5:22: error: `T.warp_id` with 2 extents, expected 1 [BadScopeIds]
        x, y = T.warp_id([2, 2])
                         ^~~~~~
dims.py:6:14: error: `T.cta_id` with 0 extents, expected 1 to 3 [BadScopeIds]
        T.cta_id([])
                 ^~
dims.py:7:14: error: `T.cta_id` with 4 extents, expected 1 to 3 [BadScopeIds]
        T.cta_id([1, 2, 3, 4])
                 ^~~~~~~~~~~~
#=== dtype
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32], dtype="float32")
    A[0, 0] = 1.0
#--- expected
dtype.py:5:34: error: an id of type `float32`, expected an integer [BadType]
        tx = T.thread_id([32], dtype="float32")
                                     ^~~~~~~~~
#=== empty
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    bx = T.cta_id([0])
    tx = T.thread_id([32])
    A[0, 0] = 1.0
#--- expected
empty.py:5:10: error: `cta_id` has the extent 0: expected at least 1 [BadScopeIds]
        bx = T.cta_id([0])
             ^~~~~~~~~~~~~
#=== entry_in_loop
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    for i in range(4):
        T.device_entry()
    tx = T.thread_id([32])
#--- expected
entry_in_loop.py:5:9: error: `T.device_entry()` inside of a block, expected at the top of the kernel [BadScopeIds]
            T.device_entry()
            ^~~~~~~~~~~~~~~~
#=== extents
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    by = T.cta_id(["x"])
    tz = T.thread_id([1.5])
    tx = T.thread_id([32], preferred=[2])
    A[0, 0] = 1.0
#--- expected
extents.py:5:19: error: `text` where an integer is needed [BadType]
        by = T.cta_id(["x"])
                      ^~~~~
extents.py:6:22: error: `float32` where an integer is needed [BadType]
        tz = T.thread_id([1.5])
                         ^~~~~
extents.py:7:38: error: `T.thread_id` has no parameter `preferred` [BadArgument]
        tx = T.thread_id([32], preferred=[2])
                                         ^~~
#=== indivisible
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    wg = T.warpgroup_id()
    w = T.warp_id([6])
    T.lane_id([32])
    A[0, 0] = 1.0
#--- expected
indivisible.py:6:9: error: a CTA has 192 threads by `warp_id`, no multiple of the 128 threads of a warpgroup [BadScopeIds]
        w = T.warp_id([6])
            ^~~~~~~~~~~~~~
#=== lanes
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.warp_id([1])
    w = T.lane_id([16])
    A[0, 0] = 1.0
#--- expected
lanes.py:6:9: error: a warp has 32 threads, but 16 threads by `lane_id` [BadScopeIds]
        w = T.lane_id([16])
            ^~~~~~~~~~~~~~~
#=== launch
# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


@T.function
def kernel(A: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32, stream=None, priority=3))
    A[0] = T.cuda.block_idx("w")
    A[1] = T.cuda.block_idx(0)
    tx = T.cuda.thread_idx("x")
    tx = tx + 1
#--- expected
launch.py:8:29: error: axis "w", expected "x", "y" or "z" [BadArgument]
        A[0] = T.cuda.block_idx("w")
                                ^~~
launch.py:9:29: error: the axis is int, expected a text [BadType]
        A[1] = T.cuda.block_idx(0)
                                ^
launch.py:11:5: error: `tx` is a scope id and cannot be assigned [ReadOnly]
        tx = tx + 1
        ^~
launch.py:7:61: note: bound here
        T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32, stream=None, priority=3))
                                                                ^~
#=== launch_config
#: kernel = build(4)
# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


def build(n):
    @T.function
    def kernel(A: T.Tensor((32,), "int32"), s: T.handle):
        T.device_entry(launch=T.cuda.LaunchConfig(grid=(1, 1, 1, 1), block=32))
        T.device_entry(launch=T.cuda.LaunchConfig(grid=n, block=32, stream=s))
        T.device_entry(launch=T.cuda.LaunchConfig(grid=n, block=32, prioriti=s))
        T.device_entry(launch=(n, 32))
        A[0] = T.cuda.thread_idx("x")

    return kernel
#--- expected
launch_config.py:9:57: error: `grid` with 4 extents, expected 1 to 3 [BadScopeIds]
            T.device_entry(launch=T.cuda.LaunchConfig(grid=(1, 1, 1, 1), block=32))
                                                            ^~~~~~~~~~
launch_config.py:10:69: error: `stream` of `T.cuda.LaunchConfig` is not taken: the program that launches the kernel chooses it [BadArgument]
            T.device_entry(launch=T.cuda.LaunchConfig(grid=n, block=32, stream=s))
                                                                        ^~~~~~
launch_config.py:11:69: error: `T.cuda.LaunchConfig` has no `prioriti`; did you mean `priority`? [BadArgument]
            T.device_entry(launch=T.cuda.LaunchConfig(grid=n, block=32, prioriti=s))
                                                                        ^~~~~~~~
launch_config.py:12:32: error: `launch` is tuple, expected `T.cuda.LaunchConfig(grid=, block=)` [BadType]
            T.device_entry(launch=(n, 32))
                                   ^~~~~
launch_config.py:13:16: error: `T.cuda.thread_idx` without a launch [BadScopeIds]
            A[0] = T.cuda.thread_idx("x")
                   ^~~~~~~~~~~~~~~~~~~~~~
  note: `T.device_entry(launch=T.cuda.LaunchConfig(grid=…, block=…))` states one
#=== no_device_entry
# What follows from the missing entry is not reported.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    block = T.cta_id([4])
    begin: T.let = block * 4
    S0 = T.alloc_shared((4, 16), "float32")
    Tx.cta.copy(S0[:, :], A[begin : begin + 4, :])
#--- expected
no_device_entry.py:5:13: error: `T.cta_id` before `T.device_entry()` [BadScopeIds]
        block = T.cta_id([4])
                ^~~~~~~~~~~~~
  note: put `T.device_entry()` behind the buffers of the parameters: what follows it runs on the GPU
#=== no_threads
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    bx = T.cta_id([4])
    A[0, 0] = 1.0
#--- expected
no_threads.py:5:10: error: the ids do not tell how many threads a CTA has: declare `thread_id([n])`, or `warp_id([n])` [BadScopeIds]
        bx = T.cta_id([4])
             ^~~~~~~~~~~~~
#=== not_derivable
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    w = T.warp_id()
    ln = T.lane_id([32])
    A[0, 0] = 1.0
#--- expected
not_derivable.py:5:9: error: the ids do not tell how many threads a CTA has: declare `thread_id([n])`, or `warp_id([n])` [BadScopeIds]
        w = T.warp_id()
            ^~~~~~~~~~~
#=== not_warps
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.lane_id()
    tx = T.thread_id([48])
    A[0, 0] = 1.0
#--- expected
not_warps.py:6:10: error: a CTA has 48 threads by `thread_id`, no multiple of the 32 threads of a warp [BadScopeIds]
        tx = T.thread_id([48])
             ^~~~~~~~~~~~~~~~~
#=== second_entry
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    T.device_entry()
#--- expected
second_entry.py:6:5: error: a second `T.device_entry()` [BadScopeIds]
        T.device_entry()
        ^~~~~~~~~~~~~~~~
#=== too_many
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([2048])
    A[0, 0] = 1.0
#--- expected
too_many.py:5:10: error: a CTA has 2048 x 1 x 1 threads: at most 1024 are possible [BadScopeIds]
        tx = T.thread_id([2048])
             ^~~~~~~~~~~~~~~~~~~
#=== twice
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([64])
    ty = T.thread_id([128])
    A[0, 0] = 1.0
#--- expected
twice.py:6:10: error: a CTA has 64 threads by `thread_id`, but 128 threads by `thread_id` [BadScopeIds]
        ty = T.thread_id([128])
             ^~~~~~~~~~~~~~~~~~
twice.py:5:10: note: `thread_id([64])` is declared here
        tx = T.thread_id([64])
             ^~~~~~~~~~~~~~~~~
#=== unpack
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    x, y = T.thread_id([32])
    b = T.cta_id([2, 2])
    A[0, b] = 1.0
    A[0, 0] = 1.0
#--- expected
unpack.py:5:5: error: cannot iterate over expression [Opaque]
        x, y = T.thread_id([32])
        ^~~~
unpack.py:7:5: error: tuple as a value of the kernel, expected a number or an expression [BadType]
        A[0, b] = 1.0
        ^~~~~~~
