#=== alloc_global
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    y = T.alloc_buffer((4,), "float32")
    y[0] = 1.0
#--- expected
alloc_global.py:6:9: error: `y` is allocated in global memory, which a kernel cannot allocate; give a `scope` [BadBuffer]
        y = T.alloc_buffer((4,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== alloc_tmem
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    t = T.alloc_buffer((128, 8), "float32", scope="tmem")
#--- expected
alloc_tmem.py:6:9: error: `t` is allocated in tensor memory, which a kernel cannot allocate; use `T.decl_buffer` with `allocated_addr` [BadBuffer]
        t = T.alloc_buffer((128, 8), "float32", scope="tmem")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== axes
from tvm.tirx.layout import S, TileLayout, laneid, TLane

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "float32")
    T.device_entry()
    t = T.thread_id([32])
    s = T.alloc_buffer((32, 2), "float32", scope="shared", layout=TileLayout(S[(32, 2) : (1 @ laneid, 1)]))
    r = T.alloc_buffer((32, 2), "float32", scope="local", layout=TileLayout(S[(32, 2) : (1 @ TLane, 1)]))
    x = T.alloc_local((1 << 20,), "float32")
    y = T.alloc_shared((1 << 40,), "float32")
#--- expected
axes.py:8:9: error: the layout of `s` places elements along `laneid`, expected `m` only: it is one memory [BadBuffer]
        s = T.alloc_buffer((32, 2), "float32", scope="shared", layout=TileLayout(S[(32, 2) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: only registers, `scope="local"`, are spread over threads
axes.py:9:9: error: the layout of `r` places elements along `TLane`, expected threads and `m`, as registers have [BadBuffer]
        r = T.alloc_buffer((32, 2), "float32", scope="local", layout=TileLayout(S[(32, 2) : (1 @ TLane, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `TLane` and `TCol` are those of tensor memory, `scope="tmem"`
axes.py:10:9: error: `x` takes 4194304 bytes of each thread; a thread has 524288 [BadBuffer]
        x = T.alloc_local((1 << 20,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
axes.py:11:9: error: `y` of shape (1099511627776) has more than the 274877906944 elements that a buffer may have [BadBuffer]
        y = T.alloc_shared((1 << 40,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== bounds
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[16, 0] = 1.0
    x = A[0, -17]
    A[0, -1] = 2.0
    p = A.ptr_to([0, 16])
    y = A[tx, 99]
#--- expected
bounds.py:6:5: error: index 16 in dimension 0 of `A`, which has extent 16 [OutOfBounds]
        A[16, 0] = 1.0
        ^~~~~~~~
bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bounds.py:7:9: error: index -17 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        x = A[0, -17]
            ^~~~~~~~~
bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bounds.py:8:5: error: index -1 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        A[0, -1] = 2.0
        ^~~~~~~~
bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bounds.py:9:18: error: index 16 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        p = A.ptr_to([0, 16])
                     ^~~~~~~
bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bounds.py:10:9: error: index 99 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        y = A[tx, 99]
            ^~~~~~~~~
bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== decl
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.decl_buffer((4,), "float32", data=tx)
    y = T.decl_buffer((4,), "float32", data=A.data, scope="shared")
    z = T.decl_buffer((4,), "float32", data=A.data, elem_offset=1, byte_offset=4)
#--- expected
decl.py:6:45: error: `data` is `int32`, expected a pointer [BadType]
        x = T.decl_buffer((4,), "float32", data=tx)
                                                ^~
decl.py:7:9: error: scope "shared" for a view of `A`, which is in "global" [BadBuffer]
        y = T.decl_buffer((4,), "float32", data=A.data, scope="shared")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
decl.py:8:9: error: `elem_offset` and `byte_offset` together [BadArgument]
        z = T.decl_buffer((4,), "float32", data=A.data, elem_offset=1, byte_offset=4)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== decl_tmem
from tvm.script import tirx as T


@T.prim_func
def f(A: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    a = T.cuda.decl_tmem(T.uint32(0), ty_args=[])
    b = T.cuda.decl_tmem(T.uint32(0), ty_args=["float32"])
    c = T.cuda.decl_tmem(T.uint32(0))
    d = T.cuda.decl_tmem(T.uint32(0), ty_args=[T.Tensor((128, 32), "float32", scope="tmem")])
#--- expected
decl_tmem.py:9:47: error: `ty_args` of `T.cuda.decl_tmem`, expected `[T.Tensor(shape, dtype, scope="tmem", layout=…)]` [BadArgument]
        a = T.cuda.decl_tmem(T.uint32(0), ty_args=[])
                                                  ^~
decl_tmem.py:10:47: error: `ty_args` of `T.cuda.decl_tmem`, expected `[T.Tensor(shape, dtype, scope="tmem", layout=…)]` [BadArgument]
        b = T.cuda.decl_tmem(T.uint32(0), ty_args=["float32"])
                                                  ^~~~~~~~~~~
decl_tmem.py:11:9: error: `T.cuda.decl_tmem` without `ty_args` [BadArgument]
        c = T.cuda.decl_tmem(T.uint32(0))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes (address, ty_args)
#=== index_types
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0.5, 0] = 1.0
    A["x", 0] = 1.0
    A[A[0, 0], 0] = 1.0
    x = A[None]
    y = A[tx < 3, 0]
#--- expected
index_types.py:6:5: error: `float32` where an integer is needed [BadType]
        A[0.5, 0] = 1.0
        ^~~~~~~~~
index_types.py:7:5: error: `text` where an integer is needed [BadType]
        A["x", 0] = 1.0
        ^~~~~~~~~
index_types.py:8:5: error: `float32` where an integer is needed [BadType]
        A[A[0, 0], 0] = 1.0
        ^~~~~~~~~~~~~
index_types.py:9:9: error: None as a value of the kernel, expected a number or an expression [BadType]
        x = A[None]
            ^~~~~~~
index_types.py:10:9: error: `bool` where an integer is needed [BadType]
        y = A[tx < 3, 0]
            ^~~~~~~~~~~~
#=== layout_fit
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 4), "float32", layout=TileLayout(S[(4, 8) : (8, 1)]))
    u = T.alloc_local((4, 4), "float32", layout=TileLayout(S[(4, 4) : (1, 1)]))
    w = T.alloc_local((4,), "float32", layout=TileLayout(S[4 : 1] + -1))
    x = T.alloc_local((64, 2), "float32", layout=TileLayout(S[(64, 2) : (1 @ laneid, 1)]))
#--- expected
layout_fit.py:8:9: error: the layout of `r` has 32 elements, its shape (4, 4) has 16 [BadBuffer]
        r = T.alloc_local((4, 4), "float32", layout=TileLayout(S[(4, 8) : (8, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a layout has no more elements than its buffer; TVM leaves the rest unused
layout_fit.py:9:9: error: elements 1 and 4 of `u` share one place in the layout `S[(4,4):(1,1)]` [BadBuffer]
        u = T.alloc_local((4, 4), "float32", layout=TileLayout(S[(4, 4) : (1, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
layout_fit.py:10:9: error: an element of `w` lies at m -1, expected 0 or more [BadBuffer]
        w = T.alloc_local((4,), "float32", layout=TileLayout(S[4 : 1] + -1))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
layout_fit.py:11:9: error: `x` has elements at laneid 63, the launch goes from 0 to 31 [BadBuffer]
        x = T.alloc_local((64, 2), "float32", layout=TileLayout(S[(64, 2) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a CTA has 32 threads here: `tx` counts all of them, `laneid` the 32 of a warp, `warpid` the warps
#=== layout_value
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    s = T.alloc_local((4, 4), "float32", layout="nonsense")
    t = T.alloc_local((4, 4), "float32", layout=4)
#--- expected
layout_value.py:8:49: error: `nonsense` is not a declared variable [UnknownName]
        s = T.alloc_local((4, 4), "float32", layout="nonsense")
                                                    ^~~~~~~~~~
  note: `"auto"` infers the layout, `"default"` is row-major; other texts are layouts, such as `"S[(8,8):(8,1)]"`
layout_value.py:9:49: error: `layout` is int, expected a layout [BadType]
        t = T.alloc_local((4, 4), "float32", layout=4)
                                                    ^
#=== ldst_frag
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    F = T.alloc_tcgen05_ldst_frag("16x63b", (128, 8), "float32")
    G = T.alloc_tcgen05_ldst_frag("32x32b", (128,), "float16")
    H = T.alloc_tcgen05_ldst_frag("32x32b", (100, 8), "float16")
#--- expected
ldst_frag.py:6:9: error: no tcgen05.ld shape is named `16x63b`; there are 32x32b, 16x64b, 16x128b, 16x256b; did you mean `16x64b`? [BadArgument]
        F = T.alloc_tcgen05_ldst_frag("16x63b", (128, 8), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
ldst_frag.py:7:46: error: 1 extents, expected (rows, cols) [RankMismatch]
        G = T.alloc_tcgen05_ldst_frag("32x32b", (128,), "float16")
                                                 ^~~~
ldst_frag.py:8:9: error: 100 rows; a warpgroup's tcgen05.ld tile has 64 or 128 [BadArgument]
        H = T.alloc_tcgen05_ldst_frag("32x32b", (100, 8), "float16")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== local_runtime
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.alloc_local((tx,), "float32")
    x[0] = 1.0
#--- expected
local_runtime.py:6:9: error: `x` is allocated in local memory with shape (?), expected constant extents [BadBuffer]
        x = T.alloc_local((tx,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== locals
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    a0 = A.local()
    a1 = r.local(8)
    a2 = r.local(2, 3)
#--- expected
locals.py:9:10: error: `local` of `A`, which is in "global" [BadBuffer]
        a0 = A.local()
             ^~~~~~~~~
locals.py:5:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
locals.py:10:10: error: `local` of 8 elements over `r`, of which a thread holds 4 [NotAdmitted]
        a1 = r.local(8)
             ^~~~~~~~~~
locals.py:8:9: note: declared here
        r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
locals.py:11:10: error: `local` of 6 elements over `r`, of which a thread holds 4 [NotAdmitted]
        a2 = r.local(2, 3)
             ^~~~~~~~~~~~~
locals.py:8:9: note: declared here
        r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== match
@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.match_buffer(tx, (4,), "float32")
    y = T.match_buffer(A, (4,), "float32")
    z = T.match_buffer(n, (4,), "float32")
#--- expected
match.py:6:24: error: `T.match_buffer` of `int32`, expected a parameter of type `T.handle` [BadArgument]
        x = T.match_buffer(tx, (4,), "float32")
                           ^~
match.py:7:24: error: `T.match_buffer` of buffer, expected a parameter of type `T.handle` [BadArgument]
        y = T.match_buffer(A, (4,), "float32")
                           ^
match.py:8:24: error: `T.match_buffer` of `int32`, expected a parameter of type `T.handle` [BadArgument]
        z = T.match_buffer(n, (4,), "float32")
                           ^
#=== negative_slices
# A negative bound counts from the end, as in Python.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    sub = S0.sub[0:4, :]
    Tx.cta.copy(sub[-2:2, :], A[0:4, :])
    Tx.cta.copy(S0[0:4, :], A[-2:2, :], fill_mode="zero")
    Tx.cta.copy(S0[0:16, :], A[-20:, :], fill_mode="zero")
    Tx.cta.copy(S0[0:4, :], A[4:-12, :])
#--- expected
negative_slices.py:9:17: error: 2:2 in dimension 0 of `sub`, which has extent 4, is empty [OutOfBounds]
        Tx.cta.copy(sub[-2:2, :], A[0:4, :])
                    ^~~~~~~~~~~~
  note: a negative bound counts from the end of the dimension
negative_slices.py:8:11: note: declared here
        sub = S0.sub[0:4, :]
              ^~~~~~~~~~~~~~
negative_slices.py:10:29: error: 14:2 in dimension 0 of `A`, which has extent 16, is empty [OutOfBounds]
        Tx.cta.copy(S0[0:4, :], A[-2:2, :], fill_mode="zero")
                                ^~~~~~~~~~
  note: a negative bound counts from the end of the dimension
negative_slices.py:4:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
negative_slices.py:11:30: error: -4:16 in dimension 0 of `A`, which has extent 16 [OutOfBounds]
        Tx.cta.copy(S0[0:16, :], A[-20:, :], fill_mode="zero")
                                 ^~~~~~~~~~
  note: a negative bound counts from the end of the dimension
negative_slices.py:4:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
negative_slices.py:12:29: error: 4:4 in dimension 0 of `A`, which has extent 16, is empty [OutOfBounds]
        Tx.cta.copy(S0[0:4, :], A[4:-12, :])
                                ^~~~~~~~~~~
  note: a negative bound counts from the end of the dimension
negative_slices.py:4:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== not_taken
# What TVM's buffers have and is not taken.
from tvm.script import tirx as T
from tvm.tirx.layout import Axis, Iter, TileLayout

m = Axis.get("m")


@T.prim_func
def f(A: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    a = T.meta_var(A.elem_offset_of([t]))
    b = T.meta_var(A.strides)
    c = T.meta_var(A.rearrange("(a b) -> b a", a=4))
    d = T.meta_var(A.chunk((4,)))
    e = T.meta_var(A.same_as(A))
    g = T.meta_var(A.acess_ptr("r"))
    s = T.alloc_buffer((32,), "float32", scope="shared", layout=TileLayout.from_iters([Iter(32, 1, m)], [], {m: 4}))
    h = T.meta_var(s.access_ptr("r"))
#--- expected
not_taken.py:13:22: error: `elem_offset_of` of a buffer is not taken: `B.ptr_to([i])` is the address of an element [UnknownName]
        a = T.meta_var(A.elem_offset_of([t]))
                         ^~~~~~~~~~~~~~
not_taken.py:14:22: error: `strides` of a buffer is not taken: `B.layout` has the strides [UnknownName]
        b = T.meta_var(A.strides)
                         ^~~~~~~
not_taken.py:15:22: error: `rearrange` of a buffer is not taken: `B.view(*shape)` and `B.permute(*dims)` do it in steps [UnknownName]
        c = T.meta_var(A.rearrange("(a b) -> b a", a=4))
                         ^~~~~~~~~
not_taken.py:16:22: error: `chunk` of a buffer is not taken: `B.view(*shape)` splits dimensions, `B[…]` takes a part [UnknownName]
        d = T.meta_var(A.chunk((4,)))
                         ^~~~~
not_taken.py:17:22: error: `same_as` of a buffer is not taken: kernels are written in Python; no tree is looked at [UnknownName]
        e = T.meta_var(A.same_as(A))
                         ^~~~~~~
not_taken.py:18:22: error: buffer has no `acess_ptr`; did you mean `access_ptr`? [UnknownName]
        g = T.meta_var(A.acess_ptr("r"))
                         ^~~~~~~~~
not_taken.py:20:20: error: `access_ptr` of `s`, whose layout has an offset; `ptr_to` is the address of an element [BadBuffer]
        h = T.meta_var(s.access_ptr("r"))
                       ^~~~~~~~~~~~~~~~~
#=== params
@T.prim_func
def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
    T.device_entry()
    tx = T.thread_id([32])
    A[0] = 1.0
#--- expected
params.py:2:7: error: parameter `A` has no annotation, expected `T.handle`, `T.Buffer(…)` or a type [BadType]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
          ^
params.py:2:10: error: parameter `b` is annotated with int, expected `T.handle`, `T.Buffer(…)` or a type such as `T.int32` [BadType]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
             ^~~~
params.py:2:16: error: this annotation cannot be used for parameter `c` [BadType]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
                   ^~~~~~~~
params.py:2:26: error: `flaot32` is not an element type; did you mean `float32`? [UnknownName]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
                             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
params.py:2:56: error: an extent of -1, expected 1 or more [BadExtent]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
                                                           ^~~~~~~~~~~~~~~~~~
params.py:2:76: error: `*args` as a parameter of a kernel [Syntax]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
                                                                               ^~~~~
params.py:2:83: error: `**kw` as a parameter of a kernel [Syntax]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
                                                                                      ^~~~
#=== permute
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 6), "float16")
    a0 = r.permute(0)
    a1 = r.permute(0, 2)
    a2 = r.permute(0, 0)
#--- expected
permute.py:7:10: error: (0) is not a permutation of the 2 dimensions [BadArgument]
        a0 = r.permute(0)
             ^~~~~~~~~~~~
permute.py:8:10: error: (0,2) is not a permutation of the 2 dimensions [BadArgument]
        a1 = r.permute(0, 2)
             ^~~~~~~~~~~~~~~
permute.py:9:10: error: (0,0) is not a permutation of the 2 dimensions [BadArgument]
        a2 = r.permute(0, 0)
             ^~~~~~~~~~~~~~~
#=== rank
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0, 0] = 1.0
    x = A[0, 1, 2]
    p = A.ptr_to([0])
    v = A.vload([0], "float32x2")
#--- expected
rank.py:6:5: error: 3 indices for `A`, which has 2 dimensions [RankMismatch]
        A[0, 0, 0] = 1.0
        ^~~~~~~~~~
rank.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
rank.py:7:9: error: 3 indices for `A`, which has 2 dimensions [RankMismatch]
        x = A[0, 1, 2]
            ^~~~~~~~~~
rank.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
rank.py:8:9: error: 1 index for `A`, which has 2 dimensions [RankMismatch]
        p = A.ptr_to([0])
            ^~~~~~~~~~~~~
rank.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
rank.py:9:9: error: 1 index for `A`, which has 2 dimensions [RankMismatch]
        v = A.vload([0], "float32x2")
            ^~~~~~~~~~~~~~~~~~~~~~~~~
rank.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== region_bounds
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    Tx.copy(A[0:17, :], A[0:17, :])
    Tx.copy(A[8:4, :], A[8:4, :])
    Tx.copy(A[16, :], A[0, :])
    Tx.copy(A[0:18:2, :], A[0:4, :])
#--- expected
region_bounds.py:6:13: error: 0:17 in dimension 0 of `A`, which has extent 16 [OutOfBounds]
        Tx.copy(A[0:17, :], A[0:17, :])
                ^~~~~~~~~~
region_bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a copy may read past the end with `fill_value=…`, and leaves it alone with `clip=True`
region_bounds.py:7:13: error: 8:4 in dimension 0 of `A`, which has extent 16, is empty [OutOfBounds]
        Tx.copy(A[8:4, :], A[8:4, :])
                ^~~~~~~~~
region_bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
region_bounds.py:8:13: error: index 16 in dimension 0 of `A`, which has extent 16 [OutOfBounds]
        Tx.copy(A[16, :], A[0, :])
                ^~~~~~~~
region_bounds.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
region_bounds.py:9:13: error: 0:9 in dimension 0 of `A_by_step`, which has extent 8 [OutOfBounds]
        Tx.copy(A[0:18:2, :], A[0:4, :])
                ^~~~~~~~~~~~
region_bounds.py:9:13: note: declared here
        Tx.copy(A[0:18:2, :], A[0:4, :])
                ^~~~~~~~~~~~
  note: a copy may read past the end with `fill_value=…`, and leaves it alone with `clip=True`
#=== scopes
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.alloc_buffer((4,), "float32", scope="register")
    z = T.alloc_shared((4,), "float32", align=3)
    w = T.alloc_local((0,), "float32")
    v = T.alloc_local((-4,), "float32")
#--- expected
scopes.py:6:47: error: scope "register", expected global, shared, shared.dyn, local or tmem [BadBuffer]
        x = T.alloc_buffer((4,), "float32", scope="register")
                                                  ^~~~~~~~~~
scopes.py:7:47: error: an alignment of 3, expected a power of two [BadBuffer]
        z = T.alloc_shared((4,), "float32", align=3)
                                                  ^
scopes.py:8:24: error: an extent of 0, expected 1 or more [BadExtent]
        w = T.alloc_local((0,), "float32")
                           ^~
scopes.py:9:24: error: an extent of -4, expected 1 or more [BadExtent]
        v = T.alloc_local((-4,), "float32")
                           ^~~
#=== shared_runtime
@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.alloc_shared((n,), "float32")
    x[0] = 1.0
#--- expected
shared_runtime.py:6:9: error: `x` is allocated in shared memory with shape (?), expected constant extents [BadBuffer]
        x = T.alloc_shared((n,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== shared_size
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    s0 = T.alloc_shared((256, 256), "float32")
    s0[0, 0] = 1.0
#--- expected
shared_size.py:6:10: error: `s0` brings static shared memory to 262144 bytes; no architecture has more than 232448 [BadBuffer]
        s0 = T.alloc_shared((256, 256), "float32")
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== shared_twice
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = T.alloc_buffer((4,), "float32", scope="shared.dyn")
    y = T.alloc_buffer((4,), "float32", scope="shared.dyn")
#--- expected
shared_twice.py:7:9: error: `y` is a second allocation of shared.dyn; `x` is the only one there can be [BadBuffer]
        y = T.alloc_buffer((4,), "float32", scope="shared.dyn")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
shared_twice.py:6:9: note: declared here
        x = T.alloc_buffer((4,), "float32", scope="shared.dyn")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== thread_axis
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    r[tx, 0] = 1.0
    A[0, 0] = r[0, 1]
    p = r.ptr_to([0, 0])
#--- expected
thread_axis.py:9:5: error: an element of `r` is accessed, which is spread over `laneid`; a thread's part is `r.local()` [BadBuffer]
        r[tx, 0] = 1.0
        ^~~~~~~~~~~~~~
thread_axis.py:8:9: note: declared here
        r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
thread_axis.py:10:15: error: an element of `r` is accessed, which is spread over `laneid`; a thread's part is `r.local()` [BadBuffer]
        A[0, 0] = r[0, 1]
                  ^~~~~~~
thread_axis.py:8:9: note: declared here
        r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
thread_axis.py:11:9: error: an element of `r` is accessed, which is spread over `laneid`; a thread's part is `r.local()` [BadBuffer]
        p = r.ptr_to([0, 0])
            ^~~~~~~~~~~~~~~~
thread_axis.py:8:9: note: declared here
        r = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== tmem
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    u = T.decl_buffer((128, 8), "float32", scope="tmem", layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 @ TCol)]))
    v = T.decl_buffer((128, 8), "float32", scope="tmem", allocated_addr=0)
    w = T.decl_buffer((128, 600), "float32", scope="tmem", allocated_addr=0, layout=TileLayout(S[(128, 600) : (1 @ TLane, 1 @ TCol)]))
#--- expected
tmem.py:8:9: error: `u` is in tensor memory and has no address, expected `allocated_addr=` [BadBuffer]
        u = T.decl_buffer((128, 8), "float32", scope="tmem", layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 @ TCol)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tmem.py:9:9: error: `v` is in tensor memory and has no layout over `TLane` and `TCol` [BadBuffer]
        v = T.decl_buffer((128, 8), "float32", scope="tmem", allocated_addr=0)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tmem.py:10:9: error: `w` takes 600 columns of tensor memory, which has 512 [BadBuffer]
        w = T.decl_buffer((128, 600), "float32", scope="tmem", allocated_addr=0, layout=TileLayout(S[(128, 600) : (1 @ TLane…
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== tmem_plain
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    t = T.decl_buffer((128, 8), "float32", scope="tmem", allocated_addr=0, layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 @ TCol)]))
    A[0, 0] = t[tx, 0]
    t[0, 0] = 1.0
#--- expected
tmem_plain.py:9:15: error: an element of `t` is accessed, which is in tensor memory; only tcgen05 reaches it [BadBuffer]
        A[0, 0] = t[tx, 0]
                  ^~~~~~~~
tmem_plain.py:8:9: note: declared here
        t = T.decl_buffer((128, 8), "float32", scope="tmem", allocated_addr=0, layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 …
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tmem_plain.py:10:5: error: an element of `t` is accessed, which is in tensor memory; only tcgen05 reaches it [BadBuffer]
        t[0, 0] = 1.0
        ^~~~~~~~~~~~~
tmem_plain.py:8:9: note: declared here
        t = T.decl_buffer((128, 8), "float32", scope="tmem", allocated_addr=0, layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 …
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== view_size
# A view must lie inside the storage it views.
from tvm.tirx.layout import S, TileLayout, laneid


@T.prim_func
def kernel(A: T.Buffer((16,), "float32")):
    T.device_entry()
    tid = T.thread_id([32])
    regs = T.alloc_local((8,), "float16")
    frag = regs.view(32, 16, layout=TileLayout(S[(32, 16) : (1 @ laneid, 1)]))
    part = T.decl_buffer((8,), "float16", data=regs.data, elem_offset=4, scope="local")
    fits = T.decl_buffer((4,), "float16", data=regs.data, elem_offset=4, scope="local")
    twice = T.decl_buffer((32,), "float32", data=A.data)
#--- expected
view_size.py:10:12: error: `frag` reaches bytes 0 to 31 of `regs`, which has 16 in each thread [BadBuffer]
        frag = regs.view(32, 16, layout=TileLayout(S[(32, 16) : (1 @ laneid, 1)]))
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
view_size.py:9:12: note: declared here
        regs = T.alloc_local((8,), "float16")
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
view_size.py:11:12: error: `part` reaches bytes 8 to 23 of `regs`, which has 16 in each thread [BadBuffer]
        part = T.decl_buffer((8,), "float16", data=regs.data, elem_offset=4, scope="local")
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
view_size.py:9:12: note: declared here
        regs = T.alloc_local((8,), "float16")
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
view_size.py:13:13: error: `twice` reaches bytes 0 to 127 of `A`, which has 64 [BadBuffer]
        twice = T.decl_buffer((32,), "float32", data=A.data)
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
view_size.py:6:12: note: declared here
    def kernel(A: T.Buffer((16,), "float32")):
               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== views
from tvm.tirx.layout import S, R, TileLayout, laneid, warpid, tid_in_wg, TLane, TCol

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 6), "float16")
    a0 = r.view(5, -1)
    a1 = r.view(-1, -1)
    a2 = r.view(4, 4)
    a3 = r.view("float64")
    a4 = r.view(4, 6, layot=None)
    a5 = r.view(4, 8, layout=TileLayout(S[(4, 6) : (6, 1)]))
    a6 = r.view(0)
#--- expected
views.py:9:10: error: 24 elements, no multiple of the 5 that the other extents take [Indivisible]
        a0 = r.view(5, -1)
             ^~~~~~~~~~~~~
views.py:10:10: error: 2 extents of -1, expected one at most [BadExtent]
        a1 = r.view(-1, -1)
             ^~~~~~~~~~~~~~
views.py:11:10: error: a view of 16 elements over `r`, which has 24 [NotAdmitted]
        a2 = r.view(4, 4)
             ^~~~~~~~~~~~
views.py:8:9: note: declared here
        r = T.alloc_local((4, 6), "float16")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
views.py:12:10: error: a view of `r` as `float64`: 6 elements in the last dimension are not a multiple of 4 [Indivisible]
        a3 = r.view("float64")
             ^~~~~~~~~~~~~~~~~
views.py:13:29: error: `view` has no parameter `layot` [BadArgument]
        a4 = r.view(4, 6, layot=None)
                                ^~~~
views.py:14:10: error: a layout of 24 elements for a view of 32 [NotAdmitted]
        a5 = r.view(4, 8, layout=TileLayout(S[(4, 6) : (6, 1)]))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
views.py:15:10: error: an extent of 0, expected 1 or more [BadExtent]
        a6 = r.view(0)
             ^~~~~~~~~
#=== vload
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = A.vload([0, 0], "float16x4")
    A.vstore([0, 15], A.vload([0, 0], "float32x2"))
    y = A.vload([0, 14], "float32x4")
#--- expected
vload.py:6:25: error: `vload` as `float16x4` from `A` of `float32` [BadType]
        x = A.vload([0, 0], "float16x4")
                            ^~~~~~~~~~~
  note: use `.view(dtype)` to read other elements
vload.py:7:14: error: index 16 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        A.vstore([0, 15], A.vload([0, 0], "float32x2"))
                 ^~~~~~~
vload.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
vload.py:8:17: error: index 17 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        y = A.vload([0, 14], "float32x4")
                    ^~~~~~~
vload.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
